/**
 * The HTTP server compared with a bare `node:http` + `node:sqlite` program that writes the same rows (`floor.entry.ts`),
 * each in its own process, driven by the same client in turn. `--quick` makes it short. Latency is from the answer of the
 * commit's request to the frame at the reader: the earliest moment anyone outside can know of the commit. Times on a busy
 * machine mean little; the processor time of the two processes (`processor`) is still reliable.
 */
import { writeFileSync } from "node:fs"
import { loadavg } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

import { median, percentile, PROMPT, temporaryFolder, type Line } from "../engine/scene.ts"
import { startDriven, type Driven } from "./drive.ts"

const quick = process.argv.includes("--quick")
const ROUNDS = quick ? 2 : 5
const KINDS = ["ours", "floor"] as const

interface Pair<Value> {
  readonly ours: Value
  readonly floor: Value
}

const lines: Line[] = []
const show = (line: Line): void => {
  lines.push(line)
  process.stdout.write(
    `${line.what.padEnd(60)} ours ${line.ours.padStart(11)}  floor ${line.floor.padStart(11)}  ratio ${line.ratio.toFixed(2)} (${line.limit})\n`,
  )
}

interface Spending {
  /** Adds what the server spends while the work is done. */
  readonly during: <Value>(
    kind: (typeof KINDS)[number],
    driven: Driven,
    work: () => Promise<Value>,
  ) => Promise<Value>
  /** `count`: how much was done in one round. */
  readonly show: (what: string, count: number) => void
}

const makeSpending = (): Spending => {
  const spent = { ours: [] as number[], floor: [] as number[] }
  return {
    during: async (kind, driven, work) => {
      const before = await driven.spent()
      const value = await work()
      spent[kind].push((await driven.spent()) - before)
      return value
    },
    show: (what, count) => {
      const each = (kind: (typeof KINDS)[number]): number => (median(spent[kind]) / count) * 1_000
      show({
        what: `${what}, processor`,
        ours: `${each("ours").toFixed(1)} us`,
        floor: `${each("floor").toFixed(1)} us`,
        ratio: each("floor") / each("ours"),
        limit: "1 is as cheap",
      })
    },
  }
}

const newSession = async (driven: Driven, folder: string): Promise<string> =>
  (await driven.post("/api/session", { location: { directory: folder } })).id

/** From sending a prompt to the frame at every reader, in milliseconds. */
const deliver = async (driven: Driven, folder: string, readers: number, count: number): Promise<number[]> => {
  const session = await newSession(driven, folder)
  const late: number[] = []
  let sent = 0
  let missing = 0
  let arrived = Promise.withResolvers<void>()
  const onEvent = (_seq: number, at: number): void => {
    if (sent === 0) return
    late.push(at - sent)
    missing -= 1
    if (missing === 0) arrived.resolve()
  }
  const stops = await Promise.all(Array.from({ length: readers }, () => driven.follow(session, onEvent)))
  for (let index = 0; index < count; index += 1) {
    arrived = Promise.withResolvers<void>()
    missing = readers
    sent = performance.now()
    await driven.post(`/api/session/${session}/prompt`, { prompt: { text: PROMPT.text }, resume: false })
    await arrived.promise
  }
  for (const stop of stops) stop()
  return late
}

const benchDelivery = async (servers: Pair<Driven>, folder: string, readers: number, count: number) => {
  const late = { ours: [] as number[], floor: [] as number[] }
  const spending = makeSpending()
  for (let round = 0; round < ROUNDS; round += 1)
    for (const kind of KINDS) {
      const work = () => deliver(servers[kind], folder, readers, count)
      late[kind].push(...(await spending.during(kind, servers[kind], work)))
    }
  for (const [name, share] of [
    ["p50", 0.5],
    ["p99", 0.99],
  ] as const)
    show({
      what: `prompt sent to frame at ${readers === 1 ? "the reader" : `each of ${readers} readers`}, ${name}`,
      ours: `${percentile(late.ours, share).toFixed(2)} ms`,
      floor: `${percentile(late.floor, share).toFixed(2)} ms`,
      ratio: percentile(late.floor, share) / percentile(late.ours, share),
      limit: "1 is as fast",
    })
  spending.show(`prompt and its frame at ${readers === 1 ? "the reader" : `${readers} readers`}`, count)
}

/** Ours only: how long after the answer to the prompt its frame arrives. Negative means before the answer. */
const benchAfterCommit = async (ours: Driven, folder: string, count: number) => {
  const session = await newSession(ours, folder)
  const seen = new Map<number, number>()
  const stop = await ours.follow(session, (seq, at) => void seen.set(seq, at))
  const late: number[] = []
  for (let index = 0; index < count; index += 1) {
    const { admittedSeq } = await ours.post(`/api/session/${session}/prompt`, {
      prompt: { text: PROMPT.text },
      resume: false,
    })
    const answered = performance.now()
    while (!seen.has(admittedSeq)) await new Promise((resolve) => setImmediate(resolve))
    late.push((seen.get(admittedSeq) ?? 0) - answered)
  }
  stop()
  for (const [name, share] of [
    ["p50", 0.5],
    ["p99", 0.99],
  ] as const)
    show({
      what: `answer of the commit to frame at the reader, ${name}`,
      ours: `${percentile(late, share).toFixed(2)} ms`,
      floor: "-",
      ratio: percentile(late, share),
      limit: "milliseconds",
    })
}

const benchRequests = async (servers: Pair<Driven>, folder: string, count: number, resume: boolean) => {
  const rates = { ours: [] as number[], floor: [] as number[] }
  const work = async (driven: Driven): Promise<void> => {
    const session = await newSession(driven, folder)
    await driven.post(`/api/session/${session}/prompt`, { prompt: { text: PROMPT.text }, resume })
  }
  const spending = makeSpending()
  for (let round = 0; round < ROUNDS; round += 1)
    for (const kind of KINDS) {
      const started = performance.now()
      await spending.during(kind, servers[kind], () =>
        Promise.all(
          Array.from({ length: 16 }, async () => {
            for (let index = 0; index < count / 16; index += 1) await work(servers[kind])
          }),
        ),
      )
      rates[kind].push((2 * count) / ((performance.now() - started) / 1_000))
    }
  show({
    what: `create + prompt${resume ? ", model answers at once" : ", admitted only"}, requests a second`,
    ours: median(rates.ours).toFixed(0),
    floor: median(rates.floor).toFixed(0),
    ratio: median(rates.ours) / median(rates.floor),
    limit: resume ? "the floor writes the same events" : "1 is as fast",
  })
  spending.show(
    `create + prompt${resume ? ", model answers at once" : ", admitted only"}, a request`,
    2 * count,
  )
}

/** Writes events directly into the tables, because creating them is not measured. */
const fill = (folder: string, events: number): void => {
  const data = JSON.stringify({ assistantMessageID: "msg_1", text: "t".repeat(400) })
  const type = "session.next.text.ended.1"
  const ours = new DatabaseSync(join(folder, "ours.sqlite"))
  ours.exec("pragma busy_timeout=5000; pragma synchronous=off; begin")
  const key = 1_000_000
  ours
    .prepare("insert into session (key, id, seq, directory, created, updated) values (?, ?, ?, ?, 0, 0)")
    .run(key, "ses_replay", events, "/")
  const insertOurs = ours.prepare("insert into event (id, type, time, data) values (?, ?, ?, ?)")
  for (let seq = 1; seq <= events; seq += 1) insertOurs.run(key * 2_147_483_648 + seq, type, 0, data)
  ours.exec("commit")
  ours.close()
  const floor = new DatabaseSync(join(folder, "floor.sqlite"))
  floor.exec("pragma busy_timeout=5000; pragma synchronous=off; begin")
  const insertFloor = floor.prepare("insert into event values (?, ?, ?, ?, ?)")
  for (let seq = 1; seq <= events; seq += 1) insertFloor.run("ses_replay", seq, type, 0, data)
  floor.exec("commit")
  floor.close()
}

const benchReplay = async (servers: Pair<Driven>, folder: string, events: number) => {
  fill(folder, events)
  const times = { ours: [] as number[], floor: [] as number[] }
  const spending = makeSpending()
  for (let round = 0; round < ROUNDS; round += 1)
    for (const kind of KINDS) {
      let seen = 0
      const started = performance.now()
      const work = () => servers[kind].follow("ses_replay", () => (seen += 1))
      const stop = await spending.during(kind, servers[kind], work)
      times[kind].push(performance.now() - started)
      stop()
      if (seen !== events) throw new Error(`${kind} replayed ${seen} of ${events}`)
    }
  show({
    what: `replay of ${events} events`,
    ours: `${median(times.ours).toFixed(0)} ms`,
    floor: `${median(times.floor).toFixed(0)} ms`,
    ratio: median(times.floor) / median(times.ours),
    limit: "1 is as fast",
  })
  spending.show("replay, an event", events)
}

process.stdout.write(`node ${process.versions.node}, load ${loadavg()[0]?.toFixed(2)}\n`)
const folder = temporaryFolder()
const servers = {
  ours: await startDriven("ours", folder.path),
  floor: await startDriven("floor", folder.path),
}
try {
  await benchDelivery(servers, folder.path, 1, quick ? 50 : 300)
  await benchAfterCommit(servers.ours, folder.path, quick ? 100 : 1_000)
  await benchDelivery(servers, folder.path, 100, quick ? 10 : 50)
  await benchRequests(servers, folder.path, quick ? 160 : 800, false)
  await benchRequests(servers, folder.path, quick ? 160 : 800, true)
  await benchReplay(servers, folder.path, quick ? 10_000 : 100_000)
} finally {
  await servers.ours.close()
  await servers.floor.close()
  folder.remove()
}
if (!quick)
  writeFileSync(
    "bench/server/result.json",
    `${JSON.stringify({ node: process.versions.node, lines }, undefined, 2)}\n`,
  )
