import type { Json } from "@meridian/protocol"
import { expect, test } from "vitest"

import { openScene, openWorkspace, textOf } from "../../../../test/tool-scene.ts"
import { verifies } from "../../../../test/verifies.ts"
import { ToolError, type Tool, type ToolOutput } from "../port/tool.ts"
import { embedderTool } from "./embedder-tool.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { openToolRegistry } from "./registry.ts"

const answering = (name: string, answer: string): Tool => ({
  advertisement: { name, description: answer, input: { type: "object" } },
  execute: async () => ({ content: [{ type: "text", text: answer }] }),
})
const failing = (error: unknown): Tool => ({
  ...answering("fails", ""),
  execute: async () => {
    throw error
  },
})
const registry = () => openToolRegistry({ outputDirectory: "unused" })
const call = async (tools: ReturnType<typeof registry>, name: string) =>
  textOf(await tools.materialize().call(name, {}, openScene()))

verifies(
  "tools.registry.scoped",
  async () => {
    const tools = registry()
    tools.contribute([answering("a", "first"), answering("b", "only")])
    const second = tools.contribute([answering("a", "second")])
    const third = tools.contribute([answering("a", "third")])
    expect(await call(tools, "a")).toBe("third")
    second.close()
    expect(await call(tools, "a")).toBe("third")
    third.close()
    third.close()
    expect(await call(tools, "a")).toBe("first")
    expect(tools.materialize().advertisements.map(({ name }) => name)).toEqual(["a", "b"])
  },
  "the last contribution wins and closing it reveals the one before",
)

test("a call through a materialisation whose tool was replaced, removed or revealed is stale", async () => {
  const tools = registry()
  const base = tools.contribute([answering("a", "first")])
  const early = tools.materialize()
  const overlay = tools.contribute([answering("a", "second")])
  const late = tools.materialize()
  await expect(early.call("a", {}, openScene())).rejects.toMatchObject({ code: "stale-tool" })
  overlay.close()
  await expect(late.call("a", {}, openScene())).rejects.toMatchObject({ code: "stale-tool" })
  expect(textOf(await early.call("a", {}, openScene()))).toBe("first")
  base.close()
  await expect(early.call("a", {}, openScene())).rejects.toMatchObject({ code: "stale-tool" })
})

test("an unknown tool is refused with the nearest one", async () => {
  const tools = registry()
  tools.contribute([answering("apply_patch", ""), answering("bash", "")])
  await expect(tools.materialize().call("applypatch", {}, openScene())).rejects.toMatchObject({
    code: "unknown-tool",
    message: 'There is no tool "applypatch". Did you mean apply_patch?',
  })
  await expect(tools.materialize().call("zzz", {}, openScene())).rejects.toThrow(
    /The tools are: apply_patch, bash/,
  )
})

test.each(["", "1a", "a b", "ä", "a".repeat(TOOL_LIMITS.toolNameCharacters + 1)])(
  "the name %j is refused",
  (name) => {
    const tools = registry()
    expect(() => tools.contribute([answering("good", ""), answering(name, "")])).toThrow(TypeError)
    expect(tools.materialize().advertisements).toEqual([])
  },
)

test("a name at the bound is accepted", () => {
  const tools = registry()
  tools.contribute([answering("a".repeat(TOOL_LIMITS.toolNameCharacters), "")])
  expect(tools.materialize().advertisements).toHaveLength(1)
})

test.each([
  [new Error("first line\n    at stack (file.ts:1)"), "failed", "first line"],
  ["text", "failed", "text"],
  [undefined, "failed", "unknown error"],
  [new ToolError("rejected", "use the other file\nplease"), "rejected", "use the other file\nplease"],
])("what a tool throws becomes words for the model (%#)", async (thrown, code, message) => {
  const tools = registry()
  tools.contribute([failing(thrown)])
  await expect(tools.materialize().call("fails", {}, openScene())).rejects.toMatchObject({ code, message })
})

test("an error after an interrupt is an interrupt", async () => {
  const tools = registry()
  tools.contribute([failing(new Error("aborted"))])
  await expect(
    tools.materialize().call("fails", {}, openScene({ signal: AbortSignal.abort() })),
  ).rejects.toMatchObject({ code: "interrupted" })
})

test.each([
  undefined,
  {},
  { content: "text" },
  { content: [{ type: "text" }] },
  { content: [{ type: "media", mediaType: "x", base64: "?" }] },
])("an answer that is none is refused (%#)", async (answer) => {
  const tools = registry()
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the wrong answer is the point
  tools.contribute([{ ...answering("wrong", ""), execute: async () => answer as unknown as ToolOutput }])
  await expect(tools.materialize().call("wrong", {}, openScene())).rejects.toMatchObject({
    code: "invalid-output",
  })
})

test("what must stay hidden is hidden in every answer and every error", async () => {
  const tools = openToolRegistry({ outputDirectory: "unused", hide: (text) => text.replaceAll("KEY", "***") })
  const spoken: ToolOutput = { content: [{ type: "text", text: "a KEY" }], structured: { env: ["KEY"] } }
  tools.contribute([
    { ...answering("says", ""), execute: async () => spoken },
    failing(new ToolError("timeout", "no KEY")),
  ])
  const turn = tools.materialize()
  expect(await turn.call("says", {}, openScene())).toEqual({
    content: [{ type: "text", text: "a ***" }],
    structured: { env: ["***"] },
  })
  await expect(turn.call("fails", {}, openScene())).rejects.toMatchObject({
    code: "timeout",
    message: "no ***",
  })
})

test("output is bounded whatever the tool", async () => {
  await using space = await openWorkspace()
  const tools = openToolRegistry(space)
  tools.contribute([answering("long", "x\n".repeat(5000))])
  const output = await tools.materialize().call("long", {}, openScene())
  expect(output.outputPath).toContain(space.outputDirectory)
})

const schema = {
  type: "object",
  properties: { count: { type: "integer", minimum: 1 }, names: { type: "array", items: { type: "string" } } },
  required: ["count"],
  additionalProperties: false,
}

verifies(
  "tools.registry.settles",
  async () => {
    const tool = embedderTool({
      name: "counter",
      description: "",
      input: schema,
      execute: async (input: { count: number }, { sessionID }) => ({ twice: input.count * 2, sessionID }),
    })
    const scene = openScene()
    expect(await tool.execute({ count: 2 }, scene)).toEqual({
      content: [{ type: "text", text: '{"twice":4,"sessionID":"ses_1"}' }],
      structured: { twice: 4, sessionID: "ses_1" },
    })
    expect(scene.questions).toEqual([{ action: "counter", resources: ["*"], title: "counter" }])
  },
  "an embedder's tool checks its input, asks for its own name and answers with text or JSON",
)

test.each([
  [{}, /count/],
  [{ count: 0 }, /`count`/],
  [{ count: "2" }, /`count`/],
  [{ count: 1, names: ["a", 2] }, /`names\.1`/],
  [{ count: 1, other: true }, /other/],
  ["text", /object/],
])("an input that does not fit is named, and the function is not called (%#)", async (input, message) => {
  const tool = embedderTool({
    name: "counter",
    description: "",
    input: schema,
    execute: () => {
      throw new Error("was called")
    },
  })
  const scene = openScene()
  await expect(tool.execute(input, scene)).rejects.toMatchObject({
    code: "invalid-input",
    message: expect.stringMatching(message),
  })
  expect(scene.questions).toEqual([])
})

test.each([
  ["plain", "plain"],
  [undefined, "(done)"],
  [{ content: [{ type: "text", text: "own" }] }, "own"],
  [[1, 2], "[1,2]"],
])("an embedder may answer with %j", async (answer, expected) => {
  const tool = embedderTool({ name: "t", description: "", input: {}, execute: async () => answer })
  expect(textOf(await tool.execute({}, openScene()))).toBe(expected)
})

test("an answer that is not JSON is reported as such", async () => {
  const circle: Record<string, unknown> = {}
  circle["self"] = circle
  const tool = embedderTool({ name: "t", description: "", input: {}, execute: async () => circle })
  await expect(tool.execute({}, openScene())).rejects.toMatchObject({ code: "invalid-output" })
})

test("a call that was told to stop and still runs is not started a second time beside itself", async () => {
  const ends: (() => void)[] = []
  const tools = registry()
  tools.contribute([
    {
      ...answering("slow", ""),
      execute: async () => {
        await new Promise<void>((resolve) => ends.push(resolve))
        return { content: [{ type: "text", text: "ended" }] }
      },
    },
  ])
  const caller = new AbortController()
  const run = (input: Json, scene = openScene()) => tools.materialize().call("slow", input, scene)
  const first = run({ a: 1 }, openScene({ signal: caller.signal }))
  caller.abort()
  await expect(run({ a: 1 })).rejects.toThrow("Not run: the same call of slow was told to stop before")
  const other = run({ a: 2 })
  expect(ends).toHaveLength(2)
  for (const end of ends) end()
  await Promise.all([first, other])
  const again = run({ a: 1 })
  expect(ends).toHaveLength(3)
  ends[2]?.()
  expect(textOf(await again)).toBe("ended")
})
