/** The real MCP inspector against `meridian serve`: it lists the tools and calls them, a run with a real harness included. */
import { execFile } from "node:child_process"
import { dirname } from "node:path"

import { afterAll, beforeAll, expect, test } from "vitest"

import { AGENT_TOOLS } from "../agent-tools.ts"
import { type LiveScene, liveScene } from "./harness-scene.ts"
import { installHarness } from "./install-harnesses.ts"
import { MERIDIAN } from "./meridian-command.ts"

let scene: LiveScene
let inspector: string
beforeAll(async () => {
  inspector = installHarness("mcp-inspector")
  scene = await liveScene("codex")
})
afterAll(() => scene.close())

interface Answer {
  readonly tools?: readonly { readonly name: string; readonly inputSchema: object }[]
  readonly structuredContent?: Readonly<Record<string, unknown>>
  readonly isError?: boolean
}

/** The server does not inherit the inspector's environment, so every variable is passed explicitly. */
const inspect = async (...words: readonly string[]): Promise<Answer> => {
  const path = `${dirname(scene.binary)}:${scene.environment["PATH"]}`
  const variables = Object.entries({ ...scene.environment, PATH: path }).flatMap(([key, value]) => [
    "-e",
    `${key}=${value}`,
  ])
  const args = ["--cli", ...variables, process.execPath, MERIDIAN, "serve", ...words]
  const options = { cwd: scene.project, env: { ...scene.environment, PATH: path }, timeout: 60_000 }
  // The inspector exits with an error when the tool answers with one. The answer is on stdout anyway.
  const stdout = await new Promise<string>((resolve) => {
    execFile(inspector, args, options, (_, text) => resolve(text))
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what does not fit fails the assertions
  return JSON.parse(stdout) as Answer
}

const call = (tool: string, input: Readonly<Record<string, unknown>>): Promise<Answer> =>
  inspect(
    "--method",
    "tools/call",
    "--tool-name",
    tool,
    ...Object.entries(input).flatMap(([key, value]) => ["--tool-arg", `${key}=${String(value)}`]),
  )

test("it lists exactly the tools of agents, each with a schema", async () => {
  const { tools = [] } = await inspect("--method", "tools/list")
  expect(tools.map((tool) => tool.name).toSorted()).toEqual(AGENT_TOOLS)
  expect(tools.every((tool) => "type" in tool.inputSchema)).toBe(true)
})

test("it calls a tool that only reads", async () => {
  const { structuredContent, isError } = await call("models_list", {})
  expect(isError).not.toBe(true)
  expect(structuredContent).toHaveProperty("models")
})

test("it spawns a run of a real harness and gets its report", async () => {
  const answer = await scene.provide([{ text: "Hello by MCP." }], () =>
    call("run_spawn", { model: "gpt-5.3-codex", prompt: "Say hello." }),
  )
  expect(answer.isError).not.toBe(true)
  expect(answer.structuredContent).toMatchObject({
    status: "succeeded",
    report: "Hello by MCP.",
    harness: "codex",
  })
})

test("a failure is told with its code and the next step", async () => {
  const answer = await call("run_show", { run_id: "r99", space: "s1" })
  expect(answer.isError).toBe(true)
  expect(JSON.stringify(answer)).toMatch(/ERROR \[[A-Z_]+\]: .* Next: /)
})
