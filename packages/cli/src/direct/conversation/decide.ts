/** What a key or an interrupt means in the current situation. Pure: the conversation carries it out. */
import type { PermissionReply } from "@meridian/protocol"

import { clear, editLine, type Editor, type Key } from "./editor.ts"
import { answerOf } from "./question.ts"

export interface Situation {
  readonly editor: Editor
  /** The oldest open question. */
  readonly question: { readonly id: string; readonly action: string } | undefined
  /** The question whose refusal is being explained. */
  readonly explaining: string | undefined
  readonly working: boolean
  /** The work was told to stop but has not stopped yet. */
  readonly stopping: boolean
  /** The last key was a Ctrl-C that did something else, so the next one leaves. */
  readonly armed: boolean
}

export type Deed =
  | { readonly tag: "nothing" }
  | { readonly tag: "redraw" }
  | { readonly tag: "edited"; readonly editor: Editor }
  | { readonly tag: "submit"; readonly text: string; readonly editor: Editor }
  | {
      readonly tag: "answer"
      readonly requestID: string
      readonly reply: PermissionReply
      readonly message?: string
    }
  | { readonly tag: "explain"; readonly requestID: string }
  | { readonly tag: "stop-explaining" }
  /** Shows the whole call of the open question. */
  | { readonly tag: "show" }
  | { readonly tag: "stop-work" }
  /** There is nothing to stop or to clear: says that the next Ctrl-C leaves. */
  | { readonly tag: "warn" }
  /** Tab. */
  | { readonly tag: "complete" }
  /** Ctrl-V, or a paste without text: it means the image in the clipboard. */
  | { readonly tag: "paste-image"; readonly editor: Editor }
  | { readonly tag: "suspend" }
  | { readonly tag: "leave" }

const NOTHING: Deed = { tag: "nothing" }

export const decideKey = (now: Situation, key: Key): Deed => {
  const { editor } = now
  const isInterrupt = key.ctrl && key.name === "c"
  if (editor.pasted !== undefined) {
    // A paste whose end never comes must not hang the terminal.
    if (isInterrupt) return { tag: "edited", editor: { ...editor, pasted: undefined } }
    if (editor.pasted === "" && key.name === "paste-end" && now.explaining === undefined)
      return { tag: "paste-image", editor: { ...editor, pasted: undefined } }
    return decideEdit(now, key)
  }
  if (isInterrupt) return decideInterrupt(now)
  if (now.explaining !== undefined && key.name === "escape") return { tag: "stop-explaining" }
  if (key.ctrl && key.name === "d" && editor.text === "") return { tag: "leave" }
  if (key.ctrl && key.name === "l") return { tag: "redraw" }
  if (key.ctrl && key.name === "z") return { tag: "suspend" }
  if (key.ctrl && key.name === "v" && now.explaining === undefined) return { tag: "paste-image", editor }
  if (key.name === "tab" && now.explaining === undefined) return { tag: "complete" }
  // A draft precedes the answer, so all of it goes, not only the line with the cursor.
  if (now.question !== undefined && key.ctrl && key.name === "u")
    return { tag: "edited", editor: clear(editor) }
  // Text being written is not taken for an answer.
  const answers = now.explaining === undefined && editor.text === "" && !key.ctrl && !key.meta
  return (answers ? decideAnswer(now, key.sequence) : undefined) ?? decideEdit(now, key)
}

export const decideInterrupt = ({ editor, explaining, working, stopping, armed }: Situation): Deed => {
  if (explaining !== undefined) return { tag: "stop-explaining" }
  if (working && !stopping) return { tag: "stop-work" }
  if (!working && editor.text !== "") return { tag: "edited", editor: clear(editor) }
  return stopping || armed ? { tag: "leave" } : { tag: "warn" }
}

/** Whether the next Ctrl-C leaves, after this key. */
export const isArmedBy = (key: Pick<Key, "ctrl" | "name">): boolean => key.ctrl && key.name === "c"

const decideAnswer = ({ question }: Situation, character: string): Deed | undefined => {
  const answer = question === undefined ? undefined : answerOf(character, question.action)
  if (question === undefined || answer === undefined) return undefined
  if (answer.tag === "show") return answer
  return answer.tag === "explain"
    ? { tag: "explain", requestID: question.id }
    : { tag: "answer", requestID: question.id, reply: answer.reply }
}

const decideEdit = (now: Situation, key: Key): Deed => {
  const isEnter = key.name === "return" || key.name === "enter"
  // A refusal without words is complete.
  if (now.explaining !== undefined && isEnter && now.editor.text.trim() === "")
    return refuse(now.explaining, "")
  const edit = editLine(now.editor, key)
  switch (edit.tag) {
    case "unused":
      return NOTHING
    case "edited":
      // Drawn when it is whole.
      return { tag: "edited", editor: edit.editor }
    case "submitted":
      return now.explaining === undefined
        ? { tag: "submit", text: edit.text, editor: edit.editor }
        : refuse(now.explaining, edit.text)
  }
}

const refuse = (requestID: string, words: string): Deed => ({
  tag: "answer",
  requestID,
  reply: "reject",
  ...(words.trim() === "" ? {} : { message: words }),
})
