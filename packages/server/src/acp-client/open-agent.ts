/**
 * A program that speaks the Agent Client Protocol, version 1: starts it, initialises the connection, and works on one
 * session at a time. The agent gets no files and no terminal from us, only answers to its questions. Any misbehaviour (it
 * ends, stays silent, sends garbage) is an ACP_AGENT_FAILED, and its process is gone when `close` has returned.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process"
import { once } from "node:events"
import { Readable, Writable } from "node:stream"

import {
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type ClientContext,
  type NewSessionRequest,
  type PromptResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionConfigOption,
  type SessionUpdate,
} from "@agentclientprotocol/sdk"
import { Failure, harnessSessionId, plainText } from "@meridian/protocol"

import type { Answer } from "./answer-by-tier.ts"
import { CLIENT_LIMITS } from "./limits.ts"

export interface OpenAgentOptions {
  /** The name in the user's configuration. */
  readonly name: string
  readonly command: readonly [string, ...(readonly string[])]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly version: string
  /** Called only for the open session. */
  readonly onUpdate: (update: SessionUpdate) => void
  readonly answer: (question: RequestPermissionRequest, withdrawn: AbortSignal) => Promise<Answer>
  /** How long it may take to initialise, to open a session, or to change its model. */
  readonly patienceMs?: number
}

export interface OpenedAgent {
  /** Whether it can continue a session of an earlier process. */
  readonly canLoad: boolean
  /** Opens a new session, or loads one. Updates that it replays arrive before this resolves. */
  readonly open: (session: string | undefined) => Promise<string>
  /** False when the agent offers no such choice. */
  readonly chooseModel: (session: string, model: string) => Promise<boolean>
  readonly prompt: (session: string, text: string) => Promise<PromptResponse>
  readonly cancel: (session: string) => Promise<void>
  readonly close: () => Promise<void>
}

type AgentProcess = ChildProcessByStdio<Writable, Readable, Readable>

/** Throws ACP_AGENT_FAILED and leaves nothing behind. */
export const openAgent = async (options: OpenAgentOptions): Promise<OpenedAgent> => {
  const [program, ...args] = options.command
  const { patienceMs = CLIENT_LIMITS.handshakeMs } = options
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
  })
  const ending = watch(child)
  /** Until a new session has its id, every update counts as its own. */
  let own: string | undefined
  const isOwn = (session: string): boolean => own === undefined || session === own
  const app = client({ name: "meridian" })
    .onNotification(methods.client.session.update, ({ params }) => {
      if (isOwn(params.sessionId)) options.onUpdate(params.update)
    })
    .onRequest(
      methods.client.session.requestPermission,
      async ({ params, signal }): Promise<RequestPermissionResponse> => {
        const answer: Answer = isOwn(params.sessionId)
          ? await options.answer(params, signal)
          : { tag: "cancelled" }
        return answer.tag === "cancelled"
          ? { outcome: { outcome: "cancelled" } }
          : { outcome: { outcome: "selected", optionId: answer.optionId } }
      },
    )
  const connection = app.connect(
    ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout), {
      maxMessageBytes: CLIENT_LIMITS.messageBytes,
    }),
  )
  const { agent } = connection
  const failed = (why: string): Failure =>
    new Failure("ACP_AGENT_FAILED", { name: options.name, why: plainText(why).slice(0, 600) })
  let choices: readonly SessionConfigOption[] = []

  /** An agent's answer, or why there is none: its own error message, otherwise how its process ended. */
  const ask = async <Result>(what: string, request: Promise<Result>, timeoutMs?: number): Promise<Result> => {
    const late = timeoutMs === undefined ? undefined : timer(timeoutMs)
    try {
      return await Promise.race([
        request,
        ending.gone.then(() => Promise.reject(new Error(ending.why()))),
        ...(late === undefined
          ? []
          : [late.over.then(() => Promise.reject(new Error(`did not ${what} in time`)))]),
      ])
    } catch (error) {
      // A closed connection explains less than the end of its process.
      await Promise.race([ending.gone, timer(200).over])
      const why = ending.isGone() ? ending.why() : `could not ${what}: ${messageOf(error)}`
      throw failed(why)
    } finally {
      late?.cancel()
    }
  }

  const close = async (): Promise<void> => {
    connection.close()
    child.stdin.end()
    await endProcess(child, ending.gone)
  }

  try {
    const greeting = await ask("introduce itself", greet(agent, options.version), patienceMs)
    if (greeting.protocolVersion !== PROTOCOL_VERSION)
      throw failed(
        `speaks version ${String(greeting.protocolVersion)} of the protocol, and Meridian version ${PROTOCOL_VERSION}`,
      )
    const canLoad = greeting.agentCapabilities?.loadSession === true
    return {
      canLoad,
      open: async (session) => {
        const place: NewSessionRequest = { cwd: options.cwd, mcpServers: [] }
        if (session === undefined) {
          const made = await ask(
            "open a session",
            agent.request(methods.agent.session.new, place),
            patienceMs,
          )
          choices = made.configOptions ?? []
          own = made.sessionId
          if (!isId(own)) throw failed("gives its session an invalid id")
          return own
        }
        if (!canLoad) throw failed("cannot continue an earlier session")
        own = session
        const loaded = await ask(
          "load the session",
          agent.request(methods.agent.session.load, { ...place, sessionId: session }),
          patienceMs,
        )
        choices = loaded.configOptions ?? []
        return session
      },
      chooseModel: async (sessionId, value) => {
        const option = choices.find(({ id, category }) => category === "model" || id === "model")
        if (option === undefined) return false
        const wish = { sessionId, configId: option.id, value }
        const change = agent.request(methods.agent.session.setConfigOption, wish)
        await ask("change its model", change, patienceMs)
        return true
      },
      prompt: async (sessionId, text) => {
        const response = await ask(
          "work",
          agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] }),
        )
        if (typeof response.stopReason !== "string") throw failed("stopped without saying why")
        return response
      },
      cancel: async (sessionId) => {
        await agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => undefined)
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

const greet = (agent: ClientContext, version: string) =>
  agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: {},
    clientInfo: { name: "meridian", version },
  })

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const isId = (text: string): boolean => {
  try {
    harnessSessionId(text)
    return true
  } catch {
    return false
  }
}

/** The last line that Node prints for any crash. */
const NO_REASON = /^Node\.js v\d/

/** How a process ends, in words. */
const watch = (child: AgentProcess) => {
  let reason: string | undefined
  let stderr = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = `${stderr}${text}`.slice(-CLIENT_LIMITS.stderrCharacters)
  })
  // A write to a process that has just ended fails; its end is reported separately.
  child.stdin.on("error", () => undefined)
  child.stdout.on("error", () => undefined)
  const gone = new Promise<void>((resolve) => {
    child.once("error", (error) => {
      reason = `could not be started: ${error.message}`
      resolve()
    })
    child.once("close", (code, signal) => {
      reason ??= signal === null ? `ended with code ${code}` : `was ended by ${signal}`
      resolve()
    })
  })
  return {
    gone,
    isGone: (): boolean => reason !== undefined,
    why: (): string => {
      const lines = stderr.split("\n").map((line) => line.trim())
      const said = lines.findLast((line) => line !== "" && !NO_REASON.test(line)) ?? ""
      return said === "" ? (reason ?? "ended") : `${reason ?? "ended"}: ${said}`
    },
  }
}

const endProcess = async (child: AgentProcess, gone: Promise<void>): Promise<void> => {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    const late = timer(CLIENT_LIMITS.graceMs)
    const isGone = await Promise.race([gone.then(() => true), late.over.then(() => false)])
    late.cancel()
    if (isGone || child.exitCode !== null || child.signalCode !== null) return
    child.kill(signal)
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "close")
}

const timer = (ms: number): { readonly over: Promise<void>; readonly cancel: () => void } => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const handle = setTimeout(resolve, ms)
  return { over: promise, cancel: () => clearTimeout(handle) }
}
