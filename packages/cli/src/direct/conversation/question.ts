/** A permission question as rows, and what an answer key means. Pure. */
import { oneLine, type PermissionReply } from "@meridian/protocol"

import { callContent, isUnnamed } from "./call-content.ts"
import { cutTo, wrapLine, wrapText } from "./columns.ts"
import { several } from "./describe.ts"
import { plainText } from "./plain-text.ts"
import { usable, type Size } from "./screen.ts"
import type { Style } from "./style.ts"
import type { Question } from "./view.ts"

export type Answer =
  | { readonly tag: "reply"; readonly reply: PermissionReply }
  /** Rejects, once the reason is written. */
  | { readonly tag: "explain" }
  /** Answers nothing yet: the whole call goes to the scrollback. */
  | { readonly tag: "show" }

const ANSWERS = "[y] once  [a] always  [n] no  [f] no, and say why  [v] view all"

const EDIT_ANSWERS =
  "[y] once  [a] this file  [s] all edits of this session  [n] no  [f] no, and say why  [v] view all"

export const answersTo = (action: string): string => (isEdit(action) ? EDIT_ANSWERS : ANSWERS)

/** Used if the others would take more than two rows. */
const SHORT_ANSWERS: Readonly<Record<string, string>> = {
  [ANSWERS]: "y/a/n/f, v views",
  [EDIT_ANSWERS]: "y/a/s/n/f, v views",
}

const isEdit = (action: string): boolean => action === "edit"

export const answerOf = (character: string, action: string): Answer | undefined => {
  switch (character.toLowerCase()) {
    case "y":
      return { tag: "reply", reply: "once" }
    case "a":
      return { tag: "reply", reply: "always" }
    case "s":
      return isEdit(action) ? { tag: "reply", reply: "session" } : undefined
    case "n":
      return { tag: "reply", reply: "reject" }
    case "f":
      return { tag: "explain" }
    case "v":
      return { tag: "show" }
    default:
      return undefined
  }
}

/** Shows everything that will be touched, up to half the screen, and says what was cut. The answers always fit. */
export const questionRows = (
  question: Question,
  { size, style, hint }: { readonly size: Size; readonly style: Style; readonly hint: string },
): readonly string[] => {
  const width = usable(size)
  const most = Math.max(1, Math.floor(size.rows / 2) - 3)
  const unnamed = isUnnamed(question.resources)
  const resources = unnamed ? [] : wrapText(plainText(question.resources.join("\n")), width - 2)
  const content = callContent(question.resources, question.input).flatMap((line) => wrapLine(line, width - 4))
  const all = [...resources.map((row) => `  ${row}`), ...content.map((row) => `    ${row}`)]
  const shown = all.slice(0, most)
  const cut = all.length - shown.length
  const title = oneLine(question.title)
  const broader = unnamed ? `every call of ${oneLine(question.action)}` : broaderThan(question)
  const isNew = title !== "" && !resources.join(" ").includes(title)
  return [
    style.notice(cutTo(`Allow ${oneLine(question.action)}?${isNew ? ` ${title}` : ""}`, width)),
    ...shown,
    broader === ""
      ? style.dim(
          cutTo(
            isEdit(question.action)
              ? "  this file: whatever is written to it, in this project"
              : "  always: exactly this, in this project",
            width,
          ),
        )
      : style.notice(cutTo(`  always would allow in this project: ${broader}`, width)),
    ...(cut === 0
      ? []
      : [
          style.notice(
            cutTo(
              `  … and ${several(cut, "row")} more that ${cut === 1 ? "does" : "do"} not fit here`,
              width,
            ),
          ),
        ]),
    ...hintRows(hint, width),
  ]
}

/** What "always" would allow beyond the request; "" if it is the same. */
const broaderThan = ({ always, resources }: Question): string => {
  // A backslash in a pattern escapes the character after it.
  const patterns = always.map((pattern) => pattern.replaceAll(/\\([*?\\])/g, "$1"))
  return patterns.join("\n") === resources.join("\n") ? "" : oneLine(patterns.join(", "))
}

const hintRows = (hint: string, width: number): readonly string[] => {
  const rows = wrapText(hint, width)
  const short = SHORT_ANSWERS[hint]
  return short !== undefined && rows.length > 2 ? wrapText(short, width) : rows
}
