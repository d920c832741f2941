/**
 * A scripted model provider on loopback, for tests, benchmarks and the live runs of real coding agents.
 *
 *   POST /v1/chat/completions   OpenAI Chat Completions
 *   POST /v1/responses          OpenAI Responses
 *   POST /v1/messages           Anthropic Messages (and /v1/messages/count_tokens)
 *   POST /v1/models/NAME:streamGenerateContent   Google (and :generateContent)
 *   GET  /v1/models             a list with one model
 *   GET  /__fake/state          what has been asked so far
 *   GET  /__fake/held           how long each request was held, in order
 *   POST /__fake/release        lets every held reply continue
 */
import { appendFileSync } from "node:fs"
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"

import { openScript, type Respond, type ScriptStep } from "@meridian/engine/script"

import { chat } from "./chat.ts"
import type { WireFormat } from "./format.ts"
import { generate } from "./generate.ts"
import { messages } from "./messages.ts"
import { play, sendJson, type Ended } from "./play.ts"
import {
  apiOf,
  parseBody,
  publicHeaders,
  publicPath,
  readBody,
  readFacts,
  type WireApi,
} from "./read-request.ts"
import { responses } from "./responses.ts"

export interface ScriptedProviderOptions {
  readonly port?: number
  /** Steps, played as `ScriptStep` describes. Without any, every request is echoed. */
  readonly script?: readonly ScriptStep[]
  /** Replaces the steps. */
  readonly respond?: Respond
  /** Every request is appended to this file as one JSON line. */
  readonly logFile?: string
  /** How many of the newest requests are remembered, with bodies of at most 64 MB together. */
  readonly keep?: number
}

export interface RecordedRequest {
  /** The first request to a model is 1. Other requests have 0. */
  readonly n: number
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly method: string
  readonly path: string
  /** The client's port. Requests with the same one used the same connection. */
  readonly connection: number
  /** Without credentials. */
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
  readonly api?: WireApi
  readonly model?: string
  /** Label or position of the step that answered. */
  readonly turn?: string | number
}

export interface ScriptedProvider {
  /** Without `/v1`. */
  readonly url: string
  readonly port: number
  readonly requests: readonly RecordedRequest[]
  /** How many steps have not been used yet. */
  readonly left: () => number
  /**
   * From the last byte of each model request to the end of its answer, in the order they ended; at most the newest 100,000.
   */
  readonly heldMs: () => readonly number[]
  /** Resolves when the n-th request to a model (counted from 1) has arrived. */
  readonly arrived: (n: number) => Promise<RecordedRequest>
  /** Resolves when the answer to the n-th request to a model is over. */
  readonly ended: (n: number) => Promise<Ended>
  /** Lets every held reply continue. Returns how many there were. */
  readonly release: () => number
  readonly close: () => Promise<void>
}

const LOOPBACK = "127.0.0.1"
const KEEP_REQUESTS = 1_000
const KEEP_BYTES = 67_108_864
const KEEP_HELD = 100_000
const FORMATS = { chat, responses, messages, generate } as const satisfies Record<WireApi, WireFormat>

export const startScriptedProvider = async (
  options: ScriptedProviderOptions = {},
): Promise<ScriptedProvider> => {
  const script = openScript(options.respond ?? options.script ?? [])
  const keep = options.keep ?? KEEP_REQUESTS
  const requests: RecordedRequest[] = []
  const sizes: number[] = []
  let keptBytes = 0
  const held: number[] = []
  const arrivals = milestones<RecordedRequest>()
  const endings = milestones<Ended>()
  const gates = new Set<() => void>()
  let asked = 0

  const record = (entry: RecordedRequest, bytes: number): void => {
    requests.push(entry)
    sizes.push(bytes)
    keptBytes += bytes
    while (requests.length > keep || keptBytes > KEEP_BYTES) {
      requests.shift()
      keptBytes -= sizes.shift() ?? 0
    }
    if (options.logFile !== undefined) appendFileSync(options.logFile, `${JSON.stringify(entry)}\n`)
  }

  const release = (): number => {
    const count = gates.size
    for (const open of gates) open()
    gates.clear()
    return count
  }

  const answerModel = async (
    api: WireApi,
    { entry, bytes, ending }: Asked,
    response: ServerResponse,
  ): Promise<Ended> => {
    const facts = readFacts(api, entry)
    const gone = new AbortController()
    response.once("close", () => gone.abort())
    const { reply, turn } = await script.take({ ...facts, api, n: entry.n, body: entry.body })
    const known = { ...entry, api, model: facts.model, turn }
    record(known, bytes)
    const released = (): Promise<void> =>
      new Promise((resolve, reject) => {
        gates.add(resolve)
        gone.signal.addEventListener("abort", () => {
          gates.delete(resolve)
          reject(new Error("the client left"))
        })
      })
    const playing = play(
      { n: entry.n, format: FORMATS[api], facts, response, gone: gone.signal, released, ending },
      reply,
    )
    // Only now, so that a test that waits for a held request can release it.
    arrivals.reach(known.n, known)
    return playing
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const raw = await readBody(request)
    const started = performance.now()
    const path = request.url ?? "/"
    const plain = path.replace(/\?.*$/s, "").replace(/\/+$/, "")
    const api = apiOf(request.method, plain)
    const entry = {
      n: api === undefined ? 0 : ++asked,
      at: Date.now(),
      method: request.method ?? "GET",
      path: publicPath(path),
      connection: request.socket.remotePort ?? 0,
      headers: publicHeaders(request.headers),
      body: parseBody(raw),
    }
    if (api === undefined) {
      if (!plain.startsWith("/__fake/")) record(entry, raw.length)
      answerOther({ entry, plain, response, state: { requests, left: script.left, held, release } })
      return
    }
    let over = false
    const ending = (): void => {
      if (!over) held.push(performance.now() - started)
      if (held.length > KEEP_HELD) held.shift()
      over = true
    }
    const ended = await answerModel(api, { entry, bytes: raw.length, ending }, response)
    ending()
    endings.reach(entry.n, ended)
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((cause: unknown) => {
      if (!response.headersSent)
        sendJson(response, 500, { error: { type: "script_error", message: String(cause) } })
      else response.destroy()
    })
  })
  // Real agents keep connections for minutes. A short limit would look like a broken provider.
  server.keepAliveTimeout = 120_000
  server.requestTimeout = 0
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(options.port ?? 0, LOOPBACK, resolve)
  })
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the provider has no port")
  const { port } = address
  return {
    url: `http://${LOOPBACK}:${port}`,
    port,
    requests,
    left: script.left,
    heldMs: () => held,
    arrived: arrivals.wait,
    ended: endings.wait,
    release,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

interface Asked {
  readonly entry: RecordedRequest
  readonly bytes: number
  readonly ending: () => void
}

interface Other {
  readonly entry: RecordedRequest
  readonly plain: string
  readonly response: ServerResponse
  readonly state: {
    readonly requests: readonly RecordedRequest[]
    readonly left: () => number
    readonly held: readonly number[]
    readonly release: () => number
  }
}

const answerOther = ({ entry, plain, response, state }: Other): void => {
  if (plain === "/__fake/state")
    return sendJson(response, 200, {
      requests: state.requests.length,
      left: state.left(),
      seen: state.requests,
    })
  if (plain === "/__fake/held") return sendJson(response, 200, { held: state.held })
  if (plain === "/__fake/release") return sendJson(response, 200, { released: state.release() })
  if (plain.endsWith("/count_tokens")) {
    const tokens = Math.ceil(JSON.stringify(entry.body ?? "").length / 4)
    return sendJson(response, 200, { input_tokens: tokens })
  }
  if (plain.endsWith("/models")) {
    const model = { id: "fake-model", object: "model", created: 0, owned_by: "fake" }
    return sendJson(response, 200, { object: "list", data: [model], has_more: false })
  }
  if (entry.method === "HEAD" || plain === "") return sendJson(response, 200, { ok: true })
  return sendJson(response, 404, {
    error: { type: "not_found_error", message: `no such path: ${entry.path}` },
  })
}

/** Numbered moments that can be awaited before or after they happen. */
const milestones = <Value>() => {
  const reached = new Map<number, PromiseWithResolvers<Value>>()
  const at = (n: number): PromiseWithResolvers<Value> => {
    const found = reached.get(n) ?? Promise.withResolvers<Value>()
    reached.set(n, found)
    reached.delete(n - KEEP_HELD)
    return found
  }
  return {
    reach: (n: number, value: Value): void => at(n).resolve(value),
    wait: (n: number): Promise<Value> => at(n).promise,
  }
}
