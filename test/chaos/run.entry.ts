/**
 * The chaos run: three nodes with real shells, each on a way of its own to a real Postgres, and fault after fault: kill -9,
 * freezes, cuts in one or both directions, crashes and restarts of the server, nodes that leave. Then the logs and the marks of
 * the shells are compared: nothing acknowledged is lost, nothing acted twice or after it was reported, no law is broken, numbers
 * never fall, and every reader saw a prefix.
 *
 *   npm run test:chaos                       for 60 s, or for MERIDIAN_CHAOS_SECONDS; MERIDIAN_SIM_SEED=7 for another order of faults
 *   npm run test:chaos -- --secs 600
 *   npm run test:chaos -- --faults 1000
 */
import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as delay } from "node:timers/promises"
import { parseArgs } from "node:util"

import { openEngine, type SessionEvent } from "@meridian/engine"
import { openPostgres } from "@meridian/testkit/postgres-server"
import { Client } from "pg"

import { brokenLaws } from "../engine-laws.ts"
import { createRandom } from "../sim/random.ts"
import { openProxy, type Cut, type CuttableProxy } from "./cuttable-proxy.ts"

const LEASE_MS = 3_000
const SESSIONS = 6
const NODES = 3

const { values } = parseArgs({
  options: { faults: { type: "string" }, secs: { type: "string" } },
})
/* oxlint-disable node/no-process-env -- the switches of this run */
const seed = Number(process.env["MERIDIAN_SIM_SEED"] ?? 1)
const wished = values.secs ?? process.env["MERIDIAN_CHAOS_SECONDS"]
/* oxlint-enable node/no-process-env */
const mostFaults = Number(values.faults ?? Number.POSITIVE_INFINITY)
const secs = Number(wished ?? (values.faults === undefined ? 60 : Number.POSITIVE_INFINITY))
const say = (line: string): void => void process.stdout.write(`${line}\n`)
if (!(secs > 0 && mostFaults > 0)) {
  say("FAILED: the run takes a number of seconds, or of faults")
  process.exit(2)
}
/** A run that continues this long after its last fault hangs. */
const PATIENCE_MS = 240_000

const base = realpathSync(
  mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "meridian-chaos-")),
)
const directory = join(base, "project")
mkdirSync(directory)
const server = await openPostgres([])
const random = createRandom(seed)

interface Node {
  readonly child: ChildProcess
  readonly proxy: CuttableProxy
  readonly exited: Promise<unknown>
}

const acked = new Map<string, string>()
let faults = 0
/** However this ends, none of its processes stays. */
const children = new Set<ChildProcess>()
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL")
})
if (Number.isFinite(secs))
  setTimeout(
    () => {
      say(`FAILED: ${faults} faults, ${acked.size} prompts acknowledged, and then the run hung`)
      process.exit(2)
    },
    secs * 1_000 + PATIENCE_MS,
  ).unref()
const startNode = async (): Promise<Node> => {
  const proxy = await openProxy(server.port)
  const child = spawn(
    process.execPath,
    [
      "--conditions=meridian-source",
      join(import.meta.dirname, "node.entry.ts"),
      `postgres://meridian@127.0.0.1:${proxy.port}/postgres?schema=chaos`,
      directory,
      String(LEASE_MS),
      String(SESSIONS),
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  )
  createInterface({ input: child.stdout }).on("line", (line) => {
    const [word, id = "", session = ""] = line.split(" ")
    if (word === "acked") acked.set(id, session)
  })
  children.add(child)
  const exited = once(child, "exit").finally(() => children.delete(child))
  return { child, proxy, exited }
}

const nodes: Node[] = []
for (let count = 0; count < NODES; count += 1) nodes.push(await startNode())

const replace = async (index: number): Promise<void> => {
  const [gone] = nodes.splice(index, 1)
  await gone?.exited
  gone?.proxy.close()
  nodes.push(await startNode())
}
const cut = async (index: number, how: Cut): Promise<void> => {
  nodes[index]?.proxy.cut(how)
  await delay(LEASE_MS * (0.1 + random.below(120) / 100))
  nodes[index]?.proxy.cut("none")
}

const FAULTS: Readonly<Record<string, (index: number) => Promise<void>>> = {
  "kill -9": async (index) => {
    nodes[index]?.child.kill("SIGKILL")
    await replace(index)
  },
  freeze: async (index) => {
    nodes[index]?.child.kill("SIGSTOP")
    await delay(LEASE_MS * (0.2 + random.below(130) / 100))
    nodes[index]?.child.kill("SIGCONT")
  },
  "cut both ways": (index) => cut(index, "both"),
  "cut answers": (index) => cut(index, "answers"),
  "cut requests": (index) => cut(index, "requests"),
  "server crash": async () => {
    await server.stop("crash")
    await server.start()
  },
  "server restart": async () => {
    await server.stop()
    await server.start()
  },
  SIGTERM: async (index) => {
    nodes[index]?.child.kill("SIGTERM")
    await replace(index)
  },
}
/** Faults that cost little time come more often, so that a run has many. */
const ORDER = [
  "kill -9",
  "SIGTERM",
  "cut answers",
  "kill -9",
  "freeze",
  "server restart",
  "kill -9",
  "cut both ways",
  "SIGTERM",
  "server crash",
  "kill -9",
  "cut requests",
] as const

const address = `${server.address}?schema=chaos`
const open = () =>
  openEngine({
    database: address,
    worker: false,
    models: [
      {
        id: "fake/one",
        provider: "scripted",
        contextWindow: 1_000_000,
        maxOutput: 8_000,
        script: () => ({ text: "" }),
      },
    ],
    limits: { leaseMs: LEASE_MS },
  })
const until = async (isTrue: () => Promise<boolean>): Promise<void> => {
  while (!(await isTrue().catch(() => false))) await delay(100)
}
await until(async () => acked.size > 0)
const endsAt = performance.now() + secs * 1_000

/** What a following reader has seen. It comes back after the last event it saw. */
const seen = new Map<string, SessionEvent[]>()
const reader = await open()
const readers = { go: true }
const tails = Array.from({ length: SESSIONS }, async (_, index) => {
  const sessionID = `ses_chaos_${index}`
  const events: SessionEvent[] = []
  seen.set(sessionID, events)
  while (readers.go)
    try {
      const after = events.length
      for await (const event of reader.sessions.events({ sessionID, after, follow: true }))
        if ("seq" in event) events.push(event)
    } catch {
      await delay(100)
    }
})

const counts = new Map<string, number>()
for (; faults < mostFaults && performance.now() < endsAt; faults += 1) {
  const name = ORDER[faults % ORDER.length] ?? "kill -9"
  await delay(random.below(500))
  await FAULTS[name]?.(random.below(NODES))
  counts.set(name, (counts.get(name) ?? 0) + 1)
  if (faults % 25 === 24) say(`${faults + 1} faults, ${acked.size} prompts acknowledged`)
}

say("the nodes leave")
await delay(LEASE_MS)
for (const { child } of nodes) child.kill("SIGTERM")
for (const { exited, proxy } of nodes) {
  await exited
  proxy.close()
}
const last = await startNode()
await delay(LEASE_MS * 2)
last.child.kill("SIGTERM")
await last.exited
last.proxy.close()

const problems: string[] = []
const logs = new Map<string, readonly SessionEvent[]>()
for (let index = 0; index < SESSIONS; index += 1) {
  const sessionID = `ses_chaos_${index}`
  const events: SessionEvent[] = []
  for await (const event of reader.sessions.events({ sessionID })) events.push(event)
  logs.set(sessionID, events)
}
readers.go = false
await reader.close()
await Promise.all(tails)

const promoted = new Set<string>()
const admitted = new Set<string>()
const reported = new Map<string, number>()
const commands = new Map<string, string>()
for (const [sessionID, events] of logs) {
  // The last turn of each may still be open, because this does not wait for all work to end.
  problems.push(...brokenLaws(events, [], { settled: false }).map((law) => `${sessionID}: ${law}`))
  for (const event of events) {
    if (event.type === "session.next.prompt.admitted.1") admitted.add(String(event.data.messageID))
    if (event.type === "session.next.prompt.promoted.1") promoted.add(String(event.data.messageID))
    if (event.type === "session.next.tool.called.1") {
      const name = /for act .*? (\d+\.\d+\.\d+) /.exec(JSON.stringify(event.data.input))?.[1]
      if (name !== undefined) commands.set(`${event.data.assistantMessageID}/${event.data.callID}`, name)
    }
    if (event.type === "session.next.tool.failed.1") {
      const name = commands.get(`${event.data.assistantMessageID}/${event.data.callID}`)
      if (name !== undefined) reported.set(name, event.time)
    }
  }
  const tail = seen.get(sessionID) ?? []
  if (tail.some((event, index) => JSON.stringify(event) !== JSON.stringify(events[index])))
    problems.push(`${sessionID}: a reader saw what is not in the log`)
}
const lost = [...acked.keys()].filter((id) => !admitted.has(id))
const marks = readFileSync(join(directory, "marks"), "utf8")
  .split("\n")
  .filter((line) => line !== "")
const done = new Set<string>()
let twice = 0
let late = 0
for (const mark of marks) {
  const [act = "", name = "", time = ""] = mark.split(" ")
  if (done.has(`${act} ${name}`)) twice += 1
  done.add(`${act} ${name}`)
  if (Number(time) > (reported.get(name) ?? Number.POSITIVE_INFINITY)) late += 1
}
const client = new Client({ connectionString: server.address })
await client.connect()
const { rows } = await client.query<{ falls: string }>(
  `select count(*) as falls from (
     select fence, max(fence) over (partition by session order by seq rows between unbounded preceding and 1 preceding) as before
     from chaos.event where fence is not null) e where fence < before`,
)
const { rows: stays } = await client.query<{ count: string }>("select count(*) from chaos.stay")
await client.end()
const falls = Number(rows[0]?.falls)

say(
  [
    `${faults} faults (${[...counts].map(([name, count]) => `${count} ${name}`).join(", ")}), seed ${seed}, lease ${LEASE_MS} ms`,
    `${acked.size} prompts acknowledged, ${lost.length} lost; ${promoted.size} taken up`,
    `${marks.length} acts, ${twice} twice, ${late} after they were reported; ${reported.size} calls reported as interrupted`,
    `${[...logs.values()].reduce((sum, events) => sum + events.length, 0)} events, ${problems.length} broken laws, ${falls} numbers fell; ${stays[0]?.count} times a session came to another node`,
    ...problems.slice(0, 20),
  ].join("\n"),
)
await server.remove()
rmSync(base, { recursive: true, force: true })
const isGood = acked.size > 0 && lost.length + twice + late + problems.length + falls === 0
process.exitCode = isGood ? 0 : 1
