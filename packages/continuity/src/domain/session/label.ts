/**
 * Labels that mark the fields of a session log: `Open Work: …`, `**Open Work:** …`, `- *Open Work* — …`, a heading `## Open
 * Work`, or a bold line alone. Letter case does not matter.
 */
export type Field =
  | "focus"
  | "objective"
  | "open-work"
  | "next-action"
  | "pending-tests"
  | "blockers"
  | "completed"
  | "decisions"
  | "open-questions"
  | "stage"

const LABELS: readonly (readonly [field: Field, ...labels: readonly string[]])[] = [
  ["focus", "focus", "focus area", "current focus"],
  ["objective", "objective", "primary objective", "goal"],
  [
    "open-work",
    "open work",
    "open item",
    "open items",
    "remaining",
    "remaining work",
    "in progress",
    "todo",
    "to do",
  ],
  ["next-action", "next action", "next actions", "next step", "next steps"],
  ["pending-tests", "pending tests", "pending test", "tests pending"],
  [
    "blockers",
    "blockers",
    "blocker",
    "blocked",
    "blocked by",
    "blockers / risks",
    "blockers/risks",
    "blockers and risks",
  ],
  ["completed", "completed", "completed work", "done"],
  ["decisions", "decisions", "decision", "decisions made", "key decisions"],
  [
    "open-questions",
    "open questions",
    "open question",
    "pending decisions",
    "pending decision",
    "decision needed",
  ],
  [
    "stage",
    "stage",
    "current stage",
    "active stage",
    "workflow stage",
    "canonical stage",
    "canonical workflow stage",
  ],
]

const FIELD_OF: ReadonlyMap<string, Field> = new Map(
  LABELS.flatMap(([field, ...labels]) => labels.map((label) => [label, field] as const)),
)

const MAX_LABEL_LENGTH = 40

export interface Labelled {
  readonly field: Field
  /** As it was written, without emphasis: "Blockers". */
  readonly label: string
  readonly value: string
}

/** `Name: value`, `**Name:** value`, `Name — value`. The value may be empty. */
export const readLabel = (text: string): Labelled | undefined => {
  const head = text.slice(0, MAX_LABEL_LENGTH)
  const plain = head.replace(/[*_]/g, "")
  const match = /^([A-Za-z][A-Za-z /]*?)\s?(?:[:：]| [—–-](?= ))/.exec(plain)
  if (match === null) return undefined
  const label = match[1] ?? ""
  const field = FIELD_OF.get(label.toLowerCase())
  if (field === undefined) return undefined
  return { field, label, value: afterSigns(text, match[0]) }
}

/** A heading or bold line that consists only of a label. */
export const readLabelAlone = (text: string): Labelled | undefined => {
  // A note in brackets after it ("Decisions (as of 2026-04-01)") does not belong to the label.
  const [plain = ""] = text
    .slice(0, 2 * MAX_LABEL_LENGTH)
    .replace(/[*_]/g, "")
    .split(" (", 1)
  const label = plain
    .trim()
    .replace(/[:：]$/, "")
    .trim()
  const field = FIELD_OF.get(label.toLowerCase())
  return field === undefined ? undefined : { field, label, value: "" }
}

/** The text after the label, without its emphasis characters. */
const afterSigns = (text: string, label: string): string => {
  let index = 0
  let matched = 0
  while (matched < label.length && index < text.length) {
    if (text[index] === label[matched]) matched += 1
    index += 1
  }
  let rest = text.slice(index)
  if (rest.startsWith("**") || rest.startsWith("__")) rest = rest.slice(2)
  else if (/^[*_]\s/.test(rest)) rest = rest.slice(1)
  return rest.trim()
}
