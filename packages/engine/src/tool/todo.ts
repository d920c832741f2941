/** `todo`: the session's list of work, read and replaced as a whole. */
import type { Json, TodoItem } from "@meridian/protocol"

import type { Tool } from "../port/tool.ts"
import { inputShape, invalid, isJsonObject, kindOf, optional, type Field } from "./input-shape.ts"
import { TOOL_LIMITS } from "./limits.ts"

export const TODO_STATUSES = ["pending", "in_progress", "completed", "cancelled"] as const
type TodoStatus = (typeof TODO_STATUSES)[number]

const decodeItem = (value: Json, at: number): TodoItem => {
  const where = `\`todos\` item ${at + 1}`
  if (!isJsonObject(value)) throw invalid(`${where} must be an object, not ${kindOf(value)}.`)
  const content = value["content"]
  if (typeof content !== "string" || content.trim() === "") throw invalid(`${where} needs a \`content\`.`)
  if (content.length > TOOL_LIMITS.todoCharacters)
    throw invalid(`${where} is longer than ${TOOL_LIMITS.todoCharacters} characters.`)
  const status = TODO_STATUSES.find((known) => known === (value["status"] ?? "pending"))
  if (status === undefined) throw invalid(`${where} has a \`status\` other than ${TODO_STATUSES.join(", ")}.`)
  return { content, status }
}

const items: Field<readonly TodoItem[]> = {
  schema: {
    type: "array",
    description: "The whole new list; leave it out to read the list",
    maxItems: TOOL_LIMITS.todoItems,
    items: {
      type: "object",
      properties: {
        content: { type: "string", description: "What is to be done" },
        status: { type: "string", enum: [...TODO_STATUSES] },
      },
      required: ["content", "status"],
    },
  },
  required: true,
  otherNames: ["items"],
  decode: (value, name) => {
    if (!Array.isArray(value)) throw invalid(`\`${name}\` must be a list, not ${kindOf(value)}.`)
    if (value.length > TOOL_LIMITS.todoItems)
      throw invalid(`\`${name}\` has ${value.length} items; at most ${TOOL_LIMITS.todoItems} are kept.`)
    return value.map((item: Json, at) => decodeItem(item, at))
  },
}

const SHAPE = inputShape({ todos: optional(items) })

export const todoTool = (): Tool => ({
  advertisement: {
    name: "todo",
    description:
      `Reads the session's list of work, or replaces it when \`todos\` is given. At most ${TOOL_LIMITS.todoItems} items, each ` +
      `${TODO_STATUSES.join(", ")}. Keep exactly one item in_progress and mark it completed as soon as it is.`,
    input: SHAPE.schema,
  },
  execute: async (raw, scene) => {
    const { todos } = SHAPE.decode(raw)
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

const BOX = {
  pending: "[ ]",
  in_progress: "[>]",
  completed: "[x]",
  cancelled: "[-]",
} as const satisfies Record<TodoStatus, string>
const line = ({ content, status }: TodoItem): string => `${BOX[status]} ${content}`
