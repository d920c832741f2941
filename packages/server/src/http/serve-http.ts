/** The HTTP server: an engine on one database, the page, and the state of spaces for reading. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { hostname, networkInterfaces } from "node:os"
import { join } from "node:path"
import type { Duplex } from "node:stream"

import {
  agentsForPeople,
  isServerAddress,
  openEngine,
  type Engine,
  type EngineOptions,
} from "@meridian/engine"
import { Failure, type FailureCode } from "@meridian/protocol"

import { followPeer } from "../client/follow-peer.ts"
import type { ServeWorld } from "../mcp/tool-call.ts"
import { prometheusText } from "../telemetry/prometheus.ts"
import type { Telemetry } from "../telemetry/start-telemetry.ts"
import { hostsOf, isEverywhere } from "./admit-request.ts"
import { answerFailure, rawFailure } from "./answer.ts"
import { openClusterReader } from "./cluster-reader.ts"
import { makeEventFeeds } from "./event-feeds.ts"
import { makeHandlers, type HostCompactions } from "./handlers.ts"
import { keepOutOfGit, makePrivate } from "./keep-out-of-git.ts"
import { HTTP_LIMITS, type HttpLimits } from "./limits.ts"
import { openApiDocument } from "./openapi.ts"
import { makeOutgoing } from "./outgoing.ts"
import { readPageFiles } from "./page-files.ts"
import { makeResponder } from "./respond.ts"
import { makeSpacesReader } from "./spaces-reader.ts"
import { makeStreams } from "./streams.ts"
import { readOrMakeToken } from "./token-file.ts"

export interface ServeHttpOptions {
  /** `database`: default `<stateRoot>/engine.sqlite`. */
  readonly engine: Omit<EngineOptions, "database"> & { readonly database?: string }
  /** The folder of the token file, and by default of the database. */
  readonly stateRoot: string
  /** For reading spaces. */
  readonly world: ServeWorld
  /** Supplies receipts of conversations in hosts. Without it there are none. */
  readonly hostCompactions?: HostCompactions
  readonly version: string
  /** 0 takes any free port. */
  readonly port?: number
  /** Default: a loopback address. */
  readonly host?: string
  readonly tokenFile?: string
  /** Replaces the token in a file: nodes behind a balancer share one. */
  readonly token?: string
  /** More names by which clients call the server, with or without a port: of a balancer, of a service. */
  readonly names?: readonly string[]
  /** The folder of the built page. */
  readonly pageDirectory?: string
  /** Stops the server. */
  readonly signal?: AbortSignal
  /** When it stops, sessions first end their turns and are handed over, for at most this long. */
  readonly drainMs?: () => number
  /** Cuts that short. */
  readonly hurry?: AbortSignal
  /** Lines for the operator of the server. They never contain a token. */
  readonly log?: (line: string) => void
  readonly limits?: Partial<HttpLimits>
  /** Counts what the engine does, for `/metrics` and other collectors. */
  readonly observe?: (engine: Engine, database: string) => Promise<Telemetry | undefined>
}

export interface HttpServer {
  /** `http://127.0.0.1:4747` */
  readonly url: string
  /** The page's address with the token after `#`, which browsers never send. */
  readonly pageUrl: string
  readonly port: number
  readonly token: string
  /** How many streams are open now. */
  readonly streams: () => number
  readonly stop: () => Promise<void>
  /** Resolves when the server has stopped, for any reason. */
  readonly stopped: Promise<void>
}

const DEFAULT_PORT = 4747
const HIGHEST_PORT = 65_535
const DEFAULT_HOST = "127.0.0.1"
export const serveHttp = async (options: ServeHttpOptions): Promise<HttpServer> => {
  const { stateRoot, host = DEFAULT_HOST, log = () => undefined } = options
  const wanted = options.port ?? DEFAULT_PORT
  if (!Number.isInteger(wanted) || wanted < 0 || wanted > HIGHEST_PORT)
    throw new Failure("INVALID_INPUT", { what: `A port is 0 to ${HIGHEST_PORT}, not ${wanted}` })
  // Node would listen on every address.
  if (host === "") throw new Failure("INVALID_INPUT", { what: "A host is not empty" })
  const limits: HttpLimits = { ...HTTP_LIMITS, ...options.limits }
  const token = givenToken(options) ?? readOrMakeToken(options.tokenFile ?? join(stateRoot, "http-token"))
  keepOutOfGit(stateRoot)
  const database = options.engine.database ?? join(stateRoot, "engine.sqlite")
  if (options.engine.database === undefined) makePrivate(database)
  const server = makeServer(limits)
  const port = await listen(server, host, wanted)
  const engine = await openEngine({
    stateRoot,
    followPeer,
    ...options.engine,
    ...reachable(options.engine, database, `http://${nameOf(host)}:${port}`, host),
    database,
  }).catch(async (cause: unknown) => {
    await closeServer(server, 0)
    throw cause
  })
  const telemetry = await options.observe?.(engine, database)
  const outgoing = makeOutgoing(limits)
  const streams = makeStreams({ limits, outgoing, log })
  const stopping = new AbortController()
  const { respond } = makeResponder({
    gate: {
      hosts: new Set([
        ...hostsOf(host, port, ownNames()),
        ...advertisedHosts(options.engine.worker),
        ...(options.names ?? []).flatMap((name) => [name.toLowerCase(), `${name.toLowerCase()}:${port}`]),
      ]),
      token,
      clusterToken: engine.clusterToken,
    },
    handlers: makeHandlers({
      engine,
      spaces: makeSpacesReader(options.world),
      hostCompactions: options.hostCompactions ?? (() => []),
      cluster: openClusterReader(database),
      version: options.version,
      models: modelsOf(options.engine),
      agents: agentsForPeople(options.engine.agents),
      project: options.world.cwd,
      pageBytes: limits.pageBytes,
    }),
    streaming: { engine, streams, feeds: makeEventFeeds(engine) },
    page: readPageFiles(options.pageDirectory),
    openApi: () => openApiDocument(options.version),
    readiness: engine.readiness,
    metrics: () => prometheusText(telemetry?.metrics() ?? []),
    limits,
    outgoing,
    log,
    stopping: stopping.signal,
  })
  server.on("request", (request, response) => void respond(request, response))

  const stopped = Promise.withResolvers<void>()
  let isStopping = false
  /** Everything except new work continues until sessions are handed over. Readers are told where to continue. */
  const drain = async (ms: number): Promise<void> => {
    const { active } = engine.sessions
    log(
      `ending the turns of ${(await active()).length} sessions and handing them over, within ${Math.ceil(ms / 1_000)} s`,
    )
    const handedOver = engine.drain({ ms, ...(options.hurry === undefined ? {} : { signal: options.hurry }) })
    streams.close()
    await handedOver
    log(`hand-over done: ${(await active()).length} sessions are interrupted`)
  }
  const leave = async (): Promise<void> => {
    const ms = options.drainMs?.() ?? 0
    if (ms > 0 && !isStopping) await drain(ms).catch(() => undefined)
    await stop()
  }
  const stop = (): Promise<void> => {
    if (isStopping) return stopped.promise
    isStopping = true
    stopping.abort(new Failure("ENGINE_CLOSED"))
    streams.close()
    closeServer(server, limits.stopMs)
      .then(() => telemetry?.close())
      .then(() => engine.close())
      .then(stopped.resolve, stopped.reject)
    return stopped.promise
  }
  if (options.signal?.aborted === true) void leave()
  options.signal?.addEventListener("abort", () => void leave(), { once: true })
  const url = `http://${nameOf(host)}:${port}`
  return {
    url,
    pageUrl: `${url}/#token=${token}`,
    port,
    token,
    streams: streams.count,
    stop,
    stopped: stopped.promise,
  }
}

/** The host as part of an address. A server that listens on every address is reached by loopback. */
const nameOf = (host: string): string => {
  if (isEverywhere(host)) return host === "::" ? "[::1]" : "127.0.0.1"
  return host.includes(":") ? `[${host}]` : host
}

/** A shorter token could be guessed. */
const LEAST_TOKEN = 24

const givenToken = ({ token }: Pick<ServeHttpOptions, "token">): string | undefined => {
  if (token === undefined || (token.length >= LEAST_TOKEN && /^[\x21-\x7e]+$/.test(token))) return token
  throw new Failure("INVALID_INPUT", {
    what: `MERIDIAN_HTTP_TOKEN has at least ${LEAST_TOKEN} visible characters and no space`,
  })
}

/** Other nodes reach a node where it listens, unless another address is configured. */
const reachable = (
  { worker }: Pick<EngineOptions, "worker">,
  database: string,
  url: string,
  host: string,
): Pick<EngineOptions, "worker"> =>
  !isServerAddress(database) || worker === false || worker?.address !== undefined || isEverywhere(host)
    ? {}
    : { worker: { ...worker, address: url } }

/** The host that the node announced to the other nodes. */
const advertisedHosts = (worker: EngineOptions["worker"]): readonly string[] => {
  const address = worker === undefined || worker === false ? undefined : worker.address
  return address === undefined ? [] : [new URL(address).host.toLowerCase()]
}

const ownNames = (): readonly string[] => [
  hostname(),
  ...Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address)),
]

const modelsOf = ({ models, model }: Pick<EngineOptions, "models" | "model">) =>
  models.map(({ id, provider, contextWindow, maxOutput }, index) => ({
    id,
    provider,
    contextWindow,
    maxOutput,
    isDefault: model === undefined ? index === 0 : id === model,
  }))

const makeServer = (limits: HttpLimits): Server => {
  const server = createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.checkMs,
    keepAliveTimeout: limits.keepAliveMs,
    maxHeaderSize: limits.headerBytes,
    insecureHTTPParser: false,
    // We check the Host header ourselves and give a reason; Node would give none.
    requireHostHeader: false,
  })
  server.maxConnections = limits.connections
  server.on("clientError", refuseConnection)
  server.on("checkExpectation", (_request, response) =>
    answerFailure(response, new Failure("EXPECTATION_REFUSED"), { connection: "close" }),
  )
  return server
}

/** A connection that never became a request still gets a reason. */
const refuseConnection = (error: Error & { readonly code?: string }, socket: Duplex): void => {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy()
    return
  }
  const code: FailureCode =
    error.code === "HPE_HEADER_OVERFLOW"
      ? "HEADERS_TOO_LARGE"
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? "REQUEST_TIMEOUT"
        : "REQUEST_MALFORMED"
  socket.end(rawFailure(new Failure(code)), () => socket.destroy())
}

const listen = (server: Server, host: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", (cause: Error & { readonly code?: string }) => {
      reject(
        new Failure("PORT_UNAVAILABLE", { host, port, why: whyNot(cause.code ?? cause.message) }, { cause }),
      )
    })
    server.listen(port, host, () => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server that listens on a port has such an address
      resolve((server.address() as AddressInfo).port)
    })
  })

const whyNot = (code: string): string => REFUSALS[code] ?? code

const REFUSALS: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program listens there (EADDRINUSE)",
  EACCES: "this user may not (EACCES)",
  EADDRNOTAVAIL: "this machine has no such address (EADDRNOTAVAIL)",
  ENOTFOUND: "the name is unknown (ENOTFOUND)",
}

/** Gives open answers this long to finish, then closes every connection. */
const closeServer = (server: Server, patienceMs: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), patienceMs)
    // A kept-alive connection stays open after its last answer unless we close it.
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
    server.close(() => {
      clearTimeout(timer)
      clearInterval(sweep)
      resolve()
    })
    server.closeIdleConnections()
  })

const SWEEP_MS = 20
