/**
 * The engine on a real Postgres compared with a hand-written fenced loop on the same server, interleaved in one run. Prints
 * ours, the floor, the ratio and the bar. `--quick` makes it short; `--only=turn,many,...` selects some.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { connect, createServer, type AddressInfo } from "node:net"
import { loadavg, tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"

import { openEngine, type Engine } from "@meridian/engine"
import { openPostgres } from "@meridian/testkit/postgres-server"
import { Client } from "pg"

import { startEngineProcess } from "../../test/engine-process.ts"
import { openFloor } from "./floor.ts"

const quick = process.argv.includes("--quick")
const only = process.argv
  .find((argument) => argument.startsWith("--only="))
  ?.slice(7)
  .split(",")
const wanted = (name: string): boolean => only === undefined || only.includes(name)
const lines: object[] = []

const show = (
  what: string,
  ours: number,
  floor: number | undefined,
  bar: number,
  unit: string,
  most: boolean,
): void => {
  const ratio = floor === undefined ? ours : ours / floor
  const holds = most ? ratio <= bar : ratio >= bar
  lines.push({ what, ours, floor, ratio, bar, unit, holds })
  process.stdout.write(
    `${what.padEnd(44)} ours ${ours.toFixed(2).padStart(9)} ${unit}  ${floor === undefined ? "" : `floor ${floor.toFixed(2).padStart(9)}  ratio ${ratio.toFixed(2)}`} (${most ? "at most" : "at least"} ${bar})${holds ? "" : "  MISSED"}\n`,
  )
}
const middle = (times: readonly number[], part = 0.5): number =>
  times.toSorted((left, right) => left - right)[
    Math.min(times.length - 1, Math.floor(times.length * part))
  ] ?? 0
const timed = async (body: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await body()
  return performance.now() - began
}

const folder = mkdtempSync(join(tmpdir(), "meridian-bench-"))
const server = await openPostgres(["fsync=on", "synchronous_commit=on"])
const at = (schema: string, port = server.port): string =>
  `postgres://meridian@127.0.0.1:${port}/postgres?schema=${schema}`

const open = (database: string, worker: false | object = {}): Promise<Engine> =>
  openEngine({
    database,
    worker,
    models: [
      {
        id: "fake/one",
        provider: "scripted",
        contextWindow: 10_000_000,
        maxOutput: 8_000,
        script: ({ lastUser, body }) => {
          const text = JSON.stringify(body)
          return lastUser.startsWith("tool") &&
            !text.slice(text.lastIndexOf(lastUser)).includes('"tool-call"')
            ? { text: "working", tools: [{ name: "act", input: {} }] }
            : { text: "done ".repeat(60) }
        },
      },
    ],
    permissions: [{ action: "*", resource: "*", effect: "allow" }],
    tools: [{ name: "act", description: "acts", input: { type: "object" }, execute: async () => "acted" }],
  })

let prompts = 0
const turnOf = async (engine: Engine, sessionID: string, kind: string): Promise<void> => {
  prompts += 1
  await engine.sessions.prompt({ sessionID, prompt: { text: `${kind} number ${prompts}.` } })
  await engine.sessions.wait(sessionID)
}

/** Delays every question by this many milliseconds. */
const openSlowWay = async (ms: number): Promise<{ readonly port: number; readonly close: () => void }> => {
  const way = createServer((near) => {
    const far = connect(server.port, "127.0.0.1")
    near.setNoDelay(true)
    far.setNoDelay(true)
    near.on("data", (bytes) => setTimeout(() => far.write(bytes), ms))
    far.on("data", (bytes) => near.write(bytes))
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on("error", () => undefined)
      one.on("close", () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => way.listen(0, "127.0.0.1", resolve))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server that listens on a port has such an address
  return { port: (way.address() as AddressInfo).port, close: () => way.close() }
}

const sessionsOf = async (engine: Engine, count: number): Promise<readonly string[]> => {
  const ids = Array.from({ length: count }, (_, index) => `ses_${index}`)
  for (const id of ids) await engine.sessions.create({ id, location: { directory: folder } })
  return ids
}

/** Turns that are not counted: code that has just been loaded is slow, on both sides. */
const WARM_ROUNDS = 200

const benchTurns = async (
  name: string,
  port: number,
  bars: Readonly<Record<"text" | "tool", number>>,
  rounds: number,
) => {
  const engine = await open(at(`${name}_ours`, port))
  const floor = await openFloor(at(`${name}_floor`, port).split("?")[0] ?? "", `${name}_floor`)
  for (const kind of ["text", "tool"] as const) {
    const ours: number[] = []
    const theirs: number[] = []
    for (let round = -WARM_ROUNDS; round < rounds; round += 1) {
      if (round === 0) for (const times of [ours, theirs]) times.length = 0
      // A long conversation costs more by itself, so each session has 20 turns.
      const id = `ses_${kind}_${Math.floor(round / 20)}`
      if (round % 20 === 0) {
        await engine.sessions.create({ id, location: { directory: folder } })
        await floor.prepare([id])
        await turnOf(engine, id, kind)
      }
      ours.push(await timed(() => turnOf(engine, id, kind)))
      theirs.push(await timed(() => floor.turn(id, kind)))
    }
    show(`${kind} turn, ${name}`, middle(ours), middle(theirs), bars[kind], "ms", true)
  }
  await floor.close()
  await engine.close()
}

process.stdout.write(`node ${process.versions.node}, load ${loadavg()[0]?.toFixed(2)}\n`)
try {
  if (wanted("turn")) await benchTurns("near", server.port, { text: 1.3, tool: 1.2 }, quick ? 40 : 200)
  if (wanted("far")) {
    const way = await openSlowWay(1)
    await benchTurns("far", way.port, { text: 1, tool: 1 }, quick ? 40 : 100)
    way.close()
  }
  if (wanted("many")) {
    const engine = await open(at("many_ours"))
    const floor = await openFloor(server.address, "many_floor")
    const ids = await sessionsOf(engine, 64)
    await floor.prepare(ids)
    const rounds = quick ? 4 : 10
    const rate = (ms: number): number => (64 * rounds * 1_000) / ms
    const all = (body: (id: string) => Promise<void>) =>
      timed(() =>
        Promise.all(
          ids.map(async (id) => {
            for (let round = 0; round < rounds; round += 1) await body(id)
          }),
        ),
      )
    await all((id) => turnOf(engine, id, "text"))
    await all((id) => floor.turn(id, "text"))
    const [ours, theirs]: [number[], number[]] = [[], []]
    for (let round = 0; round < 3; round += 1) {
      ours.push(rate(await all((id) => turnOf(engine, id, "text"))))
      theirs.push(rate(await all((id) => floor.turn(id, "text"))))
    }
    show("64 sessions at once, text turns", middle(ours), middle(theirs), 0.9, "/s", false)
    await floor.close()
    await engine.close()
  }
  if (wanted("append")) {
    const engine = await open(at("append_ours"), false)
    const floor = await openFloor(server.address, "append_floor")
    const ids = await sessionsOf(engine, 64)
    await floor.prepare(ids)
    const rounds = quick ? 10 : 40
    const rate = async (body: (id: string, round: number) => Promise<unknown>): Promise<number> => {
      const ms = await timed(() =>
        Promise.all(
          ids.map(async (id) => {
            for (let round = 0; round < rounds; round += 1) await body(id, round)
          }),
        ),
      )
      return (64 * rounds * 1_000) / ms
    }
    const grouped = () =>
      rate((sessionID, round) => engine.sessions.rename({ sessionID, title: `title ${round}` }))
    await grouped()
    await rate((id) => floor.append(id))
    const [ours, theirs]: [number[], number[]] = [[], []]
    for (let round = 0; round < 3; round += 1) {
      ours.push(await grouped())
      theirs.push(await rate((id) => floor.append(id)))
    }
    show("appends at 64, grouped over single ones", middle(ours), middle(theirs), 3, "/s", false)
    await floor.close()
    await engine.close()
  }
  if (wanted("replay")) {
    const engine = await open(at("replay_ours"), false)
    const count = quick ? 5_000 : 50_000
    await sessionsOf(engine, 1)
    const text = "word ".repeat(70)
    await engine.sessions.import({
      id: "ses_long",
      location: { directory: folder },
      source: { format: "bench", id: "bench", digest: "1" },
      history: Array.from({ length: count / 4 }, (_, index) => ({
        kind: "prompt" as const,
        prompt: { text: `${index} ${text}` },
      })),
    })
    const { seq } = await engine.sessions.get("ses_long")
    await engine.close()
    const reader = await open(at("replay_ours"), false)
    const ours = await timed(async () => {
      for await (const page of reader.sessions.eventFrames({ sessionID: "ses_long" })) void page
    })
    const floor = await openFloor(server.address, "replay_floor")
    await floor.close()
    const client = new Client({ connectionString: server.address })
    await client.connect()
    const raw = await timed(async () => {
      for (let after = 0; after < seq; after += 500)
        await client.query(
          "select e.seq, e.type, e.time, e.data from replay_ours.event e join replay_ours.session s on s.key = e.session where s.id = 'ses_long' and e.seq > $1 and e.seq <= $2 order by e.seq",
          [after, after + 500],
        )
    })
    await client.end()
    await reader.close()
    show(
      `replay of ${seq} events over raw pages`,
      (seq * 1_000) / ours,
      (seq * 1_000) / raw,
      0.5,
      "/s",
      false,
    )
  }
  if (wanted("reader")) {
    const writer = await open(at("reader"), false)
    const reader = await open(at("reader"), false)
    const [sessionID = ""] = await sessionsOf(writer, 1)
    const seen = new Map<number, () => void>()
    const leaving = new AbortController()
    const reading = (async () => {
      for await (const event of reader.sessions.events(
        { sessionID, follow: true },
        { signal: leaving.signal },
      ))
        if ("seq" in event) seen.get(event.seq)?.()
    })().catch(() => undefined)
    await delay(500)
    const times: number[] = []
    for (let round = 0; round < (quick ? 50 : 400); round += 1) {
      const { promise, resolve } = Promise.withResolvers<void>()
      seen.set(round + 2, resolve)
      const began = performance.now()
      await writer.sessions.rename({ sessionID, title: `title ${round}` })
      await promise
      times.push(performance.now() - began)
      await delay(5)
    }
    show("another node's reader, p50", middle(times), undefined, 10, "ms", true)
    show("another node's reader, p99", middle(times, 0.99), undefined, 50, "ms", true)
    leaving.abort()
    await reading
    await reader.close()
    await writer.close()
  }
  if (wanted("takeover")) {
    for (const [how, bar] of [
      ["SIGKILL", 4],
      ["SIGSTOP", 7],
    ] as const) {
      const database = at(`takeover_${how.toLowerCase()}`)
      const node = startEngineProcess({ database, directory: folder, mode: "hang", leaseMs: 5_000 })
      await node.said("acked")
      const other = await open(database)
      const isRunning = async (): Promise<boolean> => {
        for await (const event of other.sessions.events({ sessionID: "ses_test" }))
          if (event.type === "session.next.tool.called.1") return true
        return false
      }
      while (!(await isRunning())) await delay(20)
      await delay(1_000)
      const began = performance.now()
      node.child.kill(how)
      for await (const event of other.sessions.events({ sessionID: "ses_test", follow: true }))
        if (event.type === "session.next.tool.failed.1") break
      show(
        `take-over after ${how}, lease 5 s`,
        (performance.now() - began) / 1_000,
        undefined,
        bar,
        "s",
        true,
      )
      node.child.kill("SIGCONT")
      await node.kill()
      await other.close()
    }
  }
  if (wanted("memory")) {
    const engine = await open(at("memory"), { sessions: 2_000 })
    const count = quick ? 500 : 10_000
    const ids = await sessionsOf(engine, count)
    for (let from = 0; from < count; from += 64)
      await Promise.all(ids.slice(from, from + 64).map((id) => turnOf(engine, id, "text")))
    await Promise.all(ids.slice(0, 500).map((id) => turnOf(engine, id, "tool")))
    show(
      `a worker with 500 busy and ${count} idle sessions`,
      process.memoryUsage().rss / 2 ** 20,
      undefined,
      2_048,
      "MB",
      true,
    )
    await engine.close()
  }
} finally {
  await server.remove()
  rmSync(folder, { recursive: true, force: true })
}
if (!quick && only === undefined)
  writeFileSync(
    "bench/postgres/result.json",
    `${JSON.stringify({ node: process.versions.node, load: loadavg(), lines }, undefined, 2)}\n`,
  )
