/**
 * The engine as an agent for editors: Agent Client Protocol, version 1, over stdio. It ends when its input ends; running
 * work is then stopped and settled. Its output carries only the protocol.
 */
import { isAbsolute } from "node:path"
import { Readable, Writable } from "node:stream"

import {
  agent,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type AgentConnection,
  type ClientCapabilities,
  type InitializeResponse,
  type ListSessionsRequest,
  type ListSessionsResponse,
  type McpServer,
} from "@agentclientprotocol/sdk"
import type { Engine } from "@meridian/engine"
import { asObject, Failure, type JsonObject } from "@meridian/protocol"

import { answering } from "./answer-failure.ts"
import { configOptionsOf, modesOf } from "./choices.ts"
import { clientServers } from "./client-servers.ts"
import { openDoor, type ClientPort, type Door, type DoorOptions, type OpenedSession } from "./door.ts"
import { openDoors } from "./doors.ts"
import { ACP_LIMITS } from "./limits.ts"
import { listSessions } from "./list-sessions.ts"
import type { ClientFeatures } from "./session-updates.ts"

export interface SessionWish {
  /** An absolute path. */
  readonly directory: string
  readonly mcpServers: readonly JsonObject[]
  /** An existing session. Without it a new one is created. */
  readonly session?: string
}

export interface ServeAcpOptions {
  /** Opens an engine for one session on the state of its directory. Throws a Failure and leaves nothing open. */
  readonly open: (wish: SessionWish) => Promise<OpenedSession>
  /** Lends a read-only engine for the sessions of a directory. Throws ENGINE_DATABASE_NOT_FOUND when it has none. */
  readonly browse: <Result>(directory: string, look: (engine: Engine) => Promise<Result>) => Promise<Result>
  /** The directory for a client that names none. */
  readonly directory: string
  readonly version: string
  readonly uuid: () => string
  readonly input: Readable
  readonly output: Writable
  /** Stops the server. */
  readonly signal: AbortSignal
}

/** Resolves when the client is gone and everything is settled. */
export const serveAcp = async (options: ServeAcpOptions): Promise<void> => {
  const doors = openDoors<SessionWish>({ most: ACP_LIMITS.openSessions })
  let features: ClientFeatures = { terminalOutput: false, compactions: false, notices: false }
  // oxlint-disable-next-line eslint/prefer-const -- handlers need the connection they are registered before
  let connection: AgentConnection

  const portOf = (sessionId: string): ClientPort => ({
    tell: async (update, seq) => {
      const place = seq === undefined ? {} : { _meta: { "meridian/seq": seq } }
      await connection.client
        .notify(methods.client.session.update, { sessionId, update, ...place })
        .catch(ignoreClosed)
    },
    ask: (request, withdrawn) =>
      connection.client.request(
        methods.client.session.requestPermission,
        { sessionId, ...request },
        { cancellationSignal: withdrawn, stopWaitingOnCancel: true },
      ),
    isGone: () => connection.signal.aborted,
  })

  const enter = async (wish: SessionWish, past: DoorOptions["past"]): Promise<string> => {
    const opened = await options.open(wish)
    const { id } = opened.session
    try {
      await doors.put(id, { ...wish, session: id }, () =>
        openDoor({ opened, client: portOf(id), features, past, uuid: options.uuid }),
      )
    } catch (error) {
      await opened.engine.close()
      throw error
    }
    return id
  }

  /** The door of a session of this connection. One that was closed to make room is reopened. */
  const find = async (sessionId: string): Promise<Door> => {
    const door = doors.find(sessionId)
    if (door !== undefined) return door
    const wish = doors.wishOf(sessionId)
    if (wish === undefined) throw new Failure("ACP_SESSION_NOT_OPEN", { session: sessionId })
    await enter(wish, "news")
    return doors.find(sessionId) ?? find(sessionId)
  }

  const begin = async (wish: SessionWish, past: DoorOptions["past"]) => {
    if (wish.session !== undefined) await doors.close(wish.session)
    const sessionId = await enter(wish, past)
    const door = await find(sessionId)
    const choices = door.choices()
    // After the answer, because only then the client knows the session.
    setImmediate(() => {
      void portOf(sessionId).tell(
        { sessionUpdate: "available_commands_update", availableCommands: COMMANDS },
        undefined,
      )
      door.askOpenQuestions().catch(() => undefined)
    })
    return { sessionId, modes: modesOf(choices), configOptions: configOptionsOf(choices) }
  }

  const app = agent({ name: "meridian" })
    .onRequest(methods.agent.initialize, ({ params }) => {
      features = featuresOf(params.clientCapabilities)
      return greeting(options.version)
    })
    .onRequest(methods.agent.authenticate, () => ({}))
    .onRequest(methods.agent.session.new, ({ params }) => answering(() => begin(wishOf(params), "nothing")))
    .onRequest(methods.agent.session.load, ({ params }) =>
      answering(async () => {
        const { modes, configOptions } = await begin(wishOf(params), "history")
        return { modes, configOptions }
      }),
    )
    .onRequest(methods.agent.session.resume, ({ params }) =>
      answering(async () => {
        const { modes, configOptions } = await begin(wishOf(params), "news")
        return { modes, configOptions }
      }),
    )
    .onRequest(methods.agent.session.list, ({ params }) => answering(() => list(params, options)))
    .onRequest(methods.agent.session.close, ({ params }) =>
      answering(async () => {
        await doors.forget(params.sessionId)
        return {}
      }),
    )
    .onRequest(methods.agent.session.prompt, ({ params, signal }) =>
      answering(async () => (await find(params.sessionId)).prompt(params.prompt, signal)),
    )
    .onNotification(methods.agent.session.cancel, async ({ params }) => {
      await doors
        .find(params.sessionId)
        ?.cancel()
        .catch(() => undefined)
    })
    .onRequest(methods.agent.session.setMode, ({ params }) =>
      answering(async () => {
        await (await find(params.sessionId)).chooseAgent(params.modeId)
        return {}
      }),
    )
    .onRequest(methods.agent.session.setConfigOption, ({ params }) =>
      answering(async () => {
        const door = await find(params.sessionId)
        await choose(door, params.configId, params.value)
        return { configOptions: configOptionsOf(door.choices()) }
      }),
    )

  connection = app.connect(
    ndJsonStream(Writable.toWeb(options.output), Readable.toWeb(options.input), {
      maxMessageBytes: ACP_LIMITS.messageBytes,
    }),
  )
  const stop = (): void => connection.close()
  options.output.once("error", stop)
  options.signal.addEventListener("abort", stop, { once: true })
  if (options.signal.aborted) stop()
  await connection.closed
  await doors.closeAll()
}

const wishOf = (params: {
  readonly cwd: string
  readonly mcpServers?: readonly McpServer[]
  readonly sessionId?: string
}): SessionWish => {
  if (!isAbsolute(params.cwd))
    throw new Failure("ACP_DIRECTORY_RELATIVE", { directory: JSON.stringify(params.cwd.slice(0, 200)) })
  return {
    directory: params.cwd,
    mcpServers: clientServers(params.mcpServers ?? []),
    ...(params.sessionId === undefined ? {} : { session: params.sessionId }),
  }
}

const choose = async (door: Door, option: string, value: unknown): Promise<void> => {
  if (typeof value === "string" && option === "mode") return door.chooseAgent(value)
  if (typeof value === "string" && option === "model") return door.chooseModel(value)
  throw new Failure("INVALID_INPUT", {
    what: `There is no option ${JSON.stringify(option.slice(0, 100))} with such a value; there are mode and model`,
  })
}

const list = async (
  { cwd, cursor }: ListSessionsRequest,
  { browse, directory }: ServeAcpOptions,
): Promise<ListSessionsResponse> => {
  const asked = cwd ?? undefined
  if (asked !== undefined && !isAbsolute(asked))
    throw new Failure("ACP_DIRECTORY_RELATIVE", { directory: JSON.stringify(asked.slice(0, 200)) })
  try {
    return await browse(asked ?? directory, (engine) =>
      listSessions(engine, { directory: asked, cursor: cursor ?? undefined }),
    )
  } catch (error) {
    if (error instanceof Failure && error.code === "ENGINE_DATABASE_NOT_FOUND") return { sessions: [] }
    throw error
  }
}

const greeting = (version: string): InitializeResponse => ({
  protocolVersion: PROTOCOL_VERSION,
  agentInfo: { name: "meridian", title: "Meridian", version },
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: true, audio: false, embeddedContext: true },
    mcpCapabilities: { http: true, sse: false },
    sessionCapabilities: { list: {}, resume: {}, close: {} },
  },
  authMethods: [],
})

const featuresOf = (capabilities: ClientCapabilities | undefined): ClientFeatures => ({
  // oxlint-disable-next-line eslint/no-underscore-dangle -- the protocol's name
  terminalOutput: asObject(capabilities?._meta)?.["terminal_output"] === true,
  compactions: (capabilities?.session?.compaction ?? null) !== null,
  notices: (capabilities?.session?.notices ?? null) !== null,
})

const COMMANDS = [{ name: "compact", description: "Summarise the conversation so far to free the context." }]

/** The connection itself notices a client that went away. */
const ignoreClosed = (): void => undefined
