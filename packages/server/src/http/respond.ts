/** Answers one request: checks who asks, finds the route, runs it. Never throws. */
import type { IncomingMessage, ServerResponse } from "node:http"

import type { Engine } from "@meridian/engine"
import { Failure, type FailureCode, type JsonObject } from "@meridian/protocol"

import { CHANGES, CONTRACT, EVENTS, LIVE, type Route } from "../contract/contract.ts"
import { PROMETHEUS_TYPE } from "../telemetry/prometheus.ts"
import { ADMITTED, checkSource, checkToken, isFromPeer, type Admission, type Gate } from "./admit-request.ts"
import { answerFailure, answerJson, answerText, publicFailure } from "./answer.ts"
import { changeSource } from "./change-stream.ts"
import type { EventFeeds } from "./event-feeds.ts"
import { eventSource, liveSource } from "./event-stream.ts"
import { makeRouteTable, type Entry } from "./find-route.ts"
import type { Handlers } from "./handlers.ts"
import { answerHealth, isHealth } from "./health.ts"
import { makeIncoming } from "./incoming.ts"
import type { HttpLimits } from "./limits.ts"
import type { Outgoing } from "./outgoing.ts"
import type { PageFiles } from "./page-files.ts"
import { makeInputReader } from "./read-input.ts"
import type { Streams } from "./streams.ts"

export interface Responder {
  readonly respond: (request: IncomingMessage, response: ServerResponse) => Promise<void>
}

type Act = (call: {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly parameters: Readonly<Record<string, string>>
  readonly query: string
  readonly signal: AbortSignal
}) => Promise<void>

export interface Streaming {
  readonly engine: Engine
  readonly streams: Streams
  readonly feeds: EventFeeds
}

export const makeResponder = (options: {
  readonly gate: Gate
  readonly handlers: Handlers
  readonly streaming: Streaming
  readonly page: PageFiles
  readonly openApi: () => JsonObject
  /** Whether new work is accepted. */
  readonly readiness: Engine["readiness"]
  /** In the format of Prometheus. */
  readonly metrics: () => string
  readonly limits: HttpLimits
  readonly outgoing: Outgoing
  readonly log: (line: string) => void
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal
}): Responder => {
  const { gate, handlers, streaming, page, openApi, metrics, limits, outgoing, log, stopping, readiness } =
    options
  const table = makeRouteTable(makeEntries(handlers, streaming, { limits, outgoing }))
  const calls = new Set<AbortController>()
  stopping.addEventListener("abort", () => {
    for (const call of calls) call.abort(stopping.reason)
  })

  /** Aborts when the client goes away or the server stops. */
  const untilClosed = (response: ServerResponse): AbortSignal => {
    const call = new AbortController()
    if (stopping.aborted) call.abort(stopping.reason)
    calls.add(call)
    response.once("close", () => {
      calls.delete(call)
      if (!response.writableFinished) call.abort()
    })
    return call.signal
  }

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "", url = "" } = request
    if (isHealth(url)) {
      if (method !== "GET" && method !== "HEAD") return refuseMethod(response, method, ["GET"])
      return answerHealth(response, url, readiness)
    }
    admit(checkSource(request, gate))
    if (url.length > limits.addressCharacters)
      throw new Failure("ADDRESS_TOO_LONG", { limit: limits.addressCharacters })
    const mark = url.indexOf("?")
    const path = mark === -1 ? url : url.slice(0, mark)
    const query = mark === -1 ? "" : url.slice(mark + 1)
    if (path === METRICS) {
      admit(checkToken(request, gate))
      if (method !== "GET" && method !== "HEAD") return refuseMethod(response, method, ["GET"])
      return answerText(response, metrics(), PROMETHEUS_TYPE)
    }
    if (!path.startsWith("/api/")) return answerOpen(request, response, path)
    // HEAD is answered like GET; Node omits the body.
    const found = table.find(method === "HEAD" ? "GET" : method, path)
    // Without a token a client cannot learn which addresses exist.
    if (found.tag !== "found" || found.entry.route.open !== true) {
      const isPeer = found.tag === "found" && found.entry.route.peer === true
      admit(isPeer && isFromPeer(request, gate) ? ADMITTED : checkToken(request, gate))
    }
    switch (found.tag) {
      case "none":
        throw new Failure("ROUTE_NOT_FOUND", { method })
      case "method":
        return refuseMethod(response, method, found.allowed)
      case "found": {
        const { parameters, entry } = found
        return entry.handle({ request, response, parameters, query, signal: untilClosed(response) })
      }
    }
  }

  /** The page and the API document hold no private data, so they need no token. */
  const answerOpen = (request: IncomingMessage, response: ServerResponse, path: string): void => {
    const { method = "" } = request
    const isKnown = path === "/openapi.json" || path === "/" || page.has(path)
    if (!isKnown) throw new Failure("ROUTE_NOT_FOUND", { method })
    if (method !== "GET" && method !== "HEAD") return refuseMethod(response, method, ["GET"])
    if (path === "/openapi.json") return answerJson(response, openApi(), outgoing)
    if (!page.answer(request, response, path)) throw new Failure("PAGE_NOT_BUILT")
  }

  return {
    respond: async (request, response) => {
      try {
        await handle(request, response)
      } catch (thrown) {
        if (response.destroyed) return
        if (stopping.aborted && thrown === stopping.reason)
          answerFailure(response, new Failure("ENGINE_CLOSED"))
        else answerFailure(response, publicFailure(thrown, log), challenge(thrown))
      }
    },
  }
}

/** Where Prometheus looks. It sends the token as a bearer token, like every client. */
const METRICS = "/metrics"

const refuseMethod = (response: ServerResponse, method: string, methods: readonly string[]): void => {
  const allowed = methods.flatMap((each) => (each === "GET" ? ["GET", "HEAD"] : [each])).join(", ")
  answerFailure(response, new Failure("METHOD_NOT_ALLOWED", { method, allowed }), { allow: allowed })
}

const makeEntries = (
  handlers: Handlers,
  { engine, streams, feeds }: Streaming,
  { limits, outgoing }: { readonly limits: HttpLimits; readonly outgoing: Outgoing },
): readonly Entry<Act>[] => {
  const incoming = makeIncoming(limits.incomingBytes)
  const entries = Object.entries(CONTRACT).flatMap(([group, routes]) =>
    Object.entries<Route>(routes).map(([name, route]): Entry<Act> => {
      const read = makeInputReader(route, limits, incoming)
      const handler = handlerOf(handlers, group, name)
      return {
        route,
        handle: async ({ request, response, parameters, query, signal }) => {
          const input = withTrace(route, await read(response, { parameters, query }), request)
          const answer = async (): Promise<void> =>
            answerJson(response, await handler(input, signal), outgoing)
          if (route.bulky === true) return outgoing.makeLarge(response, answer)
          if (!outgoing.hasRoom(response.socket)) await outgoing.room(response)
          await answer()
        },
      }
    }),
  )
  const readAsked = makeInputReader(EVENTS, limits, incoming)
  const events: Entry<Act> = {
    route: EVENTS,
    handle: async ({ request, response, parameters, query }) => {
      const asked = await readAsked(response, { parameters, query })
      const lastEventId = request.headers["last-event-id"]?.toString()
      await streams.open(response, eventSource({ engine, feeds, asked, lastEventId }))
    },
  }
  const readNothing = makeInputReader(CHANGES, limits, incoming)
  const changes: Entry<Act> = {
    route: CHANGES,
    handle: async ({ response, parameters, query }) => {
      await readNothing(response, { parameters, query })
      await streams.open(response, changeSource(engine))
    },
  }
  const readLive = makeInputReader(LIVE, limits, incoming)
  const live: Entry<Act> = {
    route: LIVE,
    handle: async ({ response, parameters, query }) => {
      const { sessionID } = await readLive(response, { parameters, query })
      await streams.open(response, liveSource(engine, sessionID))
    },
  }
  return [...entries, events, changes, live]
}

/** The trace of a request continues in the work it starts. An invalid header is ignored. */
const withTrace = (route: Route, input: unknown, { headers }: IncomingMessage): unknown => {
  const trace = headers["traceparent"]
  const isPrompt = route.path === CONTRACT.sessions.prompt.path && route.method === "POST"
  if (!isPrompt || typeof trace !== "string" || typeof input !== "object" || input === null) return input
  return TRACEPARENT.test(trace) ? { trace, ...input } : input
}

const TRACEPARENT = /^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

type ErasedHandler = (input: unknown, signal: AbortSignal) => Promise<unknown>

/** The types of `Handlers` guarantee one per route; the table is walked by name. */
const handlerOf = (handlers: Handlers, group: string, name: string): ErasedHandler => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the reader checks the input against this route's shape
  const groups = handlers as unknown as Readonly<Record<string, Readonly<Record<string, ErasedHandler>>>>
  const handler = groups[group]?.[name]
  if (handler === undefined) throw new TypeError(`no handler for ${group}.${name}`)
  return handler
}

const admit = (admission: Admission): void => {
  if (admission.tag === "refused") throw new Failure(admission.code)
}

const CHALLENGED: FailureCode = "UNAUTHORIZED"

const challenge = (thrown: unknown): Readonly<Record<string, string>> =>
  thrown instanceof Failure && thrown.code === CHALLENGED
    ? { "www-authenticate": 'Bearer realm="meridian"' }
    : {}
