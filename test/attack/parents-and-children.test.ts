/** Agents that try to start something with more rights than their own: by the command, by its variables, by MCP. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { describe, expect, onTestFinished, test } from "vitest"

import { BINARY } from "../e2e/cli-binary.ts"
import { readLines } from "../scene/spaces.ts"
import { openAttack, type AttackScene } from "./attack-scene.ts"

const TIERS = ["read-only", "workspace-write", "full-access", "danger"] as const
type Tier = (typeof TIERS)[number]

/** A scene inside a run of this tier, with the variables of its harness and its row in the log. */
const inside = async (tier: Tier) => {
  const scene = openAttack()
  const claude = scene.harness("claude")
  await scene.run(["run", "spawn", "-p", "parent", "--permission", tier])
  const given = claude.calls()[0]?.env ?? {}
  const env = Object.fromEntries(Object.entries(given).filter(([name]) => name.startsWith("MERIDIAN_")))
  return { ...scene, claude, env: { ...scene.env, ...env } }
}

const recorded = (scene: AttackScene, run: string): unknown =>
  readLines(join(scene.folder, ".meridian/.spaces/s1/runs.jsonl")).find(
    (event) => event["id"] === run && event["event"] === "start",
  )?.["permission"]

const above = TIERS.flatMap((parent, at) => TIERS.slice(at + 1).map((wish) => [parent, wish] as const))

describe("by the command", () => {
  test.each(above)("a run of %s does not start one of %s", async (parent, wish) => {
    const scene = await inside(parent)
    const ran = await scene.run(["run", "spawn", "-p", "child", "--permission", wish], { env: scene.env })
    expect([ran.code, recorded(scene, "r2"), ran.stderr.includes("TIER_CAPPED")]).toEqual([0, parent, true])
  })

  test.each([
    ["without the variable of its tier", { MERIDIAN_TIER: "" }],
    ["with a forged tier", { MERIDIAN_TIER: "danger" }],
    ["with a default of its own", { MERIDIAN_DEFAULT_PERMISSION_TIER: "full-access" }],
    ["without the run it belongs to", { MERIDIAN_PARENT_RUN_ID: "" }],
    ["with a run that is not there", { MERIDIAN_PARENT_RUN_ID: "r99", MERIDIAN_TIER: "" }],
    ["with a space that is not there", { MERIDIAN_SPACE_ID: "s99", MERIDIAN_TIER: "" }],
  ])("a read-only run does not %s", async (_how, env) => {
    const scene = await inside("read-only")
    await scene.run(["run", "spawn", "-p", "child", "--space", "s1", "--permission", "full-access"], {
      env: { ...scene.env, ...env },
    })
    expect(recorded(scene, "r2")).toBe("read-only")
  })

  test("a read-only run does not continue one that could do more", async () => {
    const scene = openAttack()
    const claude = scene.harness("claude")
    await scene.run(["run", "spawn", "-p", "first", "--permission", "full-access"])
    await scene.run(["run", "spawn", "-p", "parent", "--space", "s1"])
    const env = claude.calls()[1]?.env ?? {}
    await scene.run(["run", "continue", "r1", "-p", "more", "--permission", "full-access"], { env })
    expect(recorded(scene, "r3")).toBe("read-only")
  })

  test("a read-only run does not hand a worker a plan of its own", async () => {
    const scene = await inside("read-only")
    const plan = {
      space: "s1",
      harness: "claude",
      model: "",
      skills: [],
      prompt: "child",
      cwd: scene.folder,
      session: { kind: "new" },
      launch: { permission: "danger", params: [] },
      depth: 1,
      background: true,
      policy: { maxParallel: 4, maxRetries: 0, backoffMs: 0, killGraceMs: 1000, notify: [] },
    }
    mkdirSync(join(scene.folder, "logs"))
    const log = join(scene.folder, "logs/worker.log")
    writeFileSync(log, "")
    const worker = spawn(process.execPath, [BINARY, "run", "worker", log], {
      cwd: scene.folder,
      env: scene.env,
      stdio: ["pipe", "ignore", "ignore", "pipe"],
    })
    worker.stdin?.end(JSON.stringify(plan))
    await once(worker, "close")
    expect(scene.claude.calls()).toHaveLength(1)
  })

  test("a chat with a tier does not start a run of more, and neither does what it starts", async () => {
    const scene = openAttack()
    const claude = scene.harness("claude")
    await scene.run(["start", "--permission", "workspace-write"])
    const chat = claude.calls()[0]?.env ?? {}
    await scene.run(["run", "spawn", "-p", "child", "--permission", "full-access"], { env: chat })
    const child = claude.calls()[1]?.env ?? {}
    await scene.run(["run", "spawn", "-p", "grandchild", "--permission", "danger"], { env: child })
    expect([recorded(scene, "r1"), recorded(scene, "r2")]).toEqual(["workspace-write", "workspace-write"])
  })

  test("a read-only run does not start a conversation that may do more", async () => {
    const scene = await inside("read-only")
    await scene.run(["start", "--permission", "danger"], { env: scene.env })
    expect(scene.claude.calls()[1]?.argv.join(" ")).toContain("--permission-mode default")
  })

  test("a run of the user's own powerful agent stays below its parent", async () => {
    const scene = await inside("read-only")
    const path = join(scene.home, ".claude/agents/mighty.md")
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, "---\nname: mighty\nsandbox: full-access\n---\nDo it.\n")
    await scene.run(["run", "spawn", "-p", "child", "-a", "mighty"], { env: scene.env })
    expect(recorded(scene, "r2")).toBe("read-only")
  })
})

describe("by MCP", () => {
  const connect = async (
    scene: AttackScene,
    env: Readonly<Record<string, string>>,
    ...flags: readonly string[]
  ) => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [BINARY, "serve", ...flags],
      cwd: scene.folder,
      env: { ...env },
    })
    const client = new Client({ name: "attack", version: "1.0.0" })
    await client.connect(transport)
    onTestFinished(() => client.close())
    return {
      client,
      call: (name: string, values: Record<string, unknown>) => client.callTool({ name, arguments: values }),
    }
  }

  test.each(["run_spawn", "run_continue"])("%s does not take danger", async (tool) => {
    const scene = await inside("danger")
    const { call, client } = await connect(scene, scene.env)
    const values = {
      prompt: "child",
      permission: "danger",
      ...(tool === "run_continue" ? { run_id: "r1" } : {}),
    }
    const answer = await call(tool, values)
    expect([answer.isError, scene.claude.calls().length]).toEqual([true, 1])
    const { tools } = await client.listTools()
    const offered = JSON.stringify(
      tools.find(({ name }) => name === tool)?.inputSchema.properties?.["permission"],
    )
    expect(offered).not.toContain("danger")
  })

  test.each(["workspace-write", "full-access"])(
    "run_spawn inside a read-only run does not give %s",
    async (permission) => {
      const scene = await inside("read-only")
      const { call } = await connect(scene, scene.env)
      const answer = await call("run_spawn", { prompt: "child", permission })
      expect([recorded(scene, "r2"), JSON.stringify(answer).includes("TIER_CAPPED")]).toEqual([
        "read-only",
        true,
      ])
    },
  )

  test("run_continue inside a read-only run does not give more either", async () => {
    const scene = await inside("read-only")
    const { call } = await connect(scene, scene.env)
    await call("run_continue", { run_id: "r1", prompt: "more", permission: "full-access" })
    expect(recorded(scene, "r2")).toBe("read-only")
  })

  test.each([
    ["without a flag, at the user's default", [], undefined, "read-only"],
    ["without a flag, at the default the user set", [], "workspace-write", "workspace-write"],
    ["at serve --permission", ["--permission", "workspace-write"], undefined, "workspace-write"],
    [
      "at serve --permission, below the user's default",
      ["--permission", "read-only"],
      "full-access",
      "read-only",
    ],
  ] as const)("outside of a run, run_spawn is held %s", async (_how, flags, configured, tier) => {
    const scene = openAttack()
    scene.harness("claude")
    const { call } = await connect(
      scene,
      { ...scene.env, ...(configured === undefined ? {} : { MERIDIAN_DEFAULT_PERMISSION_TIER: configured }) },
      ...flags,
    )
    await call("run_spawn", { prompt: "x", permission: "full-access" })
    expect(recorded(scene, "r1")).toBe(tier)
  })

  test("serve --permission inside a run gives no more than the run has", async () => {
    const scene = await inside("read-only")
    const { call } = await connect(scene, scene.env, "--permission", "full-access")
    await call("run_spawn", { prompt: "child", permission: "full-access" })
    expect(recorded(scene, "r2")).toBe("read-only")
  })
})
