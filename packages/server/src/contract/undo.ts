/** The documents of changed files, undo and redo. */
import {
  anyOf,
  BOOLEAN,
  COUNT,
  described,
  integer,
  listOf,
  named,
  objectOf,
  oneOf,
  STRING,
} from "@meridian/protocol"

const CHANGED_FILE = objectOf({
  path: described(STRING, "Relative to the top of the checkout, or to the place when there is no checkout."),
  change: oneOf("added", "changed", "removed"),
})
const PROMPT_FIELDS = { id: STRING, text: STRING }

export const UNDONE = named(
  "Undone",
  objectOf({
    undoID: STRING,
    prompts: described(listOf(objectOf(PROMPT_FIELDS)), "The undone or redone prompts."),
    conversation: BOOLEAN,
    files: listOf(CHANGED_FILE),
    left: described(
      listOf(STRING),
      "Files that somebody changed at the same moment. They are left unchanged.",
    ),
    missed: described(
      listOf(STRING),
      "Why the files of some turns were left unchanged: they could not be kept.",
    ),
  }),
)

export const CHANGED_FILES = named(
  "ChangedFiles",
  objectOf(
    {
      prompt: objectOf({ ...PROMPT_FIELDS, number: COUNT }),
      files: listOf(CHANGED_FILE),
      missed: listOf(STRING),
      skipped: described(listOf(STRING), "Files that were too large to keep, or unreadable."),
    },
    { diff: STRING },
  ),
)

export const OVERWRITE = described(
  BOOLEAN,
  "Overwrites files that others have changed since. Without it these are refused with FILES_CHANGED.",
)

export const UNDO_FIELDS = {
  count: described(integer(1, 1_000_000_000), "How many prompts, with all of their work. Default: 1."),
  conversation: described(BOOLEAN, "False: the conversation stays."),
  files: described(BOOLEAN, "False: files stay."),
  overwrite: OVERWRITE,
} as const

export const AT_PROMPT = described(
  anyOf(STRING, integer(1, 1_000_000_000)),
  "The number of a prompt, from 1, or the id of its message.",
)

export const DIFF_FORM = described(
  oneOf("patch", "stat", "names"),
  "Adds the difference as `git diff` prints it.",
)
