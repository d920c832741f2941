import { Failure, ANY } from "@meridian/protocol"
import { defineMeta } from "@meridian/spaces"
import { expect, test } from "vitest"

import { parseFlags } from "./parse-flags.ts"

const META = defineMeta({
  name: "run.test",
  audience: "agent",
  summary: "",
  fields: {
    runIds: { type: "strings", description: "", positional: "rest" },
    prompt: { type: "string", description: "", short: "p" },
    file: { type: "strings", description: "", short: "f" },
    timeoutSecs: { type: "seconds", description: "", flag: "timeout", aliases: ["timeout-secs"] },
    continue: { type: "string", description: "", optionalValue: true },
    background: { type: "boolean", description: "" },
    secret: { type: "string", description: "", only: "tool" },
    harnessArgs: { type: "strings", description: "", positional: "dashes" },
  },
  passthrough: [
    { flag: "--append-system-prompt", values: "one" },
    { flag: "--chrome", values: "none" },
    { flag: "--debug", values: "optional" },
    { flag: "--tools", values: "many" },
    { flag: "--prompt", values: "none" },
  ],
  output: ANY,
})

const parsed = (...words: readonly string[]) => parseFlags(META, words)

const problem = (...words: readonly string[]): string => {
  try {
    parsed(...words)
  } catch (error) {
    if (error instanceof Failure) return error.message
    throw error
  }
  return "no failure"
}

test("flags, short flags, aliases, lists and words find their fields", () => {
  const { values, globals } = parsed(
    ..."r1 --timeout-secs=5 -f a r2 -f b --background --json -p".split(" "),
    "- do -- this",
  )
  expect(values).toEqual({
    run_ids: ["r1", "r2"],
    timeout_secs: "5",
    file: ["a", "b"],
    background: true,
    prompt: "- do -- this",
  })
  expect(globals.json).toBe(true)
})

test("a flag with an optional value works alone, before a flag, or with its value", () => {
  expect(parsed("--continue").values).toEqual({ continue: "" })
  expect(parsed("--continue", "--background").values).toEqual({ continue: "", background: true })
  expect(parsed("--continue", "c2").values).toEqual({ continue: "c2" })
})

test("words after -- go to the harness, whatever they look like", () => {
  const { values, globals } = parsed("r1", "--", "--json", "--continue", "x")
  expect(values).toEqual({ run_ids: ["r1"], harness_args: ["--json", "--continue", "x"] })
  expect(globals.json).toBe(false)
})

test("flags of harnesses are passed on in their order", () => {
  const words = [
    "--chrome",
    "--append-system-prompt",
    "--be kind",
    "--debug",
    "--tools",
    "a",
    "b",
    "--debug=x",
  ]
  const { passthrough, values } = parsed("-p", "--chrome", "--background", ...words, "--", "--chrome")
  expect(passthrough).toEqual(words)
  expect(values).toEqual({ prompt: "--chrome", background: true, harness_args: ["--chrome"] })
})

test.each([
  [["--promt", "x"], "Unknown flag '--promt', did you mean --prompt?"],
  [["-z"], "Unknown flag '-z'."],
  [["--p", "x"], "Unknown flag '--p'."],
  [["--secret", "x"], "Unknown flag '--secret'."],
  [["--prompt"], "--prompt needs a value."],
  [["-p", "--background"], "-p needs a value, got the flag --background."],
  [["--background=yes"], "--background takes no value."],
])("%j is refused", (words, message) => {
  expect(problem(...words)).toBe(message)
})

test("an extra word is refused", () => {
  const meta = { name: "doctor", fields: {} }
  expect(() => parseFlags(meta, ["now"])).toThrow("Unexpected argument 'now'.")
})
