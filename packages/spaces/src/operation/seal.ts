/**
 * Records that steer a launch carry a seal: a keyed digest that only this user's Meridian can make, for this project.
 * A record without one was written by an older version or came with the folder, so its flags and directory are not
 * believed. The key is in the trust book.
 */
import { createHash, createHmac } from "node:crypto"

import type { ChatId, RunId, SpaceId } from "@meridian/protocol"

import type { ChatRecord, ChatStart } from "../domain/chat.ts"
import type { ScheduledWork } from "../domain/schedule.ts"
import type { Seal } from "../store/chat-store.ts"
import { changeTrustBook, readTrustBook } from "../store/trust-store.ts"
import { trustFile } from "../store/user-place.ts"
import { folderOf } from "./folder-trust.ts"
import type { State } from "./state.ts"
import type { World } from "./world.ts"

/** The fields a seal covers. */
type Sealed = Pick<ChatStart, "harness" | "params" | "cwd">

/** For new records: makes the key if there is none. Undefined if there is no place for it. */
export const openSeal = async (
  space: SpaceId,
  state: State,
  world: Pick<World, "env" | "uuid">,
): Promise<Seal | undefined> => {
  if (trustFile(world.env) === undefined) return undefined
  const fresh = `${world.uuid()}${world.uuid()}`.replaceAll("-", "")
  if (readTrustBook(world.env).key === undefined)
    await changeTrustBook(world.env, (book) => (book.key === undefined ? { ...book, key: fresh } : book))
  const { key } = readTrustBook(world.env)
  return key === undefined ? undefined : (chat, record) => sealOf(key, { chat, space, state, record })
}

/** The same for a plan that is kept for a later worker. Undefined without a key. */
export const sealPlan = (
  plan: string,
  { run, space, state, world }: PlanIdentity & { readonly world: Pick<World, "env"> },
): string | undefined => {
  const { key } = readTrustBook(world.env)
  return key === undefined
    ? undefined
    : digest(key, [folderOf(state.place).path, space, run, createHash("sha256").update(plan).digest("hex")])
}

interface PlanIdentity {
  readonly run: RunId
  readonly space: SpaceId
  readonly state: State
}

export const isSealed = (
  record: ChatRecord,
  space: SpaceId,
  state: State,
  world: Pick<World, "env">,
): boolean => {
  const { key } = readTrustBook(world.env)
  return (
    key !== undefined &&
    record.seal !== undefined &&
    record.seal === sealOf(key, { chat: record.chatId, space, state, record })
  )
}

/** The state as if the project were at another path, for seals made before the project was moved. */
export const placedAt = (project: string, state: State): State => ({
  ...state,
  place: { ...state.place, project },
})

/** The same for scheduled work. Undefined without a key. */
export const sealSchedule = (
  work: ScheduledWork,
  state: Pick<State, "place">,
  world: Pick<World, "env">,
): string | undefined => {
  const { key } = readTrustBook(world.env)
  const { id, pattern, zone, command, words, space, cwd, configPath = null, overlap = false } = work
  return key === undefined
    ? undefined
    : digest(key, [
        folderOf(state.place).path,
        "schedule",
        { id, pattern, zone, command, words, space, cwd, configPath, overlap },
      ])
}

/** Whether this user's Meridian wrote it, for this project. */
export const isOwnSchedule = (
  schedule: ScheduledWork & { readonly seal?: string },
  state: Pick<State, "place">,
  world: Pick<World, "env">,
): boolean => schedule.seal !== undefined && schedule.seal === sealSchedule(schedule, state, world)

const sealOf = (
  key: string,
  {
    chat,
    space,
    state,
    record,
  }: { readonly chat: ChatId; readonly space: SpaceId; readonly state: State; readonly record: Sealed },
): string => {
  const said = [folderOf(state.place).path, space, chat, record.harness, record.params, record.cwd ?? null]
  return digest(key, said)
}

const digest = (key: string, said: readonly unknown[]): string =>
  createHmac("sha256", key).update(JSON.stringify(said)).digest("base64url")
