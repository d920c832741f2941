/** What each route does. A route without a handler does not compile, nor does a handler with the wrong answer type. */
import type { Cluster, Engine } from "@meridian/engine"
import { Failure } from "@meridian/protocol"

import { LONGEST_WAIT_SECS, type AnswerOf, type Contract, type InputOf } from "../contract/contract.ts"
import type { ModelDocument } from "../contract/documents.ts"
import type {
  RunAppliedDocument,
  RunDiffDocument,
  RunDiscardedDocument,
  RunResumedDocument,
  RunToldDocument,
} from "../contract/run-work.ts"
import type {
  ChatDocument,
  HostCompactionDocument,
  RunDocument,
  RunRow,
  SpaceDocument,
  SpaceRow,
} from "../contract/spaces.ts"
import { listDirectory } from "./list-directory.ts"
import { reviewText } from "./review-text.ts"
import type { SpacesReader } from "./spaces-reader.ts"

export interface Desk {
  readonly engine: Engine
  readonly spaces: SpacesReader
  readonly hostCompactions: HostCompactions
  /** Rejects with DATABASE_NO_SERVER when the database is a file. */
  readonly cluster: () => Promise<Cluster>
  readonly version: string
  readonly models: readonly ModelDocument[]
  readonly agents: readonly { readonly name: string; readonly model?: string }[]
  /** The directory in which the server was started. */
  readonly project: string
  /** The approximate size of a page of messages or inputs. */
  readonly pageBytes: number
}

/** Receipts of a conversation in a host, by its harness and the harness's id; empty when nothing is known. */
export type HostCompactions = (harness: string, sessionID: string) => readonly HostCompactionDocument[]

/** `signal` aborts when the client goes away or the server stops. */
export type Handler<R> = (input: InputOf<R>, signal: AbortSignal) => Promise<AnswerOf<R>>

export type Handlers = {
  readonly [Group in keyof Contract]: {
    readonly [Name in keyof Contract[Group]]: Handler<Contract[Group][Name]>
  }
}

export const makeHandlers = (desk: Desk): Handlers => {
  const { engine, version, models, agents, project, pageBytes } = desk
  const { sessions, permissions, questions } = engine
  return {
    server: {
      health: async () => ({ healthy: true, version }),
      models: async () => ({ items: models }),
      agents: async () => ({ items: agents }),
      cluster: () => desk.cluster(),
      directories: ({ path = project }) => listDirectory(path),
    },
    sessions: {
      create: (input) => sessions.create(input),
      list: (input) => sessions.list(input),
      get: ({ sessionID }) => sessions.get(sessionID),
      fork: (input) => sessions.fork(input),
      prompt: (input) => sessions.prompt({ expand: true, ...input }),
      search: async (input) => ({ items: await sessions.search(input) }),
      children: async ({ sessionID }) => ({ items: await sessions.children(sessionID) }),
      synthetic: (input) => sessions.synthetic(input),
      commands: async ({ sessionID }) => ({ items: await sessions.commands(sessionID) }),
      undo: (input) => sessions.undo(input),
      redo: (input) => sessions.redo(input),
      files: (input) => sessions.files(input),
      run: async ({ sessionID, timeoutSecs }, signal) => {
        const settled = await within(
          (until) => sessions.run(sessionID, { signal: until }),
          timeoutSecs,
          signal,
        )
        return { settled, session: await sessions.get(sessionID) }
      },
      wait: async ({ sessionID, timeoutSecs }, signal) => {
        const settled = await within(
          (until) => sessions.wait(sessionID, { signal: until }),
          timeoutSecs,
          signal,
        )
        return { settled, session: await sessions.get(sessionID) }
      },
      wake: ({ sessionID }) => sessions.wake(sessionID),
      interrupt: ({ sessionID }) => sessions.interrupt(sessionID),
      compact: async ({ sessionID }, signal) => {
        const receipt = await sessions.compact(sessionID, { signal })
        return receipt === undefined ? {} : { receipt }
      },
      rename: (input) => sessions.rename(input),
      archive: (input) => sessions.archive(input),
      delete: ({ sessionID }) => sessions.delete(sessionID),
      budget: ({ sessionID }) => sessions.budget(sessionID),
      setBudget: (input) => sessions.setBudget(input),
      move: (input) => sessions.move(input),
      switchAgent: (input) => sessions.switchAgent(input),
      switchModel: (input) => sessions.switchModel(input),
      messages: (input) => sessions.messages({ ...input, bytes: pageBytes }),
      message: async ({ sessionID, messageID }) => {
        const message = await sessions.message({ sessionID, id: messageID })
        if (message === undefined)
          throw new Failure("MESSAGE_NOT_FOUND", { session: sessionID, message: messageID })
        return message
      },
      inputs: async ({ sessionID, after = 0, limit = INPUTS_PER_PAGE }) => {
        const items = await sessions.inputs(sessionID, { after, limit, bytes: pageBytes })
        const next = items.at(-1)?.admittedSeq
        if (next === undefined) return { items }
        const [more] = await sessions.inputs(sessionID, { after: next, limit: 1 })
        return more === undefined ? { items } : { items, next }
      },
      cancel: ({ sessionID, inputID }) => sessions.cancel({ sessionID, id: inputID }),
      receipts: async ({ sessionID }) => ({ items: await sessions.receipts(sessionID) }),
      stays: async ({ sessionID }) => ({ items: await sessions.stays(sessionID) }),
      restore: (input) => sessions.restore(input),
      permissions: async ({ sessionID }) => {
        await sessions.get(sessionID)
        return { items: await permissions.list({ sessionID }) }
      },
      questions: async ({ sessionID }) => ({ items: await questions.list({ sessionID }) }),
    },
    questions: {
      list: async () => ({ items: await questions.list() }),
      reply: (input) => questions.reply(input),
    },
    permissions: {
      list: async () => ({ items: await permissions.list() }),
      saved: async () => ({ items: await permissions.saved() }),
      revoke: permissions.revoke,
      reply: (input) => permissions.reply(input),
    },
    spaces: spaceHandlers(desk),
  }
}

const INPUTS_PER_PAGE = 50

// oxlint-disable typescript/no-unsafe-type-assertion -- a test compares these documents with the schemas of the operations
const spaceHandlers = ({ spaces: { read, change }, hostCompactions }: Desk): Handlers["spaces"] => ({
  list: async ({ limit = 50 }, signal) => {
    const { spaces } = await read("space.list", { limit }, signal)
    return { items: spaces as unknown as readonly SpaceRow[] }
  },
  get: async ({ spaceID }, signal) =>
    (await read("space.show", { space_id: spaceID }, signal)) as unknown as SpaceDocument,
  chats: async ({ spaceID }, signal) => {
    const { chats } = await read("space.show", { space_id: spaceID }, signal)
    return { items: chats as unknown as readonly ChatDocument[] }
  },
  compactions: async ({ spaceID, chatID }, signal) => {
    const { chats } = await read("space.show", { space_id: spaceID }, signal)
    const chat = (chats as unknown as readonly ChatDocument[]).find((each) => each.chatId === chatID)
    if (chat === undefined) throw new Failure("CHAT_NOT_FOUND", { space: spaceID, chat: chatID })
    const { harness, harnessSessionId } = chat
    return { items: harnessSessionId === undefined ? [] : hostCompactions(harness, harnessSessionId) }
  },
  runs: async ({ spaceID, limit = 100, status }, signal) => {
    const values = { space: spaceID, limit, ...(status === undefined ? {} : { status }) }
    const { runs } = await read("run.list", values, signal)
    return { items: runs as unknown as readonly RunRow[] }
  },
  run: async ({ spaceID, runID, report = false }, signal) =>
    (await read("run.show", { space: spaceID, run_id: runID, report }, signal)) as unknown as RunDocument,
  diff: async ({ spaceID, runID }, signal) =>
    (await read("run.diff", { space: spaceID, run_id: runID }, signal)) as unknown as RunDiffDocument,
  apply: async ({ spaceID, runID, noCommit = false, force = false }, signal) => {
    const values = { space: spaceID, run_ids: [runID], no_commit: noCommit, force }
    return (await change("run.apply", values, signal)) as unknown as RunAppliedDocument
  },
  discard: async ({ spaceID, runID }, signal) =>
    (await change(
      "run.discard",
      { space: spaceID, run_ids: [runID] },
      signal,
    )) as unknown as RunDiscardedDocument,
  send: async ({ spaceID, runID, text, at }, signal) => {
    const values = { space: spaceID, run_id: runID, text: reviewText(text, at) }
    return (await change("run.send", values, signal)) as unknown as RunToldDocument
  },
  resume: async ({ spaceID, runID, maxCost, maxTokens, maxTurns, maxTimeMs }, signal) => {
    const values = {
      space: spaceID,
      run_id: runID,
      ...(maxCost === undefined ? {} : { max_cost: maxCost }),
      ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
      ...(maxTurns === undefined ? {} : { max_turns: maxTurns }),
      ...(maxTimeMs === undefined ? {} : { max_time: maxTimeMs / 1_000 }),
    }
    return (await change("run.resume", values, signal)) as unknown as RunResumedDocument
  },
  continue: async ({ spaceID, runID, text, at }, signal) => {
    const values = { space: spaceID, run_id: runID, prompt: reviewText(text, at), background: true }
    const { runId } = (await change("run.continue", values, signal)) as unknown as RunDocument
    return { runId }
  },
})
// oxlint-enable typescript/no-unsafe-type-assertion

/** Returns whether the work ended in time. Leaving does not end it. */
const within = async (
  work: (until: AbortSignal) => Promise<void>,
  seconds: number = LONGEST_WAIT_SECS,
  signal: AbortSignal,
): Promise<boolean> => {
  const timeout = AbortSignal.timeout(seconds * 1_000)
  try {
    await work(AbortSignal.any([signal, timeout]))
    return true
  } catch (cause) {
    if (cause === timeout.reason && timeout.aborted) return false
    throw cause
  }
}
