import { describe, expect, test } from "vitest"

import type { PromptMessage } from "../port/model.ts"
import { shapeForAnthropic } from "./anthropic-prompt.ts"
import { withUniqueCallIds } from "./call-ids.ts"
import { openCompatiblePrompt } from "./compatible-prompt.ts"

const shapeForCompatible = openCompatiblePrompt()

const call = (...ids: readonly string[]): PromptMessage => ({
  role: "assistant",
  content: ids.map((toolCallId) => ({ type: "tool-call", toolCallId, toolName: "read", input: {} })),
})
const result = (...ids: readonly string[]): PromptMessage => ({
  role: "tool",
  content: ids.map((toolCallId, at) => ({
    type: "tool-result",
    toolCallId,
    toolName: "read",
    output: { type: "text", value: `result ${at}` },
  })),
})
const idsOf = (prompt: readonly PromptMessage[]): readonly string[] =>
  prompt.flatMap(({ content }) =>
    typeof content === "string"
      ? []
      : content.flatMap((part) => ("toolCallId" in part ? [part.toolCallId] : [])),
  )

describe("ids of calls", () => {
  test("are left alone, and so is the prompt, when they are good", () => {
    const prompt = [call("call_1", "call_2"), result("call_1", "call_2"), call("toolu-3"), result("toolu-3")]
    expect(withUniqueCallIds(prompt)).toBe(prompt)
  })

  test("that repeat across turns become unique, each result with its own call", () => {
    const prompt = [call("call_0"), result("call_0"), call("call_0"), result("call_0")]
    expect(idsOf(withUniqueCallIds(prompt))).toEqual(["call_0", "call_0", "call_0_2", "call_0_2"])
    expect(idsOf(prompt)).toEqual(["call_0", "call_0", "call_0", "call_0"])
  })

  test("that repeat within a turn are matched in order", () => {
    const shaped = withUniqueCallIds([call("a", "a"), result("a", "a")])
    expect(idsOf(shaped)).toEqual(["a", "a_2", "a", "a_2"])
    expect(shaped[1]).toMatchObject({
      content: [{ output: { value: "result 0" } }, { output: { value: "result 1" } }],
    })
  })

  test("of another kind become good ones, at the bound of 64 characters too", () => {
    const long = "x".repeat(65)
    const exact = "y".repeat(64)
    const shaped = withUniqueCallIds([
      call("functions.read:0|é", long, exact),
      result("functions.read:0|é", long, exact),
    ])
    expect(idsOf(shaped).slice(0, 3)).toEqual(["functions_read_0__", "x".repeat(56), exact])
    expect(idsOf(shaped).slice(0, 3)).toEqual(idsOf(shaped).slice(3))
  })

  test("that never end up equal after they were made good", () => {
    const shaped = idsOf(withUniqueCallIds([call("a.b", "a:b", "a_b", "a|b")]))
    expect(new Set(shaped).size).toBe(4)
  })

  test("a result without its call keeps its id", () => {
    expect(idsOf(withUniqueCallIds([result("lost.one")]))).toEqual(["lost.one"])
  })
})

describe("results with files for compatible servers", () => {
  const image = { type: "file", data: { type: "data", data: "aGk=" }, mediaType: "image/png" } as const
  const withImage: PromptMessage = {
    role: "tool",
    content: [
      {
        type: "tool-result",
        toolCallId: "c1",
        toolName: "read",
        output: { type: "content", value: [{ type: "text", text: "a picture" }, image] },
      },
    ],
  }

  test("become a text, and the files follow in a message of the user", () => {
    const answer: PromptMessage = { role: "assistant", content: [{ type: "text", text: "I see" }] }
    expect(shapeForCompatible([call("c1"), withImage, result("c2"), answer])).toEqual([
      call("c1"),
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "c1",
            toolName: "read",
            output: { type: "text", value: "a picture\n[image/png file, shown below]" },
          },
        ],
      },
      result("c2"),
      { role: "user", content: [{ type: "text", text: "Files from the results above:" }, image] },
      answer,
    ])
  })

  test("also at the end of the prompt", () => {
    expect(shapeForCompatible([withImage]).at(-1)).toMatchObject({ role: "user", content: [{}, image] })
  })

  test("a prompt without files is passed on unchanged", () => {
    const prompt = [call("c1"), result("c1")]
    expect(shapeForCompatible(prompt)).toBe(prompt)
  })
})

describe("a prompt for Anthropic", () => {
  test("shares every message that did not change", () => {
    const prompt: readonly PromptMessage[] = [
      { role: "system", content: "one" },
      { role: "user", content: [{ type: "text", text: "a" }] },
      { role: "assistant", content: [{ type: "text", text: "b" }] },
      { role: "user", content: [{ type: "text", text: "c" }] },
    ]
    const shaped = shapeForAnthropic(prompt)
    expect(shaped[1]).toBe(prompt[1])
    expect(shaped[2]).toBe(prompt[2])
    expect(shaped[3]).not.toBe(prompt[3])
  })

  test("keeps native data of the part it marks", () => {
    const native = { anthropic: { citations: { enabled: true } }, other: { a: 1 } }
    const prompt: readonly PromptMessage[] = [
      { role: "user", content: [{ type: "text", text: "a", providerOptions: native }] },
    ]
    expect(shapeForAnthropic(prompt)).toEqual([
      {
        role: "user",
        content: [
          {
            type: "text",
            text: "a",
            providerOptions: {
              anthropic: { citations: { enabled: true }, cacheControl: { type: "ephemeral" } },
              other: { a: 1 },
            },
          },
        ],
      },
    ])
  })

  test("of nothing but instructions, or of nothing, is no problem", () => {
    expect(shapeForAnthropic([])).toEqual([])
    expect(shapeForAnthropic([{ role: "system", content: "x" }])).toMatchObject([
      { role: "system", providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } },
    ])
  })
})
