import { expect, test } from "vitest"

import { splitFrontMatter } from "./front-matter.ts"
import { composePrompt, readVariable, REPORT_INSTRUCTION, wholePrompt } from "./prompt-text.ts"

const PARTS = {
  skills: [{ name: "plan", body: "Plan {{NAME}}." }],
  agentBody: "You are {{ NAME }}.",
  references: [{ path: "/a.md", content: "See {{NAME}} and {{OTHER}}.\n" }],
  variables: new Map([["NAME", "Ada {{OTHER}}"]]),
  prompt: "Do it, {{NAME}}.",
  wantsReport: true,
}

test("the parts keep their order, and variables are filled once everywhere except in skills", () => {
  const composed = composePrompt(PARTS)
  expect(wholePrompt(composed)).toBe(
    [
      "# Skill: plan\n\nPlan {{NAME}}.",
      "# Agent Profile\n\nYou are Ada {{OTHER}}.",
      "# Reference: /a.md\n\nSee Ada {{OTHER}} and {{OTHER}}.",
      REPORT_INSTRUCTION,
      "Do it, Ada {{OTHER}}.",
    ].join("\n\n"),
  )
  expect(composed.undefinedVariables).toEqual([])
})

test("a plain prompt alone stays as it is", () => {
  const bare = { skills: [], agentBody: undefined, references: [], variables: new Map(), wantsReport: false }
  expect(wholePrompt(composePrompt({ ...bare, prompt: "Hello" }))).toBe("Hello")
})

test("only placeholders of the prompt itself must be filled", () => {
  const composed = composePrompt({
    ...PARTS,
    prompt: "{{B}} {{A}} {{B}} {{ not one }} \\{{C}}",
  })
  expect(composed.undefinedVariables).toEqual(["B", "A"])
})

test("without any variable a prompt keeps its braces; escaped ones are literal either way", () => {
  const bare = { skills: [], agentBody: "Say {{X}} \\{{Y}}.", references: [], wantsReport: false }
  const prompt = "Use {{user}} and \\{{name}}."
  const without = composePrompt({ ...bare, variables: new Map(), prompt })
  expect(without).toEqual({
    instructions: "# Agent Profile\n\nSay {{X}} \\{{Y}}.",
    prompt: "Use {{user}} and {{name}}.",
    task: "Use {{user}} and {{name}}.",
    undefinedVariables: [],
  })
  const given = composePrompt({ ...bare, variables: new Map([["user", "Ada"]]), prompt })
  expect([given.prompt, given.undefinedVariables]).toEqual(["Use Ada and {{name}}.", []])
})

test.each([
  ["K=v", { tag: "text", name: "K", value: "v" }],
  ["K=a=b\nc", { tag: "text", name: "K", value: "a=b\nc" }],
  ["K=", { tag: "text", name: "K", value: "" }],
  ["K=@file", { tag: "file", name: "K", path: "file" }],
  ["K=@", { tag: "text", name: "K", value: "@" }],
  ["K", { tag: "wrong" }],
  ["1=x", { tag: "wrong" }],
  ["", { tag: "wrong" }],
])("--var %j", (assignment, expected) => {
  expect(readVariable(assignment)).toEqual(expected)
})

test.each([
  ["---\na: 1\n---\nbody\n", { yaml: "a: 1\n", body: "body" }],
  ["---\r\na: 1\r\n---\r\nbody", { yaml: "a: 1\r\n", body: "body" }],
  ["---\na: 1\n---", { yaml: "a: 1\n", body: "" }],
  ["---\na: 1\nno end", { yaml: undefined, body: "---\na: 1\nno end" }],
  ["body\n---\na: 1\n---\n", { yaml: undefined, body: "body\n---\na: 1\n---" }],
  ["\uFEFF---\n---\nx", { yaml: "", body: "x" }],
])("front matter of %j", (text, expected) => {
  expect(splitFrontMatter(text)).toEqual(expected)
})
