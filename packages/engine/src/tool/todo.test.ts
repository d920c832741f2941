import { expect, test } from "vitest"

import { openScene, textOf } from "../../../../test/tool-scene.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { todoTool } from "./todo.ts"

test("a list is replaced as a whole and read back", async () => {
  const todo = todoTool()
  const scene = openScene()
  expect(textOf(await todo.execute({}, scene))).toBe("The list is empty.")
  const todos = [
    { content: "one", status: "completed" },
    { content: "two", status: "in_progress" },
    { content: "three", status: "pending" },
    { content: "four", status: "cancelled" },
  ]
  const written = await todo.execute({ todos }, scene)
  expect(textOf(written)).toBe("[x] one\n[>] two\n[ ] three\n[-] four")
  expect(await todo.execute({}, scene)).toEqual(written)
  expect(written.structured).toEqual({ todos })
})

test.each([
  [{ todos: "x" }, /must be a list/],
  [{ todos: [{ status: "pending" }] }, /`todos.0.content` is missing/],
  [{ todos: [{ content: "a", status: "done" }] }, /`todos.0.status` must be one of pending/],
  [
    { todos: Array.from({ length: TOOL_LIMITS.todoItems + 1 }, () => ({ content: "a", status: "pending" })) },
    /at most 100/,
  ],
])("a wrong list is refused and the old one kept (%#)", async (input, message) => {
  const scene = openScene()
  await scene.todo.replace([{ content: "kept", status: "pending" }])
  await expect(todoTool().execute(input, scene)).rejects.toThrow(message)
  expect(await scene.todo.read()).toEqual([{ content: "kept", status: "pending" }])
})

test("as many items as the bound are kept", async () => {
  const todos = Array.from({ length: TOOL_LIMITS.todoItems }, () => ({ content: "a", status: "pending" }))
  const output = await todoTool().execute({ todos }, openScene())
  expect(textOf(output).split("\n")).toHaveLength(TOOL_LIMITS.todoItems)
})
