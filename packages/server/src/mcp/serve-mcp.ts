/**
 * The MCP server over stdio: exactly the operations that are tools. It ends when its input ends; running calls are then
 * cancelled, and settled before it returns. Its output carries only the protocol.
 */
import type { Readable, Writable } from "node:stream"

import type { SpaceId } from "@meridian/protocol"
import type { Registration } from "@meridian/spaces"
import { Server } from "@modelcontextprotocol/server"
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio"

import { callTool, type ServeWorld } from "./tool-call.ts"
import { describeTool, toolRegistrations } from "./tool-list.ts"

export interface ServeMcpOptions {
  readonly operations: readonly Registration[]
  readonly version: string
  readonly world: ServeWorld
  readonly input: Readable
  readonly output: Writable
  /** Stops the server. */
  readonly signal: AbortSignal
}

/** A client without news gives up (60 s is common). We promise a sign of life every 5 s. */
const HEARTBEAT_MS = 4_000

export const serveMcp = async (options: ServeMcpOptions): Promise<void> => {
  const tools = toolRegistrations(options.operations)
  const stopped = new AbortController()
  const running = new Set<Promise<unknown>>()
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      stopped.abort()
      resolve()
    }
    options.input.once("end", end)
    options.input.once("close", end)
    options.output.once("error", end)
    if (options.signal.aborted) end()
    else options.signal.addEventListener("abort", end, { once: true })
  })
  const makeServer = (): Server => {
    const worldOf = openConnection(options.world)
    // oxlint-disable-next-line typescript/no-deprecated -- the high-level class wants zod schemas; ours are JSON schemas already
    const server = new Server(
      { name: "meridian", version: options.version },
      { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
    )
    server.setRequestHandler("tools/list", () => ({
      tools: [...tools].map(([name, registration]) => describeTool(name, registration)),
    }))
    server.setRequestHandler("tools/call", async (request, context) => {
      const { name, arguments: values } = request.params
      const registration = tools.get(name)
      if (registration === undefined)
        return {
          isError: true,
          content: [
            { type: "text", text: `ERROR [UNKNOWN_COMMAND]: Unknown tool '${name}'. Next: call tools/list.` },
          ],
        }
      // oxlint-disable-next-line eslint/no-underscore-dangle -- the protocol's name
      const token = context.mcpReq._meta?.progressToken
      const heart = beat(options.world, (message, progress) => {
        if (token === undefined) return
        void context.mcpReq
          .notify({ method: "notifications/progress", params: { progressToken: token, progress, message } })
          .catch(() => {})
      })
      const call = callTool(
        {
          registration,
          values: values ?? {},
          signal: AbortSignal.any([context.mcpReq.signal, stopped.signal]),
          progress: heart.say,
        },
        worldOf(),
      ).finally(heart.stop)
      running.add(call)
      const answer = await call.finally(() => running.delete(call))
      return {
        isError: answer.isError,
        content: [{ type: "text", text: answer.text }],
        ...(answer.document === undefined ? {} : { structuredContent: { ...answer.document } }),
      }
    })
    return server
  }
  const transport = new StdioServerTransport(options.input, options.output)
  const handle = serveStdio(makeServer, { transport })
  await ended
  await Promise.allSettled(running)
  await handle.close()
}

/**
 * Runs of one connection belong together. The first call that names no space creates one, and later calls without a space
 * use it.
 */
const openConnection = (world: ServeWorld): (() => ServeWorld) => {
  let made: Promise<SpaceId> | undefined
  let space: SpaceId | undefined
  const ownSpace: ServeWorld["ownSpace"] = async (make) => {
    made ??= make()
    try {
      space = await made
      return space
    } catch (cause) {
      made = undefined
      throw cause
    }
  }
  return () => ({
    ...world,
    ownSpace,
    env: space === undefined ? world.env : { MERIDIAN_SPACE_ID: space, ...withoutEmpty(world.env) },
  })
}

/** An empty variable counts as unset. */
const withoutEmpty = ({ MERIDIAN_SPACE_ID: given, ...env }: ServeWorld["env"]): ServeWorld["env"] =>
  (given ?? "") === "" ? env : { ...env, MERIDIAN_SPACE_ID: given }

const INSTRUCTIONS =
  "Meridian starts other coding agents (runs) and keeps their reports. run_spawn and run_wait block and report progress; pass background: true to run_spawn to get the id at once, then run_wait. Runs that name no 'space' share one of this connection, unless MERIDIAN_SPACE_ID is set."

/** Sends progress at least every `HEARTBEAT_MS` until stopped. The number only ever grows. */
const beat = (
  world: Pick<ServeWorld, "clock">,
  send: (message: string, progress: number) => void,
): { readonly say: (message: string) => void; readonly stop: () => void } => {
  const done = new AbortController()
  const started = world.clock.now()
  let count = 0
  let last = "working"
  // A waiting operation repeats the same message; only news is sent at once.
  const say = (message: string): void => {
    if (message === last) return
    last = message
    count += 1
    send(message, count)
  }
  const loop = async (): Promise<void> => {
    while (!done.signal.aborted) {
      await world.clock.sleep(HEARTBEAT_MS, done.signal)
      if (done.signal.aborted) return
      count += 1
      send(`${last} (${Math.round((world.clock.now() - started) / 1000)} s)`, count)
    }
  }
  void loop()
  return { say, stop: () => done.abort() }
}
