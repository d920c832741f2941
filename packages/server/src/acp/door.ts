/**
 * One session as a client has it open. It follows the events and reports them in order. It puts questions to the client,
 * including those left open by an earlier process. It answers a prompt when the session has settled. Whatever happens to
 * the client or to this process, the session itself is in the log.
 */
import type {
  ContentBlock,
  PromptResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
  StopReason,
} from "@agentclientprotocol/sdk"
import type { Engine, SessionEvent, SessionInfo } from "@meridian/engine"
import { Failure, type PermissionReply, type Prompt } from "@meridian/protocol"

import { followEvents, type Follower } from "../session/follow-events.ts"
import { settled } from "../session/settled.ts"
import type { Choices } from "./choices.ts"
import { answerOf, permissionOptions } from "./permission.ts"
import { promptOf } from "./prompt-blocks.ts"
import { openSessionUpdates, type ClientFeatures } from "./session-updates.ts"
import { shownTitle } from "./tool-face.ts"

/** A session with its own engine, which closes with the door. */
export interface OpenedSession {
  readonly engine: Engine
  readonly session: SessionInfo
  readonly models: readonly string[]
  readonly defaultModel: string
  readonly agents: readonly string[]
}

/** What a door needs from the client. */
export interface ClientPort {
  /** Resolves when the update is written. `seq`: the event it is about; fragments have none. */
  readonly tell: (update: SessionUpdate, seq: number | undefined) => Promise<void>
  readonly ask: (
    request: Omit<RequestPermissionRequest, "sessionId">,
    withdrawn: AbortSignal,
  ) => Promise<RequestPermissionResponse>
  readonly isGone: () => boolean
}

export interface DoorOptions {
  readonly opened: OpenedSession
  readonly client: ClientPort
  readonly features: ClientFeatures
  /**
   * `history`: everything that happened is reported first. `news`: the past is read but not reported. `nothing`: there is
   * no past.
   */
  readonly past: "history" | "news" | "nothing"
  readonly uuid: () => string
}

export interface Door {
  readonly choices: () => Choices
  readonly isBusy: () => boolean
  /** Puts unanswered questions to the client. */
  readonly askOpenQuestions: () => Promise<void>
  readonly prompt: (blocks: readonly ContentBlock[], cancelled: AbortSignal) => Promise<PromptResponse>
  readonly cancel: () => Promise<void>
  readonly chooseAgent: (agent: string) => Promise<void>
  readonly chooseModel: (model: string) => Promise<void>
  /** Stops and settles running work. Questions stay open. */
  readonly close: () => Promise<void>
}

/** Resolves when the past has been reported. */
export const openDoor = async (options: DoorOptions): Promise<Door> => {
  const { opened, client, past } = options
  const { engine, session } = opened
  const { sessions, permissions } = engine
  const sessionID = session.id
  const own = new Set<string>()
  const asking = new Map<string, AbortController>()
  const turns = new Set<{ cancelled: boolean }>()
  const closed = new AbortController()
  const caughtUp = Promise.withResolvers<void>()
  let isCaughtUp = past === "nothing"
  let isNamed = session.title !== undefined || past !== "nothing"

  const updates = openSessionUpdates({
    directory: session.location.directory,
    features: options.features,
    choices: {
      agents: opened.agents,
      agent: session.agent,
      models: opened.models,
      model: session.model ?? opened.defaultModel,
    },
    isOwnPrompt: (id) => own.has(id),
  })

  const take = async (event: SessionEvent): Promise<void> => {
    const told = updates.event(event)
    const seq = "seq" in event ? event.seq : undefined
    if (isCaughtUp || past === "history") for (const update of told) await client.tell(update, seq)
    if (event.type === "synced") {
      isCaughtUp = true
      caughtUp.resolve()
    }
    if (!isCaughtUp) return
    if (event.type === "session.next.permission.asked.1") void ask(event.data.requestID)
    if (event.type === "session.next.permission.replied.1") asking.get(event.data.requestID)?.abort()
  }

  const ask = async (requestID: string): Promise<void> => {
    const question = updates.question(requestID)
    if (question === undefined || asking.has(requestID)) return
    const withdrawn = new AbortController()
    asking.set(requestID, withdrawn)
    try {
      const { toolCall } = question
      const response = await client.ask({ toolCall, options: permissionOptions(question) }, withdrawn.signal)
      if (withdrawn.signal.aborted) return
      const answer = answerOf(response)
      if (answer.tag === "interrupt") await cancel()
      else await reply(requestID, { reply: answer.reply })
    } catch {
      // The question was answered elsewhere, or the client is gone. Then it waits for the next client that opens the
      // session.
      if (withdrawn.signal.aborted || closed.signal.aborted || client.isGone()) return
      await reply(requestID, { reply: "reject", message: "The editor could not ask the person." }).catch(
        () => undefined,
      )
    } finally {
      asking.delete(requestID)
    }
  }

  const reply = async (
    requestID: string,
    answer: { readonly reply: PermissionReply; readonly message?: string },
  ): Promise<void> => {
    try {
      await permissions.reply({ requestID, ...answer })
    } catch (error) {
      if (!(error instanceof Failure && error.code === "REQUEST_NOT_FOUND")) throw error
    }
  }

  const cancel = async (): Promise<void> => {
    for (const turn of turns) turn.cancelled = true
    // The client now answers its open questions with "cancelled". We know that already.
    for (const withdrawn of asking.values()) withdrawn.abort()
    for (const { id } of await sessions.inputs(sessionID))
      if (own.has(id)) await sessions.cancel({ sessionID, id }).catch(ignoreGoneInput)
    await sessions.interrupt(sessionID)
  }

  /** One writer only: we see what another process does, and do not interfere. */
  const requireFree = async (): Promise<void> => {
    const { status } = await sessions.get(sessionID)
    if (status === "running" && !(await sessions.active()).includes(sessionID))
      throw new Failure("SESSION_IN_USE", { session: sessionID })
  }

  /** The first prompt gives the session its name. */
  const tellName = async (): Promise<void> => {
    if (isNamed) return
    const { title } = await sessions.get(sessionID)
    if (title === undefined) return
    isNamed = true
    await client.tell({ sessionUpdate: "session_info_update", title: shownTitle(title) }, undefined)
  }

  const work = async (prompt: Prompt): Promise<void> => {
    if (prompt.text.trim() === COMPACT && prompt.files === undefined) {
      await sessions.compact(sessionID)
      return
    }
    const id = `msg_${options.uuid()}`
    own.add(id)
    // Admitted without waking, then woken here, so that no other engine on this database takes it up.
    await sessions.prompt({ sessionID, id, prompt, resume: false })
    await tellName()
    await sessions.wake(sessionID)
  }

  const prompt: Door["prompt"] = async (blocks, cancelled) => {
    await requireFree()
    const asked = promptOf(blocks, session.location.directory)
    const turn = { cancelled: cancelled.aborted }
    const stop = (): void => {
      turn.cancelled = true
      cancel().catch(() => undefined)
    }
    turns.add(turn)
    cancelled.addEventListener("abort", stop, { once: true })
    try {
      if (!turn.cancelled) await work(asked)
      const failure = await settled(sessions, sessionID)
      await follower.upTo((await sessions.get(sessionID)).seq)
      return { stopReason: turn.cancelled ? "cancelled" : stopReason(failure, updates.ending()) }
    } finally {
      cancelled.removeEventListener("abort", stop)
      turns.delete(turn)
    }
  }

  const choose = async (change: () => Promise<void>): Promise<void> => {
    await change()
    await follower.upTo((await sessions.get(sessionID)).seq)
  }

  const follower: Follower = followEvents(
    engine,
    { sessionID, after: past === "nothing" ? session.seq : 0 },
    take,
  )
  const listening = (async () => {
    if (past !== "nothing") await caughtUp.promise
    for await (const item of sessions.live(sessionID, { signal: closed.signal }))
      for (const update of updates.live(item)) await client.tell(update, undefined)
  })().catch(() => undefined)

  const close = async (): Promise<void> => {
    if (closed.signal.aborted) return
    closed.abort()
    caughtUp.resolve()
    for (const withdrawn of asking.values()) withdrawn.abort()
    await engine.close()
    await follower.close().catch(() => undefined)
    await listening
  }

  if (past !== "nothing") await Promise.race([caughtUp.promise, follower.upTo(Number.MAX_SAFE_INTEGER)])
  return {
    choices: updates.choices,
    isBusy: () => turns.size > 0 || asking.size > 0,
    askOpenQuestions: async () => {
      for (const { id } of await permissions.list({ sessionID })) void ask(id)
    },
    prompt,
    cancel,
    chooseAgent: (agent) => {
      if (!opened.agents.includes(agent))
        throw new Failure("INVALID_INPUT", {
          what: `There is no agent ${JSON.stringify(agent.slice(0, 100))}; there are ${opened.agents.join(", ")}`,
        })
      return choose(() => sessions.switchAgent({ sessionID, agent }))
    },
    chooseModel: (model) => choose(() => sessions.switchModel({ sessionID, model })),
    close,
  }
}

const COMPACT = "/compact"

const ignoreGoneInput = (error: unknown): void => {
  // It was promoted at this very moment. The interruption ends it.
  if (!(error instanceof Failure && error.code === "INPUT_NOT_FOUND")) throw error
}

const stopReason = (
  failure: Failure | undefined,
  ending: ReturnType<ReturnType<typeof openSessionUpdates>["ending"]>,
): StopReason => {
  if (failure?.code === "TURN_LIMIT") return "max_turn_requests"
  if (ending.tag === "interrupted") return "cancelled"
  if (failure !== undefined) throw failure
  if (ending.tag === "finished" && ending.finish === "length") return "max_tokens"
  if (ending.tag === "finished" && ending.finish === "content-filter") return "refusal"
  return "end_turn"
}
