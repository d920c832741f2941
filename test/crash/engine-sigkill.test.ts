/**
 * SIGKILL at random moments of a session with tools, on real files. MERIDIAN_KILLS=300 kills more often. The table it
 * prints has the columns of W5 in the README.
 */
import { mkdirSync, readFileSync, readdirSync, readlinkSync, rmSync, existsSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"

import { openEngine } from "@meridian/engine"
import { expect, test } from "vitest"

import { brokenLaws, integrityOf, rebuiltDifferently } from "../engine-laws.ts"
import { startEngineProcess } from "../engine-process.ts"
import { allEvents, makeDirectory } from "../engine-scene.ts"
import { createRandom } from "../sim/random.ts"
import { workerOptions } from "./engine-worker.ts"

/* oxlint-disable node/no-process-env -- the switches of this test */
const kills = Number(process.env["MERIDIAN_KILLS"] ?? 12)
const seed = Number(process.env["MERIDIAN_SIM_SEED"] ?? 1)
/* oxlint-enable node/no-process-env */

const sessionID = "ses_test"

interface Counts {
  acknowledged: number
  promptsLost: number
  toolsStarted: number
  toolsRunTwice: number
  /** Killed between its two marks: the log must say that it was interrupted. */
  toolsCut: number
  toolsUnreported: number
  /** Did something after the log had said that it was interrupted. */
  actedLate: number
}

/** Processes that work in this directory and descend from a dead engine. */
const leftoversIn = (directory: string): readonly string[] =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === directory && !isOurs(Number(pid))
    } catch {
      return false
    }
  })

/** The recovering engine may already run its own commands. */
const isOurs = (pid: number): boolean => {
  if (pid === process.pid) return true
  if (pid <= 1) return false
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
  return isOurs(Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]))
}

/** The shells whose calls have an outcome, by the names in their marks. */
const settledShells = (events: Awaited<ReturnType<typeof allEvents>>): ReadonlySet<string> => {
  const names = new Map<string, string>()
  const settled = new Set<string>()
  for (const event of events) {
    if (event.type === "session.next.tool.called.1") {
      const name = /sh\/[\d.]+/.exec(JSON.stringify(event.data.input))?.[0]
      if (name !== undefined) names.set(`${event.data.assistantMessageID}/${event.data.callID}`, name)
    }
    if (event.type === "session.next.tool.success.1" || event.type === "session.next.tool.failed.1") {
      const name = names.get(`${event.data.assistantMessageID}/${event.data.callID}`)
      if (name !== undefined) settled.add(name)
    }
  }
  return settled
}

const readMarks = (directory: string) => {
  const file = join(directory, "marks")
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : []
  const starting = (word: string) =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1))
  return { started: starting("start"), ended: new Set(starting("end")) }
}

test(
  `${kills} kills at random moments lose nothing and repeat nothing`,
  { timeout: 60_000 + kills * 10_000 },
  async () => {
    const base = makeDirectory()
    const directory = join(base, "project")
    const database = join(base, "engine.sqlite")
    mkdirSync(directory)
    const random = createRandom(seed)
    const acked: string[] = []
    let actedLate = 0
    const broken: string[] = []

    for (let kill = 1; kill <= kills; kill += 1) {
      const child = startEngineProcess({ database, directory, mode: "work" })
      await child.said(random.chance(0.1) ? "ready" : "acked")
      // The moment is what this test is about: anywhere in the first few turns.
      await delay(random.below(150))
      await child.kill()
      acked.push(...child.lines.filter((line) => line.startsWith("acked ")).map((line) => line.slice(6)))
      const engine = await openEngine(workerOptions({ database, directory }))
      const found = await allEvents(engine)
      const reported = settledShells(found)
      const before = readMarks(directory)
      // Recovery may resume pending work, but what it found must already be settled.
      broken.push(...brokenLaws(found, [], { settled: false }))
      await engine.sessions.wait(sessionID)
      if (kill % 10 === 0 || kill === kills) await engine.sessions.run(sessionID)
      broken.push(...brokenLaws(await allEvents(engine)))
      await engine.close()
      // A shell that was being forked when its engine died may still exist. It must end without doing anything.
      while (leftoversIn(directory).length > 0) await delay(5)
      const after = readMarks(directory)
      actedLate += after.started.filter((name) => reported.has(name) && !before.started.includes(name)).length
      if (integrityOf(database) !== "ok") broken.push(`kill ${kill}: the database is damaged`)
    }

    const engine = await openEngine(workerOptions({ database, directory }))
    const events = await allEvents(engine)
    await engine.close()
    const admitted = new Set<string>()
    const outcomes = new Set<string>()
    const shells = new Map<string, string>()
    for (const event of events) {
      if (event.type === "session.next.prompt.admitted.1") admitted.add(event.data.messageID)
      if (event.type === "session.next.tool.called.1" && event.data.tool === "bash") {
        const name = /sh\/(\S+)"/.exec(JSON.stringify(event.data.input))?.[1]?.replace("\\", "")
        shells.set(`sh/${name}`, `${event.data.assistantMessageID}/${event.data.callID}`)
      }
      if (event.type === "session.next.tool.success.1" || event.type === "session.next.tool.failed.1")
        outcomes.add(`${event.data.assistantMessageID}/${event.data.callID}`)
    }
    const { started, ended } = readMarks(directory)
    const cut = started.filter((name) => !ended.has(name))
    const counts: Counts = {
      acknowledged: acked.length,
      promptsLost: acked.filter((id) => !admitted.has(id)).length,
      toolsStarted: started.length,
      toolsRunTwice: started.length - new Set(started).size,
      toolsCut: cut.length,
      toolsUnreported: cut.filter((name) => !outcomes.has(shells.get(name) ?? name)).length,
      actedLate,
    }
    process.stdout.write(
      [
        `SIGKILL at ${kills} random moments:`,
        "| prompts acknowledged | prompts lost | tools started | tools run twice | cut by the kill | neither ended nor reported | acted after it was reported |",
        "|---|---|---|---|---|---|---|",
        `| ${Object.values(counts).join(" | ")} |`,
        "",
      ].join("\n"),
    )
    expect(broken).toEqual([])
    expect(counts).toMatchObject({
      promptsLost: 0,
      toolsRunTwice: 0,
      toolsUnreported: 0,
      actedLate: 0,
    })
    expect(counts.toolsStarted).toBeGreaterThan(kills / 2)
    expect(rebuiltDifferently(database)).toEqual([])
    rmSync(base, { recursive: true, force: true })
  },
)
