/** `todo`: the session's todo list, read and replaced as a whole. */
import { alsoNamed, described, listOf, objectOf, oneOf, text, type TodoItem } from "@meridian/protocol"

import { toolInput } from "../port/tool-input.ts"
import type { BuiltinTool, Tool } from "../port/tool.ts"
import { TOOL_LIMITS } from "./limits.ts"

export const TODO_STATUSES = ["pending", "in_progress", "completed", "cancelled"] as const
type TodoStatus = (typeof TODO_STATUSES)[number]

const ITEM = objectOf(
  {
    content: described(
      text({
        most: TOOL_LIMITS.todoCharacters,
        pattern: /\S/,
        like: `text of 1 to ${TOOL_LIMITS.todoCharacters} characters`,
      }),
      "What is to be done",
    ),
  },
  { status: oneOf(...TODO_STATUSES) },
)

const INPUT = toolInput(
  objectOf(
    {},
    {
      todos: alsoNamed(
        described(listOf(ITEM, TOOL_LIMITS.todoItems), "The whole new list; leave it out to read the list"),
        "items",
      ),
    },
  ),
)

export const todoTool = (): Tool => ({
  advertisement: {
    name: "todo",
    description:
      `Reads the session's list of work, or replaces it when \`todos\` is given. At most ${TOOL_LIMITS.todoItems} items, each ` +
      `${TODO_STATUSES.join(", ")}. Keep exactly one item in_progress and mark it completed as soon as it is.`,
    input: INPUT.schema,
  },
  execute: async (raw, scene) => {
    const todos = INPUT.decode(raw).todos?.map(({ content, status = "pending" }): TodoItem => ({
      content,
      status,
    }))
    await scene.ask({
      action: "todo",
      resources: ["*"],
      title: todos === undefined ? "Read the list of work" : "Replace the list of work",
    })
    if (todos !== undefined) await scene.todo.replace(todos)
    const list = todos ?? (await scene.todo.read())
    return {
      content: [{ type: "text", text: list.length === 0 ? "The list is empty." : list.map(line).join("\n") }],
      structured: { todos: list.map(({ content, status }) => ({ content, status })) },
    }
  },
})

export const TODO: BuiltinTool<unknown> = {
  name: "todo",
  traits: { kind: "think", keepsResults: true, changes: "none", looking: { at: "session" } },
  open: todoTool,
}

const BOX = {
  pending: "[ ]",
  in_progress: "[>]",
  completed: "[x]",
  cancelled: "[-]",
} as const satisfies Record<TodoStatus, string>
const line = ({ content, status }: TodoItem): string => `${BOX[status]} ${content}`
