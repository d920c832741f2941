/** W1, W2 and W3: the cost of a turn besides the provider's time, for one session, a long one, and 64 at once. */
import { statSync } from "node:fs"
import { join } from "node:path"

import { openEngine, type Engine } from "../../packages/engine/dist/index.js"
import { openFloor, type Floor } from "./floor.ts"
import { median, PROMPT, RESULT, temporaryFolder, type Line, type Provider } from "./scene.ts"

const WARM_UP = 20

export const openOurs = (file: string, port: number, more: object = {}): Promise<Engine> =>
  openEngine({
    database: file,
    models: [
      {
        id: "bench/one",
        provider: "openai-compatible",
        baseURL: `http://127.0.0.1:${port}/v1`,
        apiKey: "none",
        model: "one",
        contextWindow: 100_000_000,
        maxOutput: 4_000,
      },
    ],
    permissions: [{ action: "*", resource: "*", effect: "allow" }],
    tools: [
      {
        name: "noop",
        description: "Does nothing and answers with a kilobyte.",
        input: { type: "object", properties: { n: { type: "integer" } } },
        execute: () => RESULT,
      },
    ],
    ...more,
  })

/** System messages and tools as our engine sends them to an OpenAI-compatible server. */
export const captureHead = async (): Promise<{ messages: readonly object[]; tools: readonly object[] }> => {
  const { createServer } = await import("node:http")
  const { promise, resolve } = Promise.withResolvers<string>()
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (data: Buffer) => (body += data.toString()))
    request.on("end", () => {
      resolve(body)
      response.writeHead(400, { "content-type": "application/json" })
      response.end('{"error":{"message":"thank you"}}')
    })
  })
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  const address = server.address()
  const folder = temporaryFolder()
  const engine = await openOurs(
    ":memory:",
    typeof address === "object" && address !== null ? address.port : 0,
  )
  const session = await engine.sessions.create({ location: { directory: folder.path } })
  await engine.sessions.prompt({ sessionID: session.id, prompt: { text: "hello" } })
  const { messages, tools } = JSON.parse(await promise) as {
    messages: readonly { role: string }[]
    tools: readonly object[]
  }
  await engine.close()
  server.close()
  folder.remove()
  return { messages: messages.filter((message) => message.role === "system"), tools }
}

interface Pair {
  readonly engine: Engine
  readonly floor: Floor
  readonly directory: string
  readonly close: () => Promise<void>
  readonly files: { readonly ours: string; readonly floor: string }
}

const openPair = async (provider: Provider, head: Awaited<ReturnType<typeof captureHead>>): Promise<Pair> => {
  const folder = temporaryFolder()
  const project = temporaryFolder()
  const files = { ours: join(folder.path, "ours.sqlite"), floor: join(folder.path, "floor.sqlite") }
  const engine = await openOurs(files.ours, provider.port)
  const floor = openFloor({ file: files.floor, port: provider.port, head })
  return {
    engine,
    floor,
    directory: project.path,
    files,
    close: async () => {
      await engine.close()
      floor.close()
      folder.remove()
      project.remove()
    },
  }
}

export const ourTurn = async (engine: Engine, sessionID: string, text: string): Promise<void> => {
  await engine.sessions.prompt({ sessionID, prompt: { text } })
  await engine.sessions.wait(sessionID)
}

/** The wall time of one turn, minus the time the provider held it. */
export const overhead = async (provider: Provider, turn: () => Promise<void>): Promise<number> => {
  const started = performance.now()
  await turn()
  const wall = performance.now() - started
  return wall - (await provider.held()).reduce((sum, value) => sum + value, 0)
}

export const benchTurn = async (provider: Provider, kind: "text" | "tool", turns: number): Promise<Line> => {
  const pair = await openPair(provider, await captureHead())
  const { id } = await pair.engine.sessions.create({ location: { directory: pair.directory } })
  const text = PROMPT[kind]
  const ours: number[] = []
  const floor: number[] = []
  for (let turn = 0; turn < WARM_UP + turns; turn += 1) {
    const a = await overhead(provider, () => ourTurn(pair.engine, id, text))
    const b = await overhead(provider, () => pair.floor.turn("s", text))
    if (turn >= WARM_UP) {
      ours.push(a)
      floor.push(b)
    }
  }
  await pair.close()
  return {
    what: `W1 ${kind} turn, median overhead`,
    ours: `${median(ours).toFixed(2)} ms`,
    floor: `${median(floor).toFixed(2)} ms`,
    ratio: median(ours) / median(floor),
    limit: kind === "text" ? "at most 1.25" : "at most 1",
  }
}

export const benchGrowth = async (provider: Provider, last: number): Promise<readonly Line[]> => {
  const pair = await openPair(provider, await captureHead())
  await grow(provider, pair, WARM_UP)
  const { ours, floor } = await grow(provider, pair, last)
  /** Text and tool turns cost differently, so each kind has its own median over the 20 turns up to this one. */
  const around = (values: readonly number[], turn: number) => {
    const near = values.slice(Math.max(0, turn - 20), turn)
    const kinds = [0, 1].map((kind) => median(near.filter((_value, index) => index % 2 === kind)))
    return kinds.reduce((sum, value) => sum + value, 0) / kinds.length
  }
  const at = [
    { turn: 20, most: 1.35 },
    { turn: Math.floor(last / 4), most: 0.7 },
    { turn: last, most: 0.5 },
  ]
  const lines = at.map(({ turn, most }) => ({
    what: `W2 overhead at turn ${turn}`,
    ours: `${around(ours, turn).toFixed(2)} ms`,
    floor: `${around(floor, turn).toFixed(2)} ms`,
    ratio: around(ours, turn) / around(floor, turn),
    limit: `at most ${most}`,
  }))
  const first = lines[0]?.ratio ?? 1
  const end = lines.at(-1)?.ratio ?? 1
  await pair.engine.close()
  pair.floor.close()
  const bytes = { ours: statSync(pair.files.ours).size, floor: statSync(pair.files.floor).size }
  await pair.close().catch(() => undefined)
  return [
    ...lines,
    {
      what: `W2 ratio at turn ${last} over ratio at turn 20`,
      ours: end.toFixed(2),
      floor: first.toFixed(2),
      ratio: end / first,
      limit: "at most 1.1",
    },
    {
      what: `W2 disk after ${last} turns`,
      ours: `${(bytes.ours / 1e6).toFixed(1)} MB`,
      floor: `${(bytes.floor / 1e6).toFixed(1)} MB`,
      ratio: bytes.ours / bytes.floor,
      limit: "at most 1.2",
    },
  ]
}

/** One session of each, taking turns, with text and tools. */
const grow = async (provider: Provider, pair: Pair, turns: number) => {
  const { id } = await pair.engine.sessions.create({ location: { directory: pair.directory } })
  const ours: number[] = []
  const floor: number[] = []
  for (let turn = 0; turn < turns; turn += 1) {
    const text = turn % 2 === 0 ? PROMPT.text : PROMPT.tool
    ours.push(await overhead(provider, () => ourTurn(pair.engine, id, text)))
    floor.push(await overhead(provider, () => pair.floor.turn(id, text)))
  }
  return { ours, floor }
}

const SESSIONS = 64

export const benchManySessions = async (provider: Provider, turns: number): Promise<Line> => {
  const pair = await openPair(provider, await captureHead())
  const rates = { ours: [] as number[], floor: [] as number[] }
  const everyone = (turn: (session: number) => Promise<void>) =>
    Promise.all(Array.from({ length: SESSIONS }, (_unused, session) => turn(session)))
  // The first round warms up.
  for (let round = 0; round < 4; round += 1) {
    const sessions = await everyoneCreated(pair)
    const startOurs = performance.now()
    await everyone(async (session) => {
      for (let turn = 0; turn < turns; turn += 1)
        await ourTurn(pair.engine, sessions[session] ?? "", PROMPT.text)
    })
    rates.ours.push((SESSIONS * turns) / (performance.now() - startOurs))
    const startFloor = performance.now()
    await everyone(async (session) => {
      for (let turn = 0; turn < turns; turn += 1) await pair.floor.turn(`s${round}-${session}`, PROMPT.text)
    })
    rates.floor.push((SESSIONS * turns) / (performance.now() - startFloor))
    await provider.held()
  }
  await pair.close()
  const rate = (values: readonly number[]) => median(values.slice(1))
  return {
    what: `W3 ${SESSIONS} sessions at once, turns per second`,
    ours: (rate(rates.ours) * 1_000).toFixed(0),
    floor: (rate(rates.floor) * 1_000).toFixed(0),
    ratio: rate(rates.ours) / rate(rates.floor),
    limit: "at least 1.2",
  }
}

const everyoneCreated = (pair: Pair): Promise<readonly string[]> =>
  Promise.all(
    Array.from({ length: SESSIONS }, async () => {
      const { id } = await pair.engine.sessions.create({ location: { directory: pair.directory } })
      return id
    }),
  )
