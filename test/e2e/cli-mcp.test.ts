import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { installPretendHarness, type PretendBehaviour } from "@meridian/testkit"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { expect, test } from "vitest"

import { AGENT_TOOLS } from "../agent-tools.ts"
import { verifies } from "../verifies.ts"
import { BINARY, document, emptyFolder, meridian, SEARCH_PATH } from "./cli-binary.ts"

const connect = async (
  behaviour: PretendBehaviour = { answer: "All done." },
  flags: readonly string[] = [],
) => {
  const cwd = emptyFolder()
  const bin = join(emptyFolder(), "bin")
  installPretendHarness(bin, { as: "claude", behaviour })
  const env = {
    PATH: `${bin}:${dirname(process.execPath)}:${SEARCH_PATH}`,
    HOME: emptyFolder(),
    MERIDIAN_REPO_ROOT: cwd,
  }
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BINARY, "serve", ...flags],
    cwd,
    env,
  })
  const client = new Client({ name: "test", version: "1.0.0" })
  await client.connect(transport)
  const call = (name: string, args: Record<string, unknown> = {}) =>
    client.callTool({ name, arguments: args })
  return { cwd, env, client, call, transport }
}

verifies("mcp.agent-tools", async () => {
  const { client } = await connect()
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name).toSorted()).toEqual(AGENT_TOOLS)
  for (const tool of tools) {
    expect([tool.name, tool.inputSchema.type, tool.outputSchema?.["type"]]).toEqual([
      tool.name,
      "object",
      "object",
    ])
    expect(Object.keys(tool.outputSchema?.["properties"] ?? {}).length).toBeGreaterThan(1)
    expect(Object.keys(tool.inputSchema.properties ?? {}).filter((key) => !/^[a-z_]+$/.test(key))).toEqual([])
  }
  for (const called of ["run_spawn", "run_continue"])
    expect(tools.find(({ name }) => name === called)?.inputSchema.required).toEqual(["prompt"])
  const spawn = tools.find(({ name }) => name === "run_spawn")
  expect(spawn?.inputSchema.properties).toMatchObject({
    prompt: { type: "string" },
    model: { type: "string" },
    skills: { type: "array", items: { type: "string" } },
    background: { type: "boolean" },
    timeout_secs: { type: "number" },
  })
  await client.close()
})

verifies("mcp.doctor-name", async () => {
  const { client, call } = await connect()
  const answer = await call("doctor")
  expect(answer.structuredContent).toMatchObject({ ok: true })
  await client.close()
})

test("a call answers with structured content equal to its text, and with a warning only if there is one", async () => {
  const { client, call } = await connect()
  const first = await call("run_spawn", { prompt: "hello" })
  expect(first.structuredContent).toMatchObject({
    run_id: "r1",
    status: "succeeded",
    report: "All done.",
    warning: expect.stringMatching(/^WARNING \[SPACE_AUTO_CREATED\]/),
  })
  const second = await call("run_spawn", { prompt: "hello", space: "s1" })
  expect(second.structuredContent).not.toHaveProperty("warning")
  expect(second.content).toEqual([{ type: "text", text: JSON.stringify(second.structuredContent) }])
  const listed = await call("run_list", { space: "s1" })
  expect(listed.structuredContent).toMatchObject({ runs: [{ run_id: "r2" }, { run_id: "r1" }] })
  await client.close()
})

verifies("mcp.one-space", async () => {
  const { client, call } = await connect()
  const spawned = await Promise.all(["one", "two"].map((prompt) => call("run_spawn", { prompt })))
  expect(spawned.map(({ structuredContent }) => Object(structuredContent).space_id)).toEqual(["s1", "s1"])
  const waited = await call("run_wait", { run_ids: ["r1", "r2"] })
  expect(waited.structuredContent).toMatchObject({ total_runs: 2, succeeded_runs: 2 })
  const listed = await call("run_list", {})
  expect(Object(listed.structuredContent).runs).toHaveLength(2)
  await client.close()
})

test("every answer fits the output schema its tool announced", async () => {
  const { client, call, cwd } = await connect({ answer: "All done.", writes: { "made.txt": "x" } }, [
    "--permission",
    "workspace-write",
  ])
  const git = (...words: readonly string[]): void => {
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.org", ...words], { cwd })
  }
  git("init", "--quiet")
  git("commit", "--quiet", "--allow-empty", "-m", "first")
  mkdirSync(join(cwd, ".meridian/skills/plan"), { recursive: true })
  writeFileSync(join(cwd, ".meridian/skills/plan/SKILL.md"), "---\nname: plan\ndescription: d\n---\nBody")
  // From here on the client checks every structured answer itself and refuses one that does not fit.
  const { tools } = await client.listTools()
  const answered = new Set<string>()
  const ask = async (name: string, args: Record<string, unknown>): Promise<void> => {
    const answer = await call(name, args)
    expect([name, answer.isError, answer.content]).toEqual([name, false, expect.any(Array)])
    answered.add(name)
  }
  for (const [name, args] of [
    ["run_spawn", { prompt: "one", dry_run: true }],
    ["run_spawn", { prompt: "one", skills: ["plan"] }],
    ["run_spawn", { prompt: "two", background: true, space: "s1" }],
    ["run_wait", { run_ids: ["r2"], report: true, include_files: true, space: "s1" }],
    ["run_continue", { run_id: "r1", prompt: "more", space: "s1" }],
    ["run_list", { space: "s1" }],
    ["run_show", { run_id: "@latest", report: true, include_files: true, space: "s1" }],
    ["run_stats", { space: "s1" }],
    ["run_files", { run_id: "r1", space: "s1" }],
    ["run_cancel", { run_id: "r1", space: "s1" }],
    ["run_compare", { run_ids: ["r1", "r2"], space: "s1" }],
    ["skills_list", { space: "s1" }],
    ["skills_show", { name: "plan", space: "s1" }],
    ["models_list", {}],
    ["models_show", { model: "gemini" }],
    ["doctor", {}],
    ["recall", { query: "anything" }],
  ] as const) {
    await ask(name, args)
  }
  git("add", "made.txt")
  git("commit", "--quiet", "-m", "made here")
  for (const [name, args] of [
    ["run_spawn", { prompt: "apart", permission: "workspace-write", worktree: true, space: "s1" }],
    ["run_worktree", { run_id: "r4", space: "s1" }],
    ["run_diff", { run_id: "r4", space: "s1" }],
    ["run_apply", { run_ids: ["r4"], no_commit: true, space: "s1" }],
    ["run_discard", { run_ids: ["r4"], space: "s1" }],
  ] as const)
    await ask(name, args)
  // `expand` needs something found first; cli-recall.test.ts does both. None of these runs is paused.
  expect([...answered, "expand", "run_resume"].toSorted()).toEqual(tools.map(({ name }) => name).toSorted())
  await client.close()
})

test("a failed run is an answer, not an error of the call", async () => {
  const { client, call } = await connect({ answer: "no", exitCode: 4 })
  await client.listTools()
  const { isError, structuredContent } = await call("run_spawn", { prompt: "x" })
  expect([isError, structuredContent]).toMatchObject([false, { status: "failed", exit_code: 1 }])
  await client.close()
})

test("failures are error answers with code, cause and next action, and the server lives on", async () => {
  const { client, call } = await connect()
  const text = async (name: string, args: Record<string, unknown>): Promise<unknown> => {
    const { isError, content, structuredContent } = await call(name, args)
    return [isError, structuredContent, content]
  }
  for (const [name, args, start] of [
    ["run_list", {}, "ERROR [SPACE_REQUIRED]: No MERIDIAN_SPACE_ID set. Next: "],
    ["models_show", { model: "opuss" }, "ERROR [MODEL_UNKNOWN]: "],
    ["models_show", {}, "ERROR [USAGE]: 'model' is required. Next: correct the arguments of models_show"],
    ["run_spawn", { promt: "x" }, "ERROR [USAGE]: Unknown argument 'promt', did you mean 'prompt'?"],
    ["run_spawn", { prompt: "x", timeout_secs: "soon" }, "ERROR [USAGE]: 'timeout_secs' must be "],
    ["space_list", {}, "ERROR [UNKNOWN_COMMAND]: Unknown tool 'space_list'."],
  ] as const)
    expect(await text(name, args)).toEqual([
      true,
      undefined,
      [{ type: "text", text: expect.stringContaining(start) }],
    ])
  expect((await call("models_list")).isError).toBe(false)
  await client.close()
})

test("a long run sends growing progress without repetition, and cancelling the call ends the run as cancelled", async () => {
  const { client, cwd, env } = await connect({ hang: "within" })
  const cancel = new AbortController()
  const seen: number[] = []
  const said: (string | undefined)[] = []
  const call = client.callTool(
    { name: "run_spawn", arguments: { prompt: "long" } },
    {
      signal: cancel.signal,
      timeout: 60_000,
      resetTimeoutOnProgress: true,
      onprogress: ({ progress, message }) => {
        seen.push(progress)
        said.push(message)
        if (seen.length >= 2) cancel.abort("enough")
      },
    },
  )
  await expect(call).rejects.toThrow("enough")
  expect(seen).toEqual(seen.toSorted((left, right) => left - right))
  expect(said).toEqual([...new Set(said)])
  const show = () => meridian(["run", "show", "r1", "--space", "s1", "--json"], { cwd, env })
  const waited = await meridian(["run", "wait", "r1", "--space", "s1", "--timeout", "20", "--json"], {
    cwd,
    env,
  })
  expect(waited.code).toBe(1)
  expect(document(await show())).toMatchObject({ status: "cancelled" })
  await client.close()
})

test("a client that goes away ends its foreground runs, and background runs continue", async () => {
  const gate = join(emptyFolder(), "gate")
  const { client, cwd, env, call } = await connect({ answer: "late", release: gate })
  const background = await call("run_spawn", { prompt: "b", background: true })
  expect(background.structuredContent).toMatchObject({ run_id: "r1" })
  const hanging = call("run_spawn", { prompt: "f", space: "s1" }).catch(() => "gone")
  const log = join(cwd, ".meridian/.spaces/s1/runs/r2/prompt.md")
  for (let look = 0; look < 600 && !existsSync(log); look += 1)
    await new Promise((resolve) => setTimeout(resolve, 50))
  await client.close()
  await hanging
  const ended = await meridian(["run", "wait", "r2", "--space", "s1", "--timeout", "20", "--json"], {
    cwd,
    env,
  })
  expect(document(ended)).toMatchObject({ status: "cancelled" })
  await meridian(["run", "cancel", "r1", "--space", "s1"], { cwd, env })
})

test("the end of input is a clean end, and stdout carries nothing but the protocol", async () => {
  const request = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
  })
  const ran = await meridian(["serve"], { input: `${request}\n` })
  expect([ran.code, ran.stderr]).toEqual([0, ""])
  expect(document(ran)).toMatchObject({ jsonrpc: "2.0", id: 1, result: { serverInfo: { name: "meridian" } } })
})
