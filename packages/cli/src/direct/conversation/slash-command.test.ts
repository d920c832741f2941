import { expect, test } from "vitest"

import { readTyped, SLASH_COMMANDS } from "./slash-command.ts"

test.each([
  ["hello /model", { tag: "say", text: "hello /model" }],
  [" /etc/passwd is a file", { tag: "say", text: " /etc/passwd is a file" }],
  ["/model", { tag: "model", name: undefined }],
  ["/MODEL  openai/gpt-5.2 ", { tag: "model", name: "openai/gpt-5.2" }],
  ["/agent plan", { tag: "agent", name: "plan" }],
  ["/compact", { tag: "compact" }],
  ["/queue then\nthis", { tag: "queue", text: "then\nthis" }],
  ["/help", { tag: "help" }],
  ["/exit", { tag: "leave" }],
  ["/quit", { tag: "leave" }],
] as const)("%j", (text, typed) => {
  expect(readTyped(text)).toEqual(typed)
})

test.each(["/", "/nothing", "/modelx", "/queue", "/queue  "])("%j sends nothing and says so", (text) => {
  expect(readTyped(text)).toMatchObject({ tag: "wrong" })
})

test("every command in help is a real one", () => {
  for (const [name, rest] of SLASH_COMMANDS)
    expect(readTyped(rest === "TEXT" ? `${name} words` : name).tag).not.toBe("wrong")
})
