/** `--continue`: finds the record it names, and the harness's own id of the conversation. */
import { Failure, type SpaceId } from "@meridian/protocol"

import { findChat, lastChat, type ChatRecord } from "../domain/chat.ts"
import { findTarget, type SpaceChats } from "../domain/continuation.ts"
import type { Space } from "../domain/space.ts"
import { abandonedBy, liveChats, readChats } from "../store/chat-store.ts"
import { spacePlace } from "../store/place.ts"
import { findSpace, listSpaces } from "../store/space-store.ts"
import { lastActiveSpace } from "./active-space.ts"
import { harnessEntry, type State } from "./state.ts"
import type { World } from "./world.ts"

export interface Continuation {
  readonly space: Space
  readonly record: ChatRecord
  readonly harnessSessionId: string
}

export const resolveContinuation = async (options: {
  /** "" means the last chat. */
  readonly reference: string
  readonly space: string | undefined
  /** A conversation in use may still be forked. */
  readonly fork: boolean
  readonly state: State
  readonly world: World
}): Promise<Continuation> => {
  const { state, world } = options
  const { space, record } =
    options.reference === "" ? await unnamed(options.space, state, world) : named(options, state)
  if (space.status === "closed") throw new Failure("SPACE_CLOSED", { space: space.id })
  const place = spacePlace(state.place, space.id)
  const records = readChats(place, state.onDamage)
  const live = await liveChats(place, records)
  const busy = records.find(
    (other) =>
      live.has(other.chatId) &&
      (other.chatId === record.chatId ||
        (record.harnessSessionId !== "" && other.harnessSessionId === record.harnessSessionId)),
  )
  if (busy !== undefined && !options.fork)
    throw new Failure("CHAT_ALIVE", {
      chat: busy.chatId,
      space: space.id,
      ...abandonedBy(place, busy.chatId),
    })
  return { space, record, harnessSessionId: await nativeId(record, records, world) }
}

/** The last chat. A person at a terminal with several chats is asked which. */
const unnamed = async (
  space: string | undefined,
  state: State,
  { choose }: Pick<World, "choose">,
): Promise<{ readonly space: Space; readonly record: ChatRecord }> => {
  const last = lastOf(space, state)
  const among = choose === undefined ? [] : choicesOf(space, state)
  if (choose === undefined || among.length < 2) return last
  const place = await choose("Continue which?", among.map(choiceRow))
  const chosen = place === undefined ? undefined : among[place]
  if (chosen === undefined)
    throw new Failure("USAGE", {
      problem: "None was chosen.",
      next: "name it: meridian start --continue CHAT.",
    })
  return chosen
}

interface Choice {
  readonly space: Space
  readonly record: ChatRecord
}

const MOST_CHOICES = 20

/** The newest record of each chat with a person, newest first. */
const choicesOf = (wanted: string | undefined, state: State): readonly Choice[] =>
  listSpaces(state.place)
    .flatMap((found) => (found.tag === "space" && found.space.status === "active" ? [found.space] : []))
    .filter(({ id }) => wanted === undefined || id === wanted)
    .flatMap((space) => {
      const records = readChats(spacePlace(state.place, space.id), state.onDamage)
      const newest = new Map(records.map((record) => [record.chatId, record]))
      return [...newest.values()]
        .filter(({ runId }) => runId === undefined)
        .map((record) => ({ space, record }))
    })
    .toSorted((left, right) => right.record.startedAt.localeCompare(left.record.startedAt))
    .slice(0, MOST_CHOICES)

const choiceRow = ({ space, record }: Choice): string =>
  [
    space.id,
    record.chatId,
    record.startedAt.slice(0, 16).replace("T", " "),
    record.harness,
    record.model,
    space.name ?? "",
  ]
    .filter((part) => part !== "")
    .join(" ")

const lastOf = (
  space: string | undefined,
  state: State,
): { readonly space: Space; readonly record: ChatRecord } => {
  const chosen = space === undefined ? lastActiveSpace(state) : findSpace(state.place, space)
  const record =
    chosen === undefined ? undefined : lastChat(readChats(spacePlace(state.place, chosen.id), state.onDamage))
  if (chosen === undefined || record === undefined)
    throw new Failure("NOTHING_TO_CONTINUE", chosen === undefined ? {} : { space: chosen.id })
  return { space: chosen, record }
}

/** The harness whose chat has held this conversation, or undefined. */
export const holderOf = (reference: string, space: string | undefined, state: State): string | undefined => {
  for (const found of listSpaces(state.place)) {
    if (found.tag !== "space" || (space !== undefined && found.space.id !== space)) continue
    const records = readChats(spacePlace(state.place, found.space.id), state.onDamage)
    const chat = findChat(records, reference)
    if (chat !== undefined) return chat.harness
  }
  return undefined
}

const named = (
  options: { readonly reference: string; readonly space: string | undefined },
  state: State,
): { readonly space: Space; readonly record: ChatRecord } => {
  const { reference } = options
  const spaces =
    options.space === undefined
      ? listSpaces(state.place).flatMap((found) => (found.tag === "space" ? [found.space] : []))
      : [findSpace(state.place, options.space)]
  const chatsOf = (status: Space["status"]): readonly SpaceChats[] =>
    spaces
      .filter((space) => space.status === status)
      .map(({ id }) => ({ space: id, records: readChats(spacePlace(state.place, id), state.onDamage) }))
  // Closed spaces are searched only to say so.
  const active = findTarget(chatsOf("active"), reference)
  const target = active.tag === "unknown" ? findTarget(chatsOf("closed"), reference) : active
  switch (target.tag) {
    case "ambiguous":
      throw new Failure("AMBIGUOUS_SESSION", { chat: reference })
    case "unknown":
      throw new Failure("CHAT_NOT_FOUND", {
        chat: reference,
        ...(options.space === undefined ? {} : { space: options.space }),
      })
    case "found":
      return { space: spaceOf(spaces, target.space), record: target.record }
  }
}

const spaceOf = (spaces: readonly Space[], id: SpaceId): Space => {
  const space = spaces.find((candidate) => candidate.id === id)
  if (space === undefined) throw new Failure("SPACE_NOT_FOUND", { space: id })
  return space
}

/** The chat died before its id was recorded. An earlier record, or a file the harness left, may have the id. */
const nativeId = async (
  record: ChatRecord,
  records: readonly ChatRecord[],
  world: World,
): Promise<string> => {
  const entry = harnessEntry(world, record.harness)
  const unknown = (): Failure =>
    new Failure("CHAT_WITHOUT_SESSION", { chat: record.chatId, harness: entry?.name ?? record.harness })
  // No harness has such ids, and it would be taken for a flag.
  if (record.harnessSessionId.startsWith("-")) throw unknown()
  if (record.harnessSessionId !== "") return record.harnessSessionId
  const earlier = records.findLast((other) => other.chatId === record.chatId && other.harnessSessionId !== "")
  if (earlier !== undefined) return earlier.harnessSessionId
  const startedAtMs = Date.parse(record.startedAt)
  const harness = await entry?.load()
  const found =
    harness === undefined || record.cwd === undefined || Number.isNaN(startedAtMs)
      ? undefined
      : await harness.findSession({
          cwd: record.cwd,
          environment: world.env,
          startedAtMs,
          taken: records.map((other) => other.harnessSessionId).filter((id) => id !== ""),
        })
  if (found === undefined) throw unknown()
  return found
}
