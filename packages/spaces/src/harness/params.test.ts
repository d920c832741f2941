import { expect, test } from "vitest"

import { flagOf, harnessesWith } from "./flags.ts"
import { fitParams, mergeParams } from "./params.ts"

const CLAUDE = { id: "claude", name: "Claude" } as const
const CODEX = { id: "codex", name: "Codex" } as const
const OPENCODE = { id: "opencode", name: "OpenCode" } as const

test.each([
  ["--append-system-prompt", ["claude"]],
  ["--sandbox", ["codex"]],
  ["-C", ["codex"]],
  ["--title", ["opencode"]],
  ["--model", ["claude", "codex", "opencode"]],
  ["--unheard-of", []],
])("%s is known to %j", (flag, harnesses) => {
  expect(harnessesWith(flag)).toEqual(harnesses)
})

test.each([
  ["claude", "--allowed-tools", { name: "--allowedTools", values: "many" }],
  ["claude", "--resume", { name: "--resume", values: "optional" }],
  ["codex", "-c", { name: "--config", values: "one" }],
  ["claude", "-c", { name: "--continue", values: "none" }],
] as const)("%s reads %s by its own table", (harness, flag, expected) => {
  expect(flagOf(harness, flag)).toEqual(expected)
})

test("a harness's own flags pass with their values, in order", () => {
  const params = ["--add-dir", "a", "b", "--effort=high", "--verbose"]
  expect(fitParams(CLAUDE, params)).toMatchObject({ args: params, warnings: [] })
})

test("a flag of another harness is dropped with all its values, and warned about once", () => {
  const params = ["--add-dir", "a", "b", "--betas", "x", "y", "--betas", "z", "--json"]
  expect(fitParams(CODEX, params)).toMatchObject({
    args: ["--add-dir", "a", "b", "--json"],
    warnings: [{ code: "UNSUPPORTED_FLAG", facts: { flag: "--betas", harness: "Codex" } }],
  })
})

test.each([
  [["--append-system-prompt", "-be brief"], []],
  [["--append-system-prompt=be brief", "kept"], ["kept"]],
  [["--debug", "--print-logs"], ["--print-logs"]],
  [["--debug", "api", "--print-logs"], ["--print-logs"]],
])("%j leaves %j for OpenCode", (params, args) => {
  expect(fitParams(OPENCODE, params).args).toEqual(args)
})

test("unknown flags, and everything after a bare --, pass unchanged", () => {
  const params = ["--unheard-of", "value", "--", "--sandbox", "x"]
  expect(fitParams(CLAUDE, params)).toMatchObject({ args: params, warnings: [] })
})

test("recorded params are defaults: the same flag is replaced under any of its names, others are added", () => {
  expect(
    mergeParams("codex", ["-s", "read-only", "--search"], ["--sandbox=workspace-write", "--oss"]),
  ).toEqual(["--search", "--sandbox=workspace-write", "--oss"])
})

test("a continuation does not repeat the first message of its conversation", () => {
  expect(mergeParams("claude", ["-p", "Say hello.", "--verbose"], ["-p", "And again."])).toEqual([
    "--verbose",
    "-p",
    "And again.",
  ])
  expect(mergeParams("claude", ["--effort", "high", "hello"], [])).toEqual(["--effort", "high"])
  expect(mergeParams("codex", ["--unheard-of", "value", "--", "hello"], [])).toEqual([
    "--unheard-of",
    "value",
  ])
})

test("settings of codex are replaced key by key, directories add up", () => {
  const recorded = ["-c", "model_provider=a", "-c", "x.y=1", "--add-dir", "one"]
  const explicit = ["--config", "x.y=2", "--add-dir", "two", "--add-dir", "one"]
  expect(mergeParams("codex", recorded, explicit)).toEqual(["-c", "model_provider=a", ...explicit])
})
