/** The README's first command, and what it tells people to do next. */
import { spawn, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { createClient } from "@meridian/server/client"
import { expect, test } from "vitest"

import { brokenPromises, type Measured } from "../../demo/measure.ts"

const ROOT = join(import.meta.dirname, "../..")

test("the demo keeps its promises, fits a terminal, leaves no process, and its session opens in the page as it says", async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "meridian-demo-test-")))
  const temporary = join(base, "with a space")
  mkdirSync(temporary)
  const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: base, TMPDIR: temporary }
  const demo = spawnSync(process.execPath, ["demo/run.ts"], { cwd: ROOT, env, encoding: "utf8" })
  expect([demo.status, demo.stderr]).toEqual([0, ""])
  expect(demo.stdout).toContain("Every promise was kept.")
  expect(demo.stdout).not.toContain("\u001b")
  const lines = demo.stdout.split("\n")
  const command = lines.find((line) => line.includes("serve --http")) ?? ""
  expect(lines.filter((line) => line !== command && line.length > 80)).toEqual([])
  expect(readdirSync(temporary)).toHaveLength(1)

  const server = spawn("sh", ["-c", `exec ${command.trim()} --port 0`], {
    cwd: ROOT,
    env: { ...env, MERIDIAN_STATE_ROOT: join(base, "state") },
    stdio: ["ignore", "pipe", "pipe"],
  })
  let said = ""
  for (const stream of [server.stdout, server.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said += text))
  const ended = new Promise((resolve) => server.once("exit", resolve))
  while (!/#token=\S+\n/.test(said) && server.exitCode === null)
    await new Promise((resolve) => setImmediate(resolve))
  const [, url = "", token = ""] = /Page: (http:\S+)\/#token=(\S+)/.exec(said) ?? [said]
  const { sessions } = createClient({ url, token })
  expect(await sessions.get({ sessionID: "ses_demo" })).toMatchObject({
    title: "Make the invoice tests pass",
    status: "idle",
  })
  const { items } = await sessions.receipts({ sessionID: "ses_demo" })
  expect(items.length).toBeGreaterThanOrEqual(2)
  expect((await fetch(`${url}/`)).headers.get("content-type")).toContain("text/html")
  // The project still exists, so the session can continue.
  await sessions.prompt({ sessionID: "ses_demo", prompt: { text: "And now?" } })
  expect(await sessions.wait({ sessionID: "ses_demo" })).toMatchObject({ settled: true })
  server.kill("SIGTERM")
  expect(await ended).toBe(0)
  rmSync(base, { recursive: true, force: true })
})

const KEPT: Measured = {
  events: 83,
  turns: 14,
  tools: new Map([["read", 9]]),
  calls: 13,
  settled: 13,
  interrupted: 1,
  compactions: [
    { before: 7_000, after: 4_000, messages: 3, told: 4, kept: 2 },
    { before: 7_000, after: 4_000, messages: 3, told: 5, kept: 3 },
  ],
  window: 7_200,
  requestsAfter: 10,
  shown: { objective: 10, decision: 10, rule: 10, todo: 10 },
  commandWrote: "started",
  processes: 0,
  statusAfterCrash: "interrupted",
  resumedWell: true,
  testsPass: true,
  seconds: 2,
}

test("a run in which everything was so breaks no promise, also where processes cannot be counted", () => {
  expect(brokenPromises(KEPT)).toEqual([])
  expect(brokenPromises({ ...KEPT, processes: undefined })).toEqual([])
})

test.each<readonly [string, Partial<Measured>]>([
  ["the session was interrupted by the crash, not lost", { statusAfterCrash: "idle" }],
  ["the resumed process ended well", { resumedWell: false }],
  ["it was compacted at least twice", { compactions: KEPT.compactions.slice(1) }],
  [
    "every compaction made room",
    { compactions: KEPT.compactions.map((each) => ({ ...each, after: each.before })) },
  ],
  ["the summariser forgot half", { compactions: KEPT.compactions.map((each) => ({ ...each, kept: 4 })) }],
  ["every call has one outcome", { settled: 12 }],
  ["the killed command was reported once and not run again", { commandWrote: "started\nended" }],
  ["the killed command was reported once and not run again", { interrupted: 2 }],
  ["the rule stood in every request after a compaction", { shown: { ...KEPT.shown, rule: 9 } }],
  ["the task was finished", { testsPass: false }],
  ["no process is left", { processes: 1 }],
  ["it took less than a minute", { seconds: 61 }],
])("a run is broken in which it is not so that %s", (promise, changes) => {
  expect(brokenPromises({ ...KEPT, ...changes })).toEqual([promise])
})
