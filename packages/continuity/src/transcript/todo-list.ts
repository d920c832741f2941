/** Todo lists that harnesses keep with a tool: Claude Code and OpenCode write todos, Codex a plan. */
import { textAt, wordAt, type JsonObject, type TodoItem } from "@meridian/protocol"

import { cutText } from "./content.ts"
import { objectsIn } from "./conversation.ts"
import type { Piece } from "./piece.ts"

const MOST_ITEMS = 200
const MOST_CHARACTERS = 1_000

const STATUS: Readonly<Record<string, TodoItem["status"]>> = {
  pending: "pending",
  in_progress: "in_progress",
  completed: "completed",
  cancelled: "cancelled",
}

/** The todo list after a call; empty for any other call. */
export const todoList = (
  tool: string,
  input: JsonObject | undefined,
  time: { readonly time?: number },
): readonly Piece[] => {
  const isPlan = tool === "update_plan"
  if (!isPlan && !/^todo_?write$/i.test(tool)) return []
  const items = objectsIn(input?.[isPlan ? "plan" : "todos"]).flatMap((entry): readonly TodoItem[] => {
    const content = textAt(entry, isPlan ? "step" : "content")
    const status = STATUS[wordAt(entry, "status")]
    return content === undefined || status === undefined
      ? []
      : [{ content: cutText(content, MOST_CHARACTERS), status }]
  })
  return items.length === 0 ? [] : [{ kind: "todo", ...time, items: items.slice(0, MOST_ITEMS) }]
}
