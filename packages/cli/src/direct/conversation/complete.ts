/** What Tab does to the line being written: completes commands after `/`, their arguments, and files after `@`. Pure. */
import type { Editor } from "./editor.ts"

export interface Choices {
  readonly commands: readonly string[]
  /** For `/model ` and `/agent `. */
  readonly models: readonly string[]
  readonly agents: readonly string[]
  /** Paths that begin with the text, as they are written after `@`. Folders end with a slash. */
  readonly files: (begun: string) => readonly string[]
}

export interface Completion {
  readonly editor: Editor
  /** Shown if more than one would fit. */
  readonly shown: readonly string[]
}

/** Undefined if there is nothing to complete. */
export const completeLine = (editor: Editor, choices: Choices): Completion | undefined => {
  const before = editor.text.slice(0, editor.cursor)
  const word = wordAt(before, choices)
  if (word === undefined) return undefined
  const fitting = word.candidates.filter((candidate) => candidate.startsWith(word.begun))
  const [only] = fitting
  if (only === undefined) return undefined
  const common = fitting.length === 1 ? only : commonStart(fitting)
  // A folder can go on; everything else is finished by a space.
  const ending = fitting.length === 1 && !only.endsWith("/") ? " " : ""
  const added = common.slice(word.begun.length) + ending
  return {
    editor: {
      ...editor,
      text: before + added + editor.text.slice(editor.cursor),
      cursor: editor.cursor + added.length,
    },
    shown: fitting.length === 1 ? [] : fitting,
  }
}

const wordAt = (
  before: string,
  { commands, models, agents, files }: Choices,
): { readonly begun: string; readonly candidates: readonly string[] } | undefined => {
  const argument = /^\/(model|agent)\s+(\S*)$/u.exec(before)
  if (argument !== null)
    return { begun: argument[2] ?? "", candidates: argument[1] === "model" ? models : agents }
  if (/^\/\S*$/u.test(before)) return { begun: before, candidates: commands }
  const mention = /(?:^|\s)@(\S*)$/u.exec(before)
  if (mention === null) return undefined
  const begun = mention[1] ?? ""
  return { begun, candidates: files(begun) }
}

const commonStart = (texts: readonly string[]): string => {
  const [first = "", ...rest] = texts
  let length = first.length
  for (const text of rest) while (!text.startsWith(first.slice(0, length))) length -= 1
  return first.slice(0, length)
}
