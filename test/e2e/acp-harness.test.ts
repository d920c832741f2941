/** Any agent of the Agent Client Protocol as a harness: our own server, and a small agent that can misbehave. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

import { harnessSessionId } from "@meridian/protocol"
import { openAgent } from "@meridian/server"
import { acpEntry, isAcp, type LaunchRequest, type Verdict } from "@meridian/spaces"
import { harnessContract, type RecordedRun } from "@meridian/testkit/contract/harness"
import { expect, test } from "vitest"

import { directScene, judged, startPlan, type DirectScene, type SceneOptions } from "../direct-scene.ts"
import { verifies } from "../verifies.ts"
import { BINARY, meridian } from "./cli-binary.ts"
import { openPseudoTerminal } from "./pseudo-terminal.ts"

const AGENT = resolve(import.meta.dirname, "../fixture/acp-agent.mjs")
const OWN = [process.execPath, BINARY, "acp"]

/** A project, and a user whose configuration names this agent. */
const scene = async (command: readonly string[], options: SceneOptions = {}): Promise<DirectScene> => {
  const opened = await directScene(options)
  const file = join(opened.env["HOME"] ?? "", ".config/meridian/config.toml")
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `[harness.acp.mine]\ncommand = ${JSON.stringify(command)}\n`)
  return opened
}

const harness = () => {
  const id = "acp:mine"
  if (!isAcp(id)) throw new Error(id)
  return acpEntry(id, [process.execPath, BINARY]).load()
}

const launch = async ({ project, env }: DirectScene, request: Partial<LaunchRequest> = {}) =>
  startPlan(await harness(), {
    mode: "headless",
    cwd: project,
    environment: env,
    session: { kind: "new" },
    prompt: "Do it.",
    scratch: join(project, ".scratch"),
    ...request,
  })

const textsOf = (events: Awaited<ReturnType<typeof judged>>["events"]): readonly string[] =>
  events.flatMap((event) => (event.type === "text" ? [event.text] : []))

interface Case extends SceneOptions {
  readonly command: readonly string[]
  readonly request?: Partial<LaunchRequest>
  readonly expected: Omit<Verdict, "skippedLines">
}

const USAGE = { input: 100, output: 20 }
const NO_TOKENS = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 }
const S1 = harnessSessionId("s-1")
const failed = (message: RegExp, failure: NonNullable<Verdict["failure"]>["class"] = "unclassified") => ({
  status: "failed" as const,
  failure: { class: failure, message: expect.stringMatching(message), transient: false },
})
const misbehaving = (mode: string): readonly string[] => [process.execPath, AGENT, mode]

const CASES: Readonly<Record<string, Case>> = {
  "our own server": {
    command: OWN,
    script: [{ text: "Done.", usage: USAGE }],
    expected: {
      status: "succeeded",
      report: "Done.",
      usage: { ...NO_TOKENS, costUsd: expect.closeTo(0.0006, 4) },
      harnessSessionId: expect.any(String),
    },
  },
  polite: {
    command: misbehaving("polite"),
    expected: {
      status: "succeeded",
      report: "You said: Do it.",
      usage: { ...NO_TOKENS, costUsd: 1.25 },
      harnessSessionId: S1,
    },
  },
  "one that goes on": {
    command: misbehaving("polite"),
    request: { session: { kind: "continue", id: S1 } },
    expected: {
      status: "succeeded",
      report: "You said: Do it.",
      usage: { ...NO_TOKENS, costUsd: 0.25 },
      harnessSessionId: S1,
    },
  },
  "one that cannot go on": {
    command: misbehaving("forgetful"),
    request: { session: { kind: "continue", id: S1 } },
    expected: failed(/cannot continue an earlier session/),
  },
  "one that dies in its work": {
    command: misbehaving("dies"),
    expected: {
      ...failed(/ended with code 7: out of memory/),
      report: "I begin, and",
      harnessSessionId: S1,
    },
  },
  "one that is gone at once": { command: misbehaving("gone"), expected: failed(/ended with code 3/) },
  "a newer version of the protocol": {
    command: misbehaving("newer"),
    expected: failed(/speaks version 99 of the protocol/),
  },
  "one that talks rubbish": {
    command: misbehaving("rubbish"),
    expected: { status: "succeeded", report: "Still here.", harnessSessionId: S1 },
  },
  "one whose session has no name that could be one": {
    command: misbehaving("nameless"),
    expected: failed(/gives its session an invalid id/),
  },
  "one that tells of other sessions, and not why it stopped": {
    command: misbehaving("babbles"),
    expected: { ...failed(/stopped without saying why/), report: "Of this.", harnessSessionId: S1 },
  },
  "one that refuses": {
    command: misbehaving("refuses"),
    expected: { ...failed(/stopped: refusal/, "incomplete"), harnessSessionId: S1 },
  },
}

const record = async (
  name: string,
  { command, request, expected, ...options }: Case,
): Promise<RecordedRun> => {
  const { stdout, end } = await launch(await scene(command, options), request)
  return {
    name,
    stdout,
    end,
    continued: request?.session !== undefined,
    expected: { ...expected, skippedLines: 0 },
  }
}

const runs: RecordedRun[] = []
for (const [name, each] of Object.entries(CASES)) runs.push(await record(name, each))

harnessContract(await harness(), runs)

test.each([
  ["read", "read-only", undefined, "yes"],
  ["search", "read-only", undefined, "yes"],
  ["edit", "read-only", "inside.ts", "no"],
  ["edit", "workspace-write", "inside.ts", "yes"],
  ["edit", "workspace-write", "../outside.ts", "no"],
  ["edit", "workspace-write", undefined, "no"],
  ["execute", "workspace-write", undefined, "no"],
  ["execute", "full-access", undefined, "yes"],
  ["fetch", "full-access", undefined, "yes"],
  ["other", "full-access", undefined, "no"],
  ["nothing", "full-access", undefined, "no"],
  ["nothing", "danger", undefined, "yes"],
] as const)("the question to %s under %s, of %s, is answered %s", async (kind, permission, path, answer) => {
  const command = [...misbehaving(`asks-${kind}`), ...(path === undefined ? [] : [path])]
  const { events } = await judged(await launch(await scene(command), { permission }))
  expect(textsOf(events)).toEqual([`Answer: ${answer}`])
})

verifies("acp.harness-rights", async () => {
  const opened = await scene(OWN, {
    script: [
      {
        tools: [
          { name: "write", input: { path: "made.txt", content: "made\n" } },
          { name: "bash", input: { command: "touch owned" } },
        ],
      },
      { text: "Done what I may." },
    ],
  })
  const { events, verdict } = await judged(await launch(opened, { permission: "workspace-write" }))
  expect(verdict).toMatchObject({ status: "succeeded", report: "Done what I may." })
  expect(readFileSync(join(opened.project, "made.txt"), "utf8")).toBe("made\n")
  expect(existsSync(join(opened.project, "owned"))).toBe(false)
  expect(events.filter(({ type }) => type === "warning")).toHaveLength(1)
})

verifies("acp.harness", async () => {
  const opened = await scene(misbehaving("polite"))
  const first = await opened.run("run", "spawn", "--harness", "acp:mine", "-p", "One.", "--json")
  expect(JSON.parse(first.stdout)).toMatchObject({
    status: "succeeded",
    harness: "acp:mine",
    harness_session_id: "s-1",
  })
  const { run_id: run, space_id: space } = JSON.parse(first.stdout)
  const second = await opened.run("run", "continue", run, "--space", space, "-p", "Two.", "--json")
  expect(JSON.parse(second.stdout)).toMatchObject({ status: "succeeded", harness_session_id: "s-1" })
  expect(JSON.parse(second.stdout).report).toContain("Two.")
})

test("a conversation: what the agent says is plain, and it can be continued", async () => {
  const opened = await scene(misbehaving("escapes"))
  const { stdout, code } = await opened.run("start", "--harness", "acp:mine", "-p", "Hello.")
  expect(code).toBe(0)
  expect(stdout).toContain("acp:mine, session s-1.")
  expect(stdout).not.toContain("\u001b]0;owned")
  expect(stdout).toContain("Continue this chat with: meridian start --space s1 --continue c1")
  const again = await opened.run("start", "--space", "s1", "--continue", "c1", "-p", "More.")
  expect(again.stdout).toContain("acp:mine, session s-1.")
  expect(again.stdout).not.toContain("earlier life")
})

verifies("acp.harness-user", async () => {
  const opened = await scene(misbehaving("polite"))
  const spawn = (name: string) => opened.run("run", "spawn", "--harness", `acp:${name}`, "-p", "x")
  expect(await spawn("other")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      "ERROR [ACP_AGENT_UNKNOWN]: No agent 'acp:other' is configured. There are: mine.",
    ),
  })
  writeFileSync(
    join(opened.project, ".meridian/config.toml"),
    `[harness.acp.other]\ncommand = ["touch", "owned"]\n`,
  )
  expect((await spawn("other")).stderr).toContain("ACP_AGENT_UNKNOWN")
  expect(existsSync(join(opened.project, "owned"))).toBe(false)
  const file = join(opened.env["HOME"] ?? "", ".config/meridian/config.toml")
  for (const [text, why] of [
    ['[harness.acp.mine]\ncommand = "one word"', "harness.acp.mine.command"],
    ["[harness.acp.mine]\ncommand = []", "harness.acp.mine.command"],
    ['[harness.acp.mine]\ncommand = ["a"]\ncwd = "/"', "harness.acp.mine.cwd"],
    ['[harness.acp."a b"]\ncommand = ["a"]', "harness.acp.a b"],
  ] as const) {
    writeFileSync(file, text)
    const { code, stderr } = await spawn("mine")
    expect([code, stderr]).toEqual([1, expect.stringContaining("ERROR [CONFIG_INVALID]")])
    expect(stderr).toContain(why)
  }
  writeFileSync(file, '[harness.acp.mine]\ncommand = ["no-such-program"]')
  expect(await spawn("mine")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("ERROR [HARNESS_NOT_INSTALLED]"),
  })
})

test("in a conversation a person is asked what the tier does not allow", async () => {
  for (const [said, answer] of [
    ["y", "yes"],
    ["no", "no"],
    ["", "no"],
  ]) {
    const opened = await scene([...misbehaving("asks-execute"), "inside.ts"])
    const { stdout, code } = await meridian(["acp-agent", "mine", "--permission", "workspace-write"], {
      cwd: opened.project,
      env: opened.env,
      input: `Do it.\n${said}\n/exit\n`,
    })
    expect(stdout).toContain("The agent asks: do execute (inside.ts). Allow this once? [y/N]")
    expect([code, stdout]).toEqual([0, expect.stringContaining(`Answer: ${answer}`)])
  }
})

test("a run that is cancelled asks the agent to stop, and leaves no process behind", async () => {
  const opened = await scene(misbehaving("cancellable"))
  const spawned = await opened.run(
    "run",
    "spawn",
    "--harness",
    "acp:mine",
    "-p",
    "x",
    "--background",
    "--json",
  )
  const { run_id: run, space_id: space } = JSON.parse(spawned.stdout)
  const events = join(opened.project, `.meridian/.spaces/${space}/runs/${run}`)
  await expect.poll(() => existsSync(events), { timeout: 20_000 }).toBe(true)
  await opened.run("run", "cancel", run, "--space", space)
  const { stdout } = await opened.run("run", "wait", run, "--space", space, "--json")
  expect(stdout).toContain('"cancelled"')
})

test("a second Ctrl-C leaves an agent that does not stop when it is asked to", async () => {
  const opened = await scene(misbehaving("silent"))
  const terminal = openPseudoTerminal(process.execPath, [BINARY, "start", "--harness", "acp:mine"], {
    cwd: opened.project,
    env: opened.env,
  })
  await terminal.until(/leaves.*\n>/)
  terminal.type("Work.\r")
  await terminal.until(() => terminal.cursor().column === 0)
  terminal.type("\u0003")
  terminal.type("\u0003")
  expect(await terminal.exited).toEqual({ code: 0, signal: 0 })
})

test("an agent that never says that its model was changed is given up", async () => {
  const opened = await scene([])
  const agent = await openAgent({
    name: "mine",
    command: [process.execPath, AGENT, "polite"],
    cwd: opened.project,
    env: opened.env,
    version: "1",
    onUpdate: () => undefined,
    answer: () => Promise.resolve({ tag: "cancelled" }),
    patienceMs: 3_000,
  })
  const session = await agent.open(undefined)
  await expect(agent.chooseModel(session, "a")).rejects.toThrow("did not change its model in time")
  await agent.close()
})

test("doctor says of every configured agent whether its program is there", async () => {
  const opened = await scene(["no-such-program"])
  const { stdout } = await opened.run("doctor", "--json")
  expect(JSON.parse(stdout).harnesses).toContainEqual({
    harness: "acp:mine",
    found: false,
    problem: "binary 'no-such-program' not found on PATH",
  })
})
