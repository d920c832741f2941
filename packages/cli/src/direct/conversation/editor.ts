/**
 * The line a person is writing, and what each key does to it. Pure. It may have several lines: Alt-Enter adds one,
 * and a paste keeps its own. The cursor is between graphemes, never inside one.
 */

import { graphemesOf } from "./columns.ts"
import { plainText } from "./plain-text.ts"

/** As Node's key decoder reports it. */
export interface Key {
  readonly name?: string | undefined
  readonly sequence: string
  readonly ctrl: boolean
  readonly meta: boolean
}

export interface Editor {
  readonly text: string
  readonly cursor: number
  /** Earlier inputs, oldest first. */
  readonly history: readonly string[]
  /** The index of the one that is shown. The draft it replaced is in `draft`. */
  readonly shown?: number | undefined
  readonly draft: string
  /** Ctrl-R searches earlier inputs for this, backwards from the one that is shown. */
  readonly sought?: string | undefined
  /** The text of a paste so far, between its beginning and its end. */
  readonly pasted?: string | undefined
}

export type Edit =
  | { readonly tag: "edited"; readonly editor: Editor }
  | { readonly tag: "submitted"; readonly editor: Editor; readonly text: string }
  /** Keys the editor ignores: Ctrl-C, Ctrl-D on an empty line, Escape, Tab. */
  | { readonly tag: "unused" }

export const EMPTY_EDITOR: Editor = { text: "", cursor: 0, history: [], draft: "" }

export const MOST_CHARACTERS = 1_000_000
const MOST_HISTORY = 500

export const editLine = (given: Editor, key: Key): Edit => {
  const isSearch = key.ctrl && key.name === "r"
  if (isSearch && given.pasted === undefined) return search(given)
  // Any other key ends a search at the input it found.
  const { sought: _, ...editor } = given
  if (editor.pasted !== undefined) return paste(editor, editor.pasted, key)
  if (key.name === "paste-start") return edited({ ...editor, pasted: "" })
  if (isEnter(key)) return key.meta ? insert(editor, "\n") : submit(editor)
  const move = (key.ctrl ? CONTROL : key.meta ? META : NAMED)[key.name ?? ""]
  if (move !== undefined) return move(editor)
  const isText = !key.ctrl && !key.meta && key.sequence !== "" && !CONTROL_CHARACTER.test(key.sequence)
  return isText ? insert(editor, key.sequence) : { tag: "unused" }
}

/** Inserts at the cursor, as far as there is room. */
export const insertText = (editor: Editor, text: string): Editor => {
  const room = MOST_CHARACTERS - editor.text.length
  const fitting = text.slice(0, Math.max(0, room))
  return {
    ...editor,
    text: editor.text.slice(0, editor.cursor) + fitting + editor.text.slice(editor.cursor),
    cursor: editor.cursor + fitting.length,
  }
}

/** Empties the line and keeps the history. */
export const clear = (editor: Editor): Editor => ({ ...EMPTY_EDITOR, history: editor.history })

const edited = (editor: Editor): Edit => ({ tag: "edited", editor })

const UNUSED: Edit = { tag: "unused" }

// oxlint-disable-next-line eslint/no-control-regex -- what a key that writes nothing begins with
const CONTROL_CHARACTER = /^[\u0000-\u001F\u007F]/

const isEnter = (key: Key): boolean => key.name === "return" || key.name === "enter"

const paste = (editor: Editor, pasted: string, key: Key): Edit => {
  if (key.name === "paste-end") return insert({ ...editor, pasted: undefined }, plainText(pasted))
  return edited(pasted.length >= MOST_CHARACTERS ? editor : { ...editor, pasted: pasted + key.sequence })
}

const insert = (editor: Editor, text: string): Edit => edited(insertText(editor, text))

const submit = (editor: Editor): Edit => {
  const { text } = editor
  if (text.trim() === "") return edited(clear(editor))
  const history = editor.history.at(-1) === text ? editor.history : [...editor.history, text]
  return { tag: "submitted", text, editor: { ...EMPTY_EDITOR, history: history.slice(-MOST_HISTORY) } }
}

/** The newest earlier input, before the one that is shown, that contains the searched text. */
const search = (editor: Editor): Edit => {
  const sought = editor.sought ?? editor.text
  const index = editor.history
    .slice(0, editor.shown ?? editor.history.length)
    .findLastIndex((text) => text.toLowerCase().includes(sought.toLowerCase()))
  const found = recall(editor, index)
  return found.tag === "edited" ? edited({ ...found.editor, sought }) : found
}

const to = (editor: Editor, cursor: number): Edit => edited({ ...editor, cursor })

const remove = (editor: Editor, from: number, through: number): Edit =>
  edited({ ...editor, text: editor.text.slice(0, from) + editor.text.slice(through), cursor: from })

const previous = ({ text, cursor }: Editor): number =>
  cursor - (graphemesOf(text.slice(0, cursor)).at(-1)?.length ?? 0)

const next = ({ text, cursor }: Editor): number => cursor + (graphemesOf(text.slice(cursor))[0]?.length ?? 0)

const lineStart = ({ text, cursor }: Editor): number => text.lastIndexOf("\n", cursor - 1) + 1

const lineEnd = ({ text, cursor }: Editor): number => {
  const end = text.indexOf("\n", cursor)
  return end === -1 ? text.length : end
}

const wordStart = ({ text, cursor }: Editor): number =>
  cursor - (/\S*\s*$/u.exec(text.slice(0, cursor))?.[0].length ?? 0)

const wordEnd = ({ text, cursor }: Editor): number =>
  cursor + (/^\s*\S*/u.exec(text.slice(cursor))?.[0].length ?? 0)

/** Up and down first move inside several lines, then through earlier inputs. */
const up = (editor: Editor): Edit => {
  const start = lineStart(editor)
  if (start > 0) {
    const above = editor.text.lastIndexOf("\n", start - 2) + 1
    return to(editor, Math.min(above + editor.cursor - start, start - 1))
  }
  return recall(editor, (editor.shown ?? editor.history.length) - 1)
}

const down = (editor: Editor): Edit => {
  const end = lineEnd(editor)
  if (end < editor.text.length) {
    const column = editor.cursor - lineStart(editor)
    const below = { ...editor, cursor: end + 1 }
    return to(editor, Math.min(end + 1 + column, lineEnd(below)))
  }
  return editor.shown === undefined ? UNUSED : recall(editor, editor.shown + 1)
}

const recall = (editor: Editor, index: number): Edit => {
  if (index < 0 || index > editor.history.length) return UNUSED
  const draft = editor.shown === undefined ? editor.text : editor.draft
  const shown = editor.history[index]
  const now = shown ?? draft
  return edited({
    ...editor,
    text: now,
    cursor: now.length,
    draft,
    shown: shown === undefined ? undefined : index,
  })
}

type Move = (editor: Editor) => Edit

const NAMED: Readonly<Record<string, Move>> = {
  left: (editor) => to(editor, previous(editor)),
  right: (editor) => to(editor, next(editor)),
  home: (editor) => to(editor, lineStart(editor)),
  end: (editor) => to(editor, lineEnd(editor)),
  backspace: (editor) => remove(editor, previous(editor), editor.cursor),
  delete: (editor) => remove(editor, editor.cursor, next(editor)),
  up,
  down,
}

const CONTROL: Readonly<Record<string, Move>> = {
  a: (editor) => to(editor, lineStart(editor)),
  e: (editor) => to(editor, lineEnd(editor)),
  b: (editor) => to(editor, previous(editor)),
  f: (editor) => to(editor, next(editor)),
  h: (editor) => remove(editor, previous(editor), editor.cursor),
  d: (editor) => (editor.text === "" ? UNUSED : remove(editor, editor.cursor, next(editor))),
  k: (editor) => remove(editor, editor.cursor, lineEnd(editor)),
  u: (editor) => remove(editor, lineStart(editor), editor.cursor),
  w: (editor) => remove(editor, wordStart(editor), editor.cursor),
  p: up,
  n: down,
  left: (editor) => to(editor, wordStart(editor)),
  right: (editor) => to(editor, wordEnd(editor)),
}

const META: Readonly<Record<string, Move>> = {
  b: (editor) => to(editor, wordStart(editor)),
  f: (editor) => to(editor, wordEnd(editor)),
  d: (editor) => remove(editor, editor.cursor, wordEnd(editor)),
  backspace: (editor) => remove(editor, wordStart(editor), editor.cursor),
}
