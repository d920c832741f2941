/** Two processes on one database: they see each other's work and never overwrite it. */
import { fork, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"

import { openEngine, type Engine } from "@meridian/engine"
import { expect, test } from "vitest"

import { brokenLaws, integrityOf, rebuiltDifferently } from "../engine-laws.ts"
import { startEngineProcess } from "../engine-process.ts"
import {
  ALLOW_ALL,
  allEvents,
  eventTypes,
  makeDirectory,
  scriptedModel,
  untilEvent,
} from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

const sessionID = "ses_test"

const openPlace = () => {
  const base = makeDirectory()
  const directory = join(base, "project")
  mkdirSync(directory)
  return {
    database: join(base, "engine.sqlite"),
    directory,
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
  }
}

const openHere = (database: string, leaseMs = 8_000): Promise<Engine> =>
  openEngine({ database, models: [scriptedModel([])], permissions: ALLOW_ALL, limits: { leaseMs } })

test("processes that make a new database at the same moment all get it", async () => {
  using place = openPlace()
  const openers = Array.from({ length: 4 }, () =>
    fork(join(import.meta.dirname, "open-database.entry.ts"), {
      execArgv: ["--conditions=meridian-source"],
    }),
  )
  const answer = async (opener: ChildProcess): Promise<unknown> => (await once(opener, "message"))[0]
  await Promise.all(openers.map(answer))
  const answers = new Set<unknown>()
  for (let number = 0; number < 40; number += 1) {
    const asked = openers.map((opener) => {
      opener.send(`${place.database}.${number}`)
      return answer(opener)
    })
    for (const told of await Promise.all(asked)) answers.add(told)
  }
  const ended = openers.map((opener) => once(opener, "exit"))
  for (const opener of openers) opener.disconnect()
  await Promise.all(ended)
  expect([...answers]).toEqual(["opened"])
})

verifies("events.second-process", async () => {
  using place = openPlace()
  const other = startEngineProcess({ ...place, mode: "commit" })
  await other.said("ready")
  const engine = await openHere(place.database)
  const seen: string[] = []
  const delays: bigint[] = []
  for await (const event of engine.sessions.events({ sessionID, follow: true })) {
    if (event.type === "session.next.prompt.admitted.1") {
      delays.push(process.hrtime.bigint() - BigInt(event.data.prompt.text))
      seen.push(event.data.prompt.text)
      if (seen.length === 5) break
    }
    if (event.type === "synced" || seen.length > 0) other.child.stdin?.write("go\n")
  }
  await other.said("acked", 5)
  const slowest = delays.reduce((most, delay) => (delay > most ? delay : most), 0n)
  process.stdout.write(`slowest commit of another process was seen after ${slowest / 1_000_000n} ms\n`)
  expect(new Set(seen).size).toBe(5)
  await engine.close()
  await other.kill()
})

test("a session that another process works on can be forked at any moment", async () => {
  using place = openPlace()
  const other = startEngineProcess({ ...place, mode: "work" })
  await other.said("acked", 2)
  const engine = await openHere(place.database)
  const forks: string[] = []
  for (let count = 3; count < 12; count += 1) {
    forks.push((await engine.sessions.fork({ sessionID })).id)
    await other.said("acked", count)
  }
  const broken = await Promise.all(forks.map(async (id) => brokenLaws(await allEvents(engine, id))))
  expect(broken.flat()).toEqual([])
  await other.kill()
  await engine.sessions.run(forks.at(-1) ?? "")
  await engine.close()
  expect(rebuiltDifferently(place.database)).toEqual([])
})

test("both may write at once: the sequence has no gaps and no prompt is lost", async () => {
  using place = openPlace()
  const other = startEngineProcess({ ...place, mode: "work" })
  await other.said("acked", 2)
  const engine = await openHere(place.database)
  for (let index = 0; index < 40; index += 1)
    await engine.sessions.prompt({ id: `here_${index}`, sessionID, prompt: { text: "here" } })
  await other.said("acked", 8)
  await other.kill()
  await engine.sessions.wait(sessionID)
  await engine.sessions.wake(sessionID)
  await engine.sessions.wait(sessionID)
  const events = await allEvents(engine)
  expect(brokenLaws(events)).toEqual([])
  const promoted = new Set(
    events.flatMap((event) =>
      event.type === "session.next.prompt.promoted.1" ? [String(event.data.messageID)] : [],
    ),
  )
  const acked = other.lines.filter((line) => line.startsWith("acked ")).map((line) => line.slice(6))
  const sent = [...acked, ...Array.from({ length: 40 }, (_, index) => `here_${index}`)]
  expect(sent.filter((id) => !promoted.has(id))).toEqual([])
  await engine.close()
})

test("a stopped process loses its session after the lease time, and cannot write when it continues", async () => {
  using place = openPlace()
  const frozen = startEngineProcess({ ...place, mode: "hang", leaseMs: 300 })
  await frozen.said("acked", 1)
  const watcher = await openHere(place.database, 300)
  await untilEvent(watcher, "tool.called", 2)
  await freezeOutsideCommit(frozen.child, place.database)
  await untilEvent(watcher, "tool.failed")
  const acked = frozen.lines.filter((line) => line.startsWith("acked")).length
  await watcher.sessions.run(sessionID)
  const taken = await allEvents(watcher)
  frozen.child.kill("SIGCONT")
  await frozen.said("acked", acked + 1)
  const events = await allEvents(watcher)
  expect(events.slice(0, taken.length)).toEqual(taken)
  expect(brokenLaws(events, [], { settled: false })).toEqual([])
  await frozen.kill()
  await watcher.close()
})

test("a killed process's session is free for the next one at once", async () => {
  using place = openPlace()
  const dead = startEngineProcess({ ...place, mode: "hang" })
  await dead.said("acked", 1)
  const watcher = await openHere(place.database)
  await untilEvent(watcher, "tool.called", 2)
  await watcher.close()
  await dead.kill()
  const engine = await openHere(place.database)
  expect((await eventTypes(engine)).filter((type) => type === "tool.failed").length).toBeGreaterThan(0)
  await engine.sessions.interrupt(sessionID)
  expect(brokenLaws(await allEvents(engine))).toEqual([])
  await engine.close()
})

test("four processes that open one new file at once agree on its tables", async () => {
  using place = openPlace()
  const processes = Array.from({ length: 4 }, () => startEngineProcess({ ...place, mode: "commit" }))
  await Promise.all(processes.map((started) => started.said("ready")))
  const engine = await openHere(place.database)
  expect(await eventTypes(engine)).toEqual(["created"])
  await engine.close()
  await Promise.all(processes.map((started) => started.kill()))
  expect(integrityOf(place.database)).toBe("ok")
})

/**
 * No process can write while one that stopped in the middle of a commit holds the database, so stop it at another moment.
 */
const freezeOutsideCommit = async (child: ChildProcess, database: string): Promise<void> => {
  for (;;) {
    child.kill("SIGSTOP")
    const raw = new DatabaseSync(database, { timeout: 0 })
    try {
      raw.exec("begin immediate; rollback")
      return
    } catch {
      child.kill("SIGCONT")
      await sleep(1)
    } finally {
      raw.close()
    }
  }
}
