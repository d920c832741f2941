/** What a killed engine's commands leave behind: nothing. */
import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"

import { openEngine } from "@meridian/engine"
import { describe, expect, test } from "vitest"

import { openControlGroup } from "../../packages/engine/src/tool/control-group.ts"
import { endLeftovers } from "../../packages/engine/src/tool/end-leftovers.ts"
import { openProcessGuard } from "../../packages/engine/src/tool/process-guard.ts"
import { findProcesses, type ProcessRow } from "../../packages/engine/src/tool/process-table.ts"
import { openWorkspace, type Workspace } from "../tool-scene.ts"

const startEngine = (space: Workspace, database: string): ChildProcess =>
  spawn(
    process.execPath,
    [
      "--conditions=meridian-source",
      join(import.meta.dirname, "tool-engine.entry.ts"),
      database,
      space.root,
      COMMAND,
    ],
    { stdio: "ignore", detached: true },
  )

const killGuardOf = async (owner: ChildProcess): Promise<void> => {
  const guards = await findProcesses(async ({ pid }) => {
    const [line, stat] = await Promise.all([
      readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""),
      readFile(`/proc/${pid}/stat`, "latin1").catch(() => ""),
    ])
    return line.includes("meridian-guard") && stat.split(") ")[1]?.split(" ")[1] === String(owner.pid)
  })
  expect(guards).toHaveLength(1)
  for (const { pid } of guards) process.kill(pid, "SIGKILL")
}

const startOwner = (space: Workspace, command: string): ChildProcess =>
  spawn(
    process.execPath,
    [
      "--conditions=meridian-source",
      join(import.meta.dirname, "tool-owner.entry.ts"),
      space.root,
      space.outputDirectory,
      command,
    ],
    { stdio: "ignore", detached: true },
  )

const pidsIn = async (file: string, count: number): Promise<readonly number[]> => {
  for (;;) {
    const text = await readFile(file, "utf8").catch(() => "")
    const pids = text.split("\n").filter((line) => line !== "")
    if (pids.length === count) return pids.map(Number)
    await delay(10)
  }
}

const running = (pids: readonly number[]): Promise<readonly ProcessRow[]> =>
  findProcesses(async (row) => pids.includes(row.pid))

const untilGone = async (pids: readonly number[]): Promise<void> => {
  while ((await running(pids)).length > 0) await delay(10)
}

/** The shell, a child that ignores everything, one in its own session, one without its environment. */
const COMMAND = `echo $$ >> pids
trap '' TERM HUP INT
sh -c 'trap "" TERM HUP INT; echo $$ >> pids; while :; do sleep 1000; done' &
setsid sh -c 'echo $$ >> pids; sleep 1000; true' &
env -i sh -c 'echo $$ >> pids; /bin/sleep 1000; true' &
sleep 1000; true`

test("SIGKILL of the engine ends every process of its commands", async () => {
  await using space = await openWorkspace()
  const owner = startOwner(space, COMMAND)
  const pids = await pidsIn(join(space.root, "pids"), 4)
  expect(await running(pids)).toHaveLength(4)
  owner.kill("SIGKILL")
  await once(owner, "exit")
  await untilGone(pids)
})

test("SIGKILL of the engine's whole process group does too", async () => {
  await using space = await openWorkspace()
  const owner = startOwner(space, COMMAND)
  const pids = await pidsIn(join(space.root, "pids"), 4)
  process.kill(-(owner.pid ?? 0), "SIGKILL")
  await once(owner, "exit")
  await untilGone(pids)
})

describe("what left its session and cleared its environment", () => {
  const HIDDEN = `setsid env -i sh -c 'echo $$ >> pids; /bin/sleep 1000; true' > /dev/null 2>&1 &`

  /** If the system has no control groups for us, docs/security.md says that such a process can outlive the engine. */
  const expectEnd = async (pids: readonly number[]): Promise<void> => {
    const probe = openControlGroup("probe")
    await probe?.end()
    if (probe !== undefined) return untilGone(pids)
    expect(await running(pids)).toHaveLength(pids.length)
    for (const pid of pids) process.kill(pid, "SIGKILL")
  }

  test("ends when the engine is closed", async () => {
    await using space = await openWorkspace()
    const engine = await openEngine({
      database: join(space.base, "engine.sqlite"),
      models: [
        {
          id: "scripted/one",
          provider: "scripted",
          contextWindow: 100_000,
          maxOutput: 1000,
          script: [{ tools: [{ name: "bash", input: { command: HIDDEN } }] }, { text: "done" }],
        },
      ],
      permissions: [{ action: "*", resource: "*", effect: "allow" }],
    })
    const { id: sessionID } = await engine.sessions.create({ location: { directory: space.root } })
    await engine.sessions.prompt({ sessionID, prompt: { text: "go" } })
    await engine.sessions.wait(sessionID)
    const pids = await pidsIn(join(space.root, "pids"), 1)
    expect(await running(pids)).toHaveLength(1)
    await engine.close()
    await expectEnd(pids)
  })

  test("ends when the engine is killed", async () => {
    await using space = await openWorkspace()
    const owner = startOwner(space, `${HIDDEN} sleep 1000; true`)
    const pids = await pidsIn(join(space.root, "pids"), 1)
    owner.kill("SIGKILL")
    await once(owner, "exit")
    await expectEnd(pids)
  })

  test("ends with the next engine that runs a command when the guard is killed as well", async () => {
    await using space = await openWorkspace()
    const owner = startOwner(space, `${HIDDEN} sleep 1000; true`)
    const pids = await pidsIn(join(space.root, "pids"), 1)
    await killGuardOf(owner)
    owner.kill("SIGKILL")
    await once(owner, "exit")
    const guard = openProcessGuard()
    await guard.ready()
    await expectEnd(pids)
    await guard.close()
    const calls = [{ sessionID: "ses_1", messageID: "msg_1", callID: "call_1" }]
    await endLeftovers({ calls, scope: space.root })
  })
})

test("when the guard is killed as well, the next engine ends what is left before it goes on", async () => {
  await using space = await openWorkspace()
  const owner = startOwner(space, COMMAND)
  const pids = await pidsIn(join(space.root, "pids"), 4)
  await killGuardOf(owner)
  owner.kill("SIGKILL")
  await once(owner, "exit")
  expect(await running(pids)).toHaveLength(4)
  const calls = [{ sessionID: "ses_1", messageID: "msg_1", callID: "call_1" }]
  expect(await endLeftovers({ calls, scope: `${space.root}-other` })).toBe(0)
  expect(await endLeftovers({ calls, scope: space.root })).toBeGreaterThanOrEqual(4)
  expect(await running(pids)).toEqual([])
  expect(await endLeftovers({ calls, scope: space.root })).toBe(0)
})

test("a reopened engine has ended the processes when it shows the call as interrupted", async () => {
  await using space = await openWorkspace()
  const database = join(space.base, "engine.sqlite")
  const owner = startEngine(space, database)
  const pids = await pidsIn(join(space.root, "pids"), 4)
  await killGuardOf(owner)
  owner.kill("SIGKILL")
  await once(owner, "exit")
  expect(await running(pids)).toHaveLength(4)
  const engine = await openEngine({ database, models: [] })
  try {
    const events = engine.sessions.events({ sessionID: "ses_killed", follow: true })
    for await (const { type, data } of events) {
      if (!type.includes("tool.failed")) continue
      expect(data).toMatchObject({ error: { message: "Tool execution interrupted" } })
      break
    }
    expect(await running(pids)).toEqual([])
  } finally {
    await engine.close()
  }
})
