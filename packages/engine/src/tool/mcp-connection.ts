/**
 * One MCP server: connected on first use, dropped when it dies or hangs, reconnected by the next call. A server that keeps
 * failing is left alone for growing periods, during which calls fail with the reason.
 */
import { randomBytes } from "node:crypto"

import type {
  CallToolResult,
  Client,
  ReadResourceResult,
  Tool as McpTool,
} from "@modelcontextprotocol/client"

import { pause } from "../port/machine-time.ts"
import { ToolError } from "../port/tool.ts"
import { errorLine } from "./describe-error.ts"
import { endProcesses } from "./end-processes.ts"
import { TOOL_LIMITS } from "./limits.ts"
import type { McpAccount, McpServer } from "./mcp-servers.ts"
import type { ProcessGuard } from "./process-guard.ts"
import { asEnvironment } from "./process-mark.ts"
import { findProcesses } from "./process-table.ts"
import { waitAfterAbort } from "./wait-after-abort.ts"

export interface McpConnectionOptions {
  readonly guard: ProcessGuard
  /** What a stdio server inherits, in addition to its own variables. */
  readonly environment: { readonly [name: string]: string | undefined }
  /** Where a stdio server runs. */
  readonly directory: string
  /** Milliseconds that never go back. */
  readonly monotonic: () => number
  readonly connectMs: number
  readonly callMs: number
  /** How long an aborted call may continue. */
  readonly graceMs: number
  readonly backoffMs: number
  /** The server reports that its list of tools has changed. */
  readonly onToolsChanged: () => void
}

export interface McpConnection {
  readonly server: string
  readonly listTools: () => Promise<readonly McpTool[]>
  readonly callTool: (
    name: string,
    input: { readonly [key: string]: unknown },
    signal: AbortSignal,
  ) => Promise<CallToolResult>
  readonly listResources: () => Promise<readonly { readonly uri: string; readonly name: string }[]>
  readonly readResource: (uri: string, signal: AbortSignal) => Promise<ReadResourceResult>
  /** Ends the server's processes. Later calls are refused. */
  readonly close: () => Promise<void>
}

interface Live {
  readonly client: Client
  readonly end: () => Promise<void>
}

export const openMcpConnection = (server: McpServer, options: McpConnectionOptions): McpConnection => {
  const say = (what: string): string => `The MCP server ${server.name} ${what}`
  let live: Promise<Live> | undefined
  let failures = 0
  let retryAt = 0
  let lastProblem = ""
  let closed = false

  const failed = (error: unknown): void => {
    failures++
    lastProblem = errorLine(error)
    const backoff = Math.min(options.backoffMs * 2 ** (failures - 1), TOOL_LIMITS.mcpLongestBackoffMs)
    retryAt = options.monotonic() + backoff
  }

  const drop = async (dropped: Promise<Live>): Promise<void> => {
    if (live === dropped) live = undefined
    await dropped.then(({ end }) => end()).catch(() => undefined)
  }

  const connect = async (): Promise<Live> => {
    const started: Promise<Live> = start(server, options, () => {
      if (live === started) live = undefined
    })
    live = started
    try {
      return await started
    } catch (error) {
      if (live === started) live = undefined
      failed(error)
      throw new ToolError("failed", say(`could not be reached: ${lastProblem}`), { cause: error })
    }
  }

  const connected = async (): Promise<Live> => {
    if (closed) throw new ToolError("failed", say("is closed."))
    if (live !== undefined) return live
    const waitMs = retryAt - options.monotonic()
    if (failures > 0 && waitMs > 0)
      throw new ToolError(
        "failed",
        say(`failed (${lastProblem}) and is tried again in ${Math.ceil(waitMs / 1000)} s.`),
      )
    return connect()
  }

  /** Runs one exchange. An error that breaks it also ends the connection, so that the next one starts fresh. */
  const exchange = async <Value>(work: (client: Client) => Promise<Value>): Promise<Value> => {
    const { client } = await connected()
    const used = live
    try {
      const value = await work(client)
      failures = 0
      return value
    } catch (error) {
      // An error answer from the server does not mean a broken connection.
      if (isAnswer(error))
        throw new ToolError("failed", say(`answered: ${errorLine(error)}`), { cause: error })
      // The interrupted call was cancelled at the server. Other calls may still use the connection.
      if (error instanceof ToolError) throw error
      if (used !== undefined) await drop(used)
      failed(error)
      if (isTimeout(error))
        throw new ToolError("timeout", say(`did not answer within ${options.callMs / 1000} s.`), {
          cause: error,
        })
      throw new ToolError("failed", say(`broke off: ${errorLine(error)}. The next call starts it again.`), {
        cause: error,
      })
    }
  }

  return {
    server: server.name,
    listTools: async () => {
      const { tools } = await exchange((client) =>
        client.listTools(undefined, { timeout: options.connectMs, cacheMode: "refresh" }),
      )
      return tools.slice(0, TOOL_LIMITS.mcpTools)
    },
    callTool: (name, input, signal) =>
      exchange((client) => {
        const bounds = { timeout: options.callMs, maxTotalTimeout: options.callMs }
        // A server that is told to cancel does not answer, and nobody would learn what the call did.
        return waitAfterAbort({ signal, graceMs: options.graceMs }, (stop) =>
          client.callTool({ name, arguments: { ...input } }, { ...bounds, signal: stop }),
        )
      }),
    listResources: async () => {
      const { resources } = await exchange((client) =>
        client.listResources(undefined, { timeout: options.connectMs, cacheMode: "refresh" }),
      )
      return resources.slice(0, TOOL_LIMITS.mcpResources).map(({ uri, name }) => ({ uri, name }))
    },
    readResource: (uri, signal) =>
      exchange((client) =>
        waitAfterAbort({ signal, graceMs: options.graceMs }, (stop) =>
          client.readResource({ uri }, { timeout: options.callMs, cacheMode: "refresh", signal: stop }),
        ),
      ),
    close: async () => {
      closed = true
      if (live !== undefined) await drop(live)
    },
  }
}

const start = async (
  server: McpServer,
  options: McpConnectionOptions,
  onClose: () => void,
): Promise<Live> => {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client")
  const client = new Client(
    { name: "meridian", version: "0.1.0" },
    {
      listMaxPages: TOOL_LIMITS.mcpPages,
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: options.onToolsChanged } },
    },
  )
  const mark = `MERIDIAN_MCP_SERVER=${randomBytes(12).toString("hex")}`
  let ended: Promise<void> | undefined
  const end = (): Promise<void> => (ended ??= endServer(client, server, mark))
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's client has no addEventListener
  client.onclose = () => {
    onClose()
    void end().catch(() => undefined)
  }
  try {
    if (server.type === "http") {
      const transport = new StreamableHTTPClientTransport(new URL(server.url), {
        requestInit: { headers: { ...server.headers } },
        fetch: boundedFetch,
        ...(server.oauth === undefined ? {} : { authProvider: await openAccount(server.oauth) }),
        // A broken stream breaks its call. The next call reconnects.
        reconnectionOptions: {
          maxRetries: 0,
          initialReconnectionDelay: 1,
          maxReconnectionDelay: 1,
          reconnectionDelayGrowFactor: 1,
        },
      })
      await client.connect(transport, { timeout: options.connectMs })
    } else {
      await options.guard.ready()
      const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio")
      const inherited = Object.entries(options.environment).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value] as const],
      )
      const transport = new StdioClientTransport({
        command: server.command,
        args: [...server.args],
        cwd: server.directory ?? options.directory,
        env: {
          ...Object.fromEntries(inherited),
          ...server.environment,
          ...asEnvironment([mark, options.guard.mark]),
        },
        stderr: "ignore",
        maxBufferSize: TOOL_LIMITS.mcpMessageBytes,
      })
      await client.connect(transport, { timeout: options.connectMs })
    }
    return { client, end }
  } catch (error) {
    await end()
    throw error
  }
}

const openAccount = async ({ clientId, clientSecret, issuer, scope }: McpAccount) => {
  const { ClientCredentialsProvider } = await import("@modelcontextprotocol/client")
  return new ClientCredentialsProvider({
    clientId,
    clientSecret,
    expectedIssuer: issuer,
    clientName: "meridian",
    ...(scope === undefined ? {} : { scope }),
  })
}

/** Closes politely. Whatever still carries the mark after a moment is ended, including a server's own children. */
const endServer = async (client: Client, server: McpServer, mark: string): Promise<void> => {
  const closing = client.close().catch(() => undefined)
  const patience = new AbortController()
  await Promise.race([
    closing,
    pause(TOOL_LIMITS.mcpCloseMs, undefined, { signal: patience.signal }).catch(() => undefined),
  ])
  patience.abort()
  if (server.type === "http") return
  await endProcesses({
    graceMs: TOOL_LIMITS.mcpCloseMs,
    waitMs: TOOL_LIMITS.leftoversMs,
    find: () => findProcesses(async (_, environment) => (await environment()).has(mark)),
  })
}

/** A JSON answer is read completely before it is parsed, so its size is bounded here. */
const boundedFetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
  const response = await globalThis.fetch(url, init)
  if (response.body === null || !(response.headers.get("content-type") ?? "").includes("application/json"))
    return response
  let bytes = 0
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform: (piece, controller) => {
      bytes += piece.byteLength
      if (bytes > TOOL_LIMITS.mcpMessageBytes) controller.error(new Error("the answer is too large"))
      else controller.enqueue(piece)
    },
  })
  const { status, statusText, headers } = response
  return new Response(response.body.pipeThrough(counted), { status, statusText, headers })
}

/** JSON-RPC errors have a number as code, the SDK's own errors a word. */
const isAnswer = (error: unknown): boolean =>
  error instanceof Error && "code" in error && typeof error.code === "number"

const isTimeout = (error: unknown): boolean =>
  error instanceof Error &&
  "code" in error &&
  (error.code === "REQUEST_TIMEOUT" || error.code === "RequestTimeout")
