/** What a call that is asked about would do, as lines a person can judge: the command, the text, the change. Pure. */
import type { Json } from "@meridian/protocol"

import { several, textAt } from "./describe.ts"
import { plainText } from "./plain-text.ts"

const MOST_CHARACTERS = 200_000

/** What its resources do not say already; nothing where there is no more to it. */
export const callContent = (input: Json | undefined): readonly string[] => {
  const first = (...names: readonly string[]): string | undefined =>
    names.map((name) => textAt(input, name)).find((text) => text !== undefined)
  const before = first("oldString", "old_string", "oldText")
  const after = first("newString", "new_string", "newText")
  if (before !== undefined || after !== undefined) return [...marked("- ", before), ...marked("+ ", after)]
  const patch = first("patchText", "patch", "patch_text")
  return patch === undefined ? marked("+ ", first("content", "contents")) : marked("", patch)
}

/** All of it, for the scrollback. */
export const wholeCall = (resources: readonly string[], input: Json | undefined): readonly string[] => [
  ...marked("", resources.join("\n")),
  ...callContent(input),
]

const marked = (mark: string, text: string | undefined): readonly string[] => {
  if (text === undefined) return []
  const cut = text.length - MOST_CHARACTERS
  const lines = plainText(text.slice(0, MOST_CHARACTERS)).replace(/\n$/, "").split("\n")
  return [
    ...lines.map((line) => mark + line),
    ...(cut > 0 ? [`… and ${several(cut, "character")} more`] : []),
  ]
}
