/** Chats of a space: `sessions.jsonl`, appended under `sessions.lock`. A chat lives while `sessions/<cN>.lock` is held. */
import { mkdirSync } from "node:fs"

import { Failure, type ChatId, type RunId } from "@meridian/protocol"

import { encodeChatMoved, encodeChatStop, encodeChatUpdate } from "../domain/chat-record.ts"
import {
  decodeChatEvent,
  encodeChatStart,
  newestPerChat,
  replayChats,
  type ChatRecord,
  type ChatStart,
} from "../domain/chat.ts"
import { asChatId, nextChatId } from "../domain/identifier.ts"
import type { Fields } from "../domain/json-line.ts"
import { LIMIT } from "../domain/limit.ts"
import { appendEvents, readEvents, scanNewestEvents, type OnDamage } from "./journal.ts"
import { lockHolders } from "./lock-holders.ts"
import { probeLocks } from "./lock-probe.ts"
import { acquireLock, withLock, type HeldLock } from "./lock.ts"
import { keepPrivate } from "./open-file.ts"
import { chatLock, type StatePlace, type SpacePlace } from "./place.ts"
import { isAlive } from "./process-table.ts"
import { directoryNames, findSpace } from "./space-store.ts"

export interface OpenChat {
  readonly chatId: ChatId
  readonly lock: HeldLock
}

/** Seals what a start says, including the chat's id. */
export type Seal = (chat: ChatId, start: Pick<ChatStart, "harness" | "params" | "cwd">) => string

/** Oldest first. */
export const readChats = (space: SpacePlace, onDamage: OnDamage): readonly ChatRecord[] =>
  replayChats(
    readEvents(space.chatsLog, onDamage).flatMap((fields) => decodeChatEvent(fields, space.chatsLog) ?? []),
  )

/**
 * Takes the lock of the chat, then logs its start, so a reader of the start finds the lock held. Without a `chatId`
 * it is a new chat. A space that was closed in between takes no chat.
 */
export const startChat = (
  place: StatePlace,
  space: SpacePlace,
  start: Omit<ChatStart, "chatId" | "seal"> & { readonly chatId?: ChatId | undefined },
  seal?: Seal,
): Promise<OpenChat> =>
  withLock(space.chatsLock, async () => {
    if (findSpace(place, space.id).status === "closed") throw new Failure("SPACE_CLOSED", { space: space.id })
    for (const folder of [place.spaces, space.directory, space.chats]) keepPrivate(folder)
    // Older versions made this folder only when needed.
    mkdirSync(space.fs, { recursive: true, mode: 0o700 })
    const chat = start.chatId ?? nextChatId(knownChats(space))
    const lock = await acquireLock(chatLock(space, chat), { waitMs: LIMIT.livenessWaitMs })
    if (lock === undefined)
      throw new Failure("CHAT_ALIVE", { chat, space: space.id, ...abandonedBy(space, chat) })
    try {
      appendEvents(space.chatsLog, [encodeChatStart({ ...start, chatId: chat, seal: seal?.(chat, start) })])
      return { chatId: chat, lock }
    } catch (error) {
      lock.release({ remove: true })
      throw error
    }
  })

/** Records where these chats work since their project was moved, each sealed for the new place. */
export const moveChats = (
  space: SpacePlace,
  moved: readonly {
    readonly chatId: ChatId
    readonly cwd: string
    readonly params: readonly string[]
    readonly seal: string
  }[],
): Promise<void> =>
  withLock(space.chatsLock, () => {
    if (moved.length === 0) return
    appendEvents(
      space.chatsLog,
      moved.map((chat) => encodeChatMoved({ event: "moved", ...chat })),
    )
  })

/** The harness that survived its killed `meridian start`, for a chat whose lock is held. */
export const abandonedBy = (
  space: SpacePlace,
  chat: ChatId,
): { readonly process: number; readonly program: string } | undefined => {
  const record = readChats(space, () => undefined).findLast(({ chatId }) => chatId === chat)
  if (record?.holder === undefined || isAlive(record.holder)) return undefined
  const [first] = lockHolders(chatLock(space, chat))
  return first === undefined ? undefined : { process: first.pid, program: first.name }
}

export const updateChat = (space: SpacePlace, chat: ChatId, harnessSessionId: string): Promise<void> =>
  withLock(space.chatsLock, () =>
    appendEvents(space.chatsLog, [encodeChatUpdate({ event: "update", chatId: chat, harnessSessionId })]),
  )

export const stopChat = (space: SpacePlace, open: OpenChat, now: string): Promise<void> =>
  withLock(space.chatsLock, () => {
    appendEvents(space.chatsLog, [encodeChatStop({ event: "stop", chatId: open.chatId, stoppedAt: now })])
    open.lock.release({ remove: true })
  })

/** Chats that have started and not stopped, and whose lock is held. Changes nothing. */
export const liveChats = async (
  space: SpacePlace,
  records: readonly ChatRecord[],
): Promise<ReadonlySet<ChatId>> => {
  const open = newestPerChat(records).filter((record) => record.stoppedAt === undefined)
  const unsure = open.filter((record) => record.holder === undefined || !isAlive(record.holder))
  const held =
    unsure.length === 0 ? new Set() : await probeLocks(unsure.map((record) => chatLock(space, record.chatId)))
  return new Set(
    open
      .filter((record) => !unsure.includes(record) || held.has(chatLock(space, record.chatId)))
      .map((record) => record.chatId),
  )
}

/**
 * Records the stop of every chat whose holder is gone, and removes lock files that no process holds. Returns the
 * stopped chats and the removed lock files. A healthy space is not touched at all.
 */
export const stopDeadChats = async (
  space: SpacePlace,
  options: {
    readonly now: string
    readonly onDamage: OnDamage
    /** Runs that will be resumed. Their chats are only resting. */
    readonly resting?: ReadonlySet<RunId>
  },
): Promise<{ readonly stopped: readonly ChatId[]; readonly removed: number }> => {
  const records = newestPerChat(readChats(space, options.onDamage))
  const live = await liveChats(space, records)
  const isResting = ({ runId }: ChatRecord): boolean =>
    runId !== undefined && options.resting?.has(runId) === true
  const resting = new Set(records.filter(isResting).map(({ chatId }) => chatId))
  const dead = records.filter(
    (record) => record.stoppedAt === undefined && !live.has(record.chatId) && !resting.has(record.chatId),
  )
  const leftBehind = directoryNames(space.chats).flatMap((name) => {
    const chat = name.endsWith(".lock") ? asChatId(name.slice(0, -".lock".length)) : undefined
    return chat === undefined || live.has(chat) || resting.has(chat) ? [] : [chat]
  })
  const suspects = new Set([...dead.map((record) => record.chatId), ...leftBehind])
  if (suspects.size === 0) return { stopped: [], removed: 0 }
  return withLock(space.chatsLock, async () => {
    const now = newestPerChat(readChats(space, () => undefined))
    const stopped: ChatId[] = []
    let removed = 0
    for (const chat of suspects) {
      const lock = await acquireLock(chatLock(space, chat), { waitMs: 0 })
      if (lock === undefined) continue
      const record = now.find((candidate) => candidate.chatId === chat)
      if (record !== undefined && record.stoppedAt === undefined) {
        appendEvents(space.chatsLog, [
          encodeChatStop({ event: "stop", chatId: chat, stoppedAt: options.now }),
        ])
        stopped.push(chat)
      }
      if (leftBehind.includes(chat)) removed += 1
      lock.release({ remove: true })
    }
    return { stopped, removed }
  })
}

/** When a chat of this space last started, without reading the whole log. */
export const lastChatStart = (space: SpacePlace, onDamage: OnDamage): string | undefined => {
  let startedAt: string | undefined
  const each = (fields: Fields): boolean => {
    const event = decodeChatEvent(fields, space.chatsLog)
    if (event?.event === "start") startedAt = event.startedAt
    return startedAt !== undefined
  }
  scanNewestEvents(space.chatsLog, { each, onDamage })
  return startedAt
}

const knownChats = (space: SpacePlace): readonly string[] => [
  ...readEvents(space.chatsLog, () => undefined).flatMap(
    (fields) => decodeChatEvent(fields, space.chatsLog)?.chatId ?? [],
  ),
  ...directoryNames(space.chats).map((name) => name.replace(/\.lock$/, "")),
]
