/** W4 and opening: appending, replaying, tailing, and the cost of opening a large database. */
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

import { openEngine, type Engine } from "../../packages/engine/dist/index.js"
import { median, percentile, PROMPT, temporaryFolder, type Line } from "./scene.ts"

const open = (file: string): Promise<Engine> =>
  openEngine({
    database: file,
    models: [{ id: "bench/none", provider: "scripted", contextWindow: 1_000, maxOutput: 100 }],
    limits: { pendingInputs: 10_000_000 },
  })

/** Waiting inputs of one session, at the default limit. */
const BACKLOG = 200

export const benchAppend = async (count: number): Promise<Line> => {
  const folder = temporaryFolder()
  const engine = await open(join(folder.path, "ours.sqlite"))
  const sessions: string[] = []
  for (let made = 0; made < (count * 5) / BACKLOG; made += 1)
    sessions.push((await engine.sessions.create({ location: { directory: folder.path } })).id)
  let admitted = 0
  const raw = new DatabaseSync(join(folder.path, "raw.sqlite"))
  raw.exec(
    `pragma journal_mode=wal; pragma synchronous=full;
     create table event (id integer primary key, type text, time integer, data text) strict;
     create table input (id text primary key, admitted integer) strict;
     create table session (key integer primary key, seq integer) strict; insert into session values (1, 0);`,
  )
  const insert = raw.prepare("insert into event values (?, ?, ?, ?)")
  const project = raw.prepare("insert into input values (?, ?)")
  const move = raw.prepare("update session set seq = ?")
  const rates = { ours: [] as number[], raw: [] as number[] }
  let seq = 0
  for (let round = 0; round < 5; round += 1) {
    const startOurs = performance.now()
    for (let index = 0; index < count; index += 1) {
      const sessionID = sessions[Math.floor(admitted / BACKLOG)] ?? ""
      admitted += 1
      await engine.sessions.prompt({ sessionID, prompt: { text: PROMPT.text }, resume: false })
    }
    rates.ours.push(count / (performance.now() - startOurs))
    const startRaw = performance.now()
    for (let index = 0; index < count; index += 1) {
      seq += 1
      raw.exec("begin immediate")
      insert.run(
        seq,
        "session.next.prompt.admitted.1",
        Date.now(),
        JSON.stringify({ id: `m${seq}`, prompt: { text: PROMPT.text } }),
      )
      project.run(`m${seq}`, seq)
      move.run(seq)
      raw.exec("commit")
    }
    rates.raw.push(count / (performance.now() - startRaw))
  }
  await engine.close()
  raw.close()
  folder.remove()
  return {
    what: "W4 append (admission, FULL), per second",
    ours: (median(rates.ours) * 1_000).toFixed(0),
    floor: (median(rates.raw) * 1_000).toFixed(0),
    ratio: median(rates.ours) / median(rates.raw),
    limit: "at least 0.6",
  }
}

/** Writes the events of one session directly into the table, because creating them is not measured. */
const fill = (file: string, sessions: number, events: number): void => {
  const raw = new DatabaseSync(file)
  raw.exec("pragma synchronous=off; begin")
  const insert = raw.prepare("insert into event (id, type, time, data) values (?, ?, ?, ?)")
  const session = raw.prepare(
    "insert into session (key, id, seq, directory, created, updated) values (?, ?, ?, ?, 0, 0)",
  )
  const data = JSON.stringify({ assistantMessageID: "msg_1", text: "t".repeat(400) })
  for (let key = 2; key < sessions + 2; key += 1) {
    session.run(key, `ses_${key}`, events, "/")
    for (let seq = 1; seq <= events; seq += 1)
      insert.run(key * 2_147_483_648 + seq, "session.next.text.ended.1", 0, data)
  }
  raw.exec("commit")
  raw.close()
}

export const benchReplay = async (events: number): Promise<Line> => {
  const folder = temporaryFolder()
  const file = join(folder.path, "ours.sqlite")
  const first = await open(file)
  await first.sessions.create({ location: { directory: folder.path } })
  await first.close()
  fill(file, 1, events)
  const engine = await open(file)
  const raw = new DatabaseSync(file)
  const select = raw.prepare("select id, type, time, data from event where id > ? and id < ? order by id")
  const times = { ours: [] as number[], raw: [] as number[] }
  for (let round = 0; round < 5; round += 1) {
    const startOurs = performance.now()
    let seen = 0
    for await (const event of engine.sessions.events({ sessionID: "ses_2" }))
      if (event.type !== "synced") seen += 1
    times.ours.push(performance.now() - startOurs)
    if (seen !== events) throw new Error(`replayed ${seen} of ${events}`)
    const startRaw = performance.now()
    for (const row of select.iterate(2 * 2_147_483_648, 3 * 2_147_483_648)) JSON.parse(String(row["data"]))
    times.raw.push(performance.now() - startRaw)
  }
  raw.close()
  await engine.close()
  folder.remove()
  return {
    what: `W4 replay of ${events} events`,
    ours: `${median(times.ours).toFixed(0)} ms`,
    floor: `${median(times.raw).toFixed(0)} ms`,
    ratio: median(times.raw) / median(times.ours),
    limit: "at least 0.7",
  }
}

export const benchTail = async (count: number): Promise<Line> => {
  const folder = temporaryFolder()
  const engine = await open(join(folder.path, "ours.sqlite"))
  const { id } = await engine.sessions.create({ location: { directory: folder.path } })
  const committed = new Map<number, number>()
  const late: number[] = []
  const reading = (async () => {
    for await (const event of engine.sessions.events({ sessionID: id, follow: true })) {
      if (event.type !== "session.next.prompt.admitted.1") continue
      late.push(performance.now() - (committed.get(event.seq) ?? performance.now()))
      if (late.length === count) return
    }
  })()
  for (let index = 0; index < count; index += 1) {
    const admitting = engine.sessions.prompt({ sessionID: id, prompt: { text: PROMPT.text }, resume: false })
    // The commit happens inside the call, and its end is the earliest moment anyone outside can know of it.
    const { admittedSeq } = await admitting
    if (!committed.has(admittedSeq)) committed.set(admittedSeq, performance.now())
    await new Promise((resolve) => setImmediate(resolve))
  }
  await reading
  await engine.close()
  folder.remove()
  return {
    what: "W4 commit to tail, p99",
    ours: `${percentile(late, 0.99).toFixed(2)} ms`,
    floor: "-",
    ratio: percentile(late, 0.99),
    limit: "under 5 ms",
  }
}

export const benchOpen = async (sessions: number, events: number): Promise<Line> => {
  const folder = temporaryFolder()
  const small = join(folder.path, "small.sqlite")
  const large = join(folder.path, "large.sqlite")
  for (const file of [small, large]) await (await open(file)).close()
  fill(large, sessions, Math.floor(events / sessions))
  const time = async (file: string): Promise<number> => {
    const started = performance.now()
    const engine = await open(file)
    const took = performance.now() - started
    await engine.close()
    return took
  }
  const times = { small: [] as number[], large: [] as number[] }
  for (let round = 0; round < 15; round += 1) {
    times.small.push(await time(small))
    times.large.push(await time(large))
  }
  folder.remove()
  return {
    what: `opening ${sessions} sessions with ${events} events`,
    ours: `${median(times.large).toFixed(2)} ms`,
    floor: `${median(times.small).toFixed(2)} ms (empty)`,
    ratio: median(times.large) / median(times.small),
    limit: "at most 1.1",
  }
}

/** The heap of idle sessions, without the text of their history. */
export const benchIdle = async (count: number): Promise<Line> => {
  const folder = temporaryFolder()
  const engine = await openEngine({
    database: join(folder.path, "ours.sqlite"),
    models: [{ id: "bench/echo", provider: "scripted", contextWindow: 100_000, maxOutput: 100 }],
    permissions: [{ action: "*", resource: "*", effect: "allow" }],
  })
  setFlagsFromString("--expose-gc")
  const collectGarbage = runInNewContext("gc") as () => void
  const collect = (): number => {
    collectGarbage()
    collectGarbage()
    return process.memoryUsage().heapUsed + process.memoryUsage().external
  }
  const one = async (): Promise<void> => {
    const { id } = await engine.sessions.create({ location: { directory: folder.path } })
    await engine.sessions.prompt({ sessionID: id, prompt: { text: PROMPT.text } })
    await engine.sessions.wait(id)
  }
  for (let index = 0; index < 20; index += 1) await one()
  const before = collect()
  for (let index = 0; index < count; index += 1) await one()
  const kilobytes = (collect() - before) / count / 1_024
  await engine.close()
  folder.remove()
  return {
    what: "W3 memory per idle session",
    ours: `${kilobytes.toFixed(1)} KB`,
    floor: "-",
    ratio: kilobytes,
    limit: "under 20 KB",
  }
}
