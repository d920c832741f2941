/** What a person typed: words for the model, or a command to the conversation. Pure. */
import { oneLine } from "@meridian/protocol"

import type { UndoWish } from "./undo-command.ts"

export type Typed =
  | { readonly tag: "say"; readonly text: string }
  | { readonly tag: "queue"; readonly text: string }
  | { readonly tag: "compact" }
  | { readonly tag: "model"; readonly name: string | undefined }
  | { readonly tag: "agent"; readonly name: string | undefined }
  | { readonly tag: "new" }
  | { readonly tag: "undo"; readonly wish: UndoWish }
  | { readonly tag: "redo" }
  /** Without a choice it lists the sessions. */
  | { readonly tag: "sessions"; readonly choice: string | undefined }
  | { readonly tag: "help" }
  | { readonly tag: "leave" }
  /** `template`: correct if a command template has this name. */
  | { readonly tag: "wrong"; readonly problem: string; readonly template?: string }

/** Name, arguments and effect, as `/help` shows them. */
export const SLASH_COMMANDS: readonly (readonly [name: string, rest: string, says: string])[] = [
  ["/model", "[NAME]", "show the models that can be used, or change to one"],
  ["/agent", "[NAME]", "show the agents, or change to one"],
  ["/compact", "", "make room: older turns become a summary"],
  ["/queue", "TEXT", "send TEXT when the current work is done"],
  [
    "/undo",
    "[N]",
    "take back the last N prompts with all they led to; add files or conversation for one alone",
  ],
  ["/redo", "", "bring back what /undo took back"],
  ["/new", "", "begin another conversation"],
  ["/sessions", "[NUMBER]", "show the conversations of this project, or go to one"],
  ["/help", "", "show this"],
  ["/exit", "", "leave; the conversation can be continued"],
]

const readUndo = (words: string): Typed => {
  const [, count, what] = /^(\d{1,6})?\s*(files|conversation)?$/.exec(words) ?? []
  if (words !== "" && count === undefined && what === undefined)
    return {
      tag: "wrong",
      problem: "It is /undo, /undo 2, /undo files, /undo conversation, or /undo 2 files.",
    }
  if (count === "0") return { tag: "wrong", problem: "At least one prompt must be taken back." }
  return {
    tag: "undo",
    wish: { count: Number(count ?? 1), conversation: what !== "files", files: what !== "conversation" },
  }
}

/** A leading slash makes a command. A space before it makes it text again. */
export const readTyped = (text: string): Typed => {
  if (!text.startsWith("/")) return { tag: "say", text }
  const [, name = "", rest = ""] = /^(\/\S*)\s*([\s\S]*)$/u.exec(text) ?? []
  const argument = rest.trim() === "" ? undefined : rest.trim()
  switch (name.toLowerCase()) {
    case "/model":
      return { tag: "model", name: argument }
    case "/agent":
      return { tag: "agent", name: argument }
    case "/compact":
      return { tag: "compact" }
    case "/queue":
      return argument === undefined
        ? { tag: "wrong", problem: "Nothing to queue. Write it after the command: /queue TEXT" }
        : { tag: "queue", text: argument }
    case "/undo":
      return readUndo(argument ?? "")
    case "/redo":
      return { tag: "redo" }
    case "/new":
      return { tag: "new" }
    case "/sessions":
      return { tag: "sessions", choice: argument }
    case "/help":
    case "/?":
      return { tag: "help" }
    case "/exit":
    case "/quit":
      return { tag: "leave" }
    default:
      return {
        tag: "wrong",
        template: name.slice(1),
        problem: `There is no command ${name}, and nothing was sent. /help shows them; a space before the slash sends it as text.`,
      }
  }
}

/** A command template, as `/help` shows it. */
export const templateRow = ({
  name,
  description,
}: {
  readonly name: string
  readonly description: string
}): string => `${oneLine(`/${name}`, 40).padEnd(16)} ${oneLine(description, 200)}`
