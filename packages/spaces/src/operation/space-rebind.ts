/**
 * After a project was moved: seals that this user's Meridian made for the old place are made again for the new place.
 * We do not ask for the old place: it is a folder for which a seal holds. So nothing that others wrote is taken over.
 */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

import { asObject, Failure, type JsonObject, type SpaceId } from "@meridian/protocol"

import { newestPerChat, type ChatRecord } from "../domain/chat.ts"
import { decodeJson } from "../domain/json-line.ts"
import { movedIn, pathMoved, type Move } from "../domain/moved-paths.ts"
import type { Schedule } from "../domain/schedule.ts"
import { findEntry } from "../domain/trust.ts"
import { abandonedBy, liveChats, moveChats, readChats } from "../store/chat-store.ts"
import { readDocument, replaceFile } from "../store/document.ts"
import { runPlace, spacePlace, type SpacePlace } from "../store/place.ts"
import { leftWorking, liveRuns } from "../store/run-liveness.ts"
import { readRuns } from "../store/run-store.ts"
import { changeSchedules } from "../store/schedule-store.ts"
import { findSpace, listSpaces } from "../store/space-store.ts"
import { readTrustBook } from "../store/trust-store.ts"
import { adoptDatabase, databaseIn, markOfFile } from "./database-trust.ts"
import { folderOf } from "./folder-trust.ts"
import { openState } from "./open-state.ts"
import { implement } from "./operation.ts"
import { sparse } from "./run-document.ts"
import { asRunPlan } from "./run-plan.ts"
import { isOwnSchedule, isSealed, openSeal, placedAt, sealSchedule } from "./seal.ts"
import { SPACE_REBIND } from "./space.meta.ts"
import type { State } from "./state.ts"
import { foldersAbove, readStoredPlan, storePlan } from "./stored-plan.ts"
import { ensureSupervisor } from "./supervisor.ts"
import type { World } from "./world.ts"

export const spaceRebind = implement(SPACE_REBIND, {
  run: async ({ spaceId }, world) => {
    if (world.mode === "agent" || world.face === "tool")
      throw new Failure("TRUST_NEEDS_PERSON", { command: "space rebind" })
    const state = openState(world)
    const ids =
      spaceId === undefined
        ? listSpaces(state.place).flatMap((found) => (found.tag === "damaged" ? [] : [found.space.id]))
        : [findSpace(state.place, spaceId).id]
    for (const id of ids) await requireRest(spacePlace(state.place, id))
    const spaces = []
    const from = new Set<string>()
    for (const id of ids) {
      const rebound = await rebindSpace(id, state, world)
      if (rebound.from !== undefined) from.add(rebound.from)
      spaces.push(sparse({ space_id: id, ...rebound }))
    }
    const schedules = await rebindSchedules(new Set(ids), state, world)
    let sessions = 0
    let database = false
    for (const project of from) {
      sessions += (await world.moveSessions?.(project, folderOf(state.place).path)) ?? 0
      database = (await rebindDatabase(project, state, world)) || database
    }
    if (schedules > 0 || spaces.some(({ runs }) => runs > 0)) await ensureSupervisor(state, world)
    return { spaces, sessions, database, schedules }
  },
  text: ({ spaces, sessions, schedules }) =>
    [
      ...spaces.map(({ space_id: id, from, chats, runs }) =>
        from === undefined
          ? `${id}: nothing of it was made elsewhere by you`
          : `${id}: ${chats} chats and ${runs} runs, from ${from}`,
      ),
      ...(sessions === 0 ? [] : [`${sessions} sessions of the engine`]),
      ...(schedules === 0 ? [] : [`${schedules} schedules`]),
    ].join("\n"),
})

/** Anything still working was started in the old place. */
const requireRest = async (space: SpacePlace): Promise<void> => {
  const runs = readRuns(space, () => undefined)
  const live = await liveRuns(space, runs)
  const busy = runs.find(({ id }) => live.has(id))
  if (busy !== undefined)
    throw new Failure("RUN_ALIVE", { run: busy.id, status: busy.status, ...leftWorking(space, busy) })
  const [chat] = await liveChats(
    space,
    readChats(space, () => undefined),
  )
  if (chat !== undefined)
    throw new Failure("CHAT_ALIVE", { chat, space: space.id, ...abandonedBy(space, chat) })
}

const rebindSpace = async (
  id: SpaceId,
  state: State,
  world: World,
): Promise<{ readonly from?: string; readonly chats: number; readonly runs: number }> => {
  const space = spacePlace(state.place, id)
  const to = folderOf(state.place).path
  const chats = newestPerChat(readChats(space, state.onDamage)).flatMap((record) => {
    const from = placeOf(record, id, state, world)
    return from === undefined ? [] : [{ record, move: { from, to } }]
  })
  const runs = readRuns(space, state.onDamage).flatMap((run) => {
    const kept = readStoredPlan(space, run.id, state, world)
    return kept.tag === "moved" ? [{ run: run.id, move: { from: kept.from, to } }] : []
  })
  const from = [...chats, ...runs][0]?.move.from
  if (from === undefined) return { chats: 0, runs: 0 }
  requireMoved(space, from)
  const seal = await openSeal(id, state, world)
  await moveChats(
    space,
    chats.flatMap(({ record, move }) => {
      const { chatId, harness } = record
      const cwd = pathMoved(record.cwd ?? move.from, move)
      const params = record.params.map((param) => pathMoved(param, move))
      const sealed = seal?.(chatId, { harness, params, cwd })
      return sealed === undefined ? [] : [{ chatId, cwd, params, seal: sealed }]
    }),
  )
  for (const { run, move } of runs) {
    const { params } = runPlace(space, run)
    const fields: JsonObject | undefined = asObject(decodeJson(readDocument(params, MOST_BYTES) ?? ""))
    const plan = asRunPlan(asObject(movedIn(fields?.["plan"] ?? null, move)))
    if (fields === undefined || plan === undefined) continue
    const stored = storePlan(plan, run, state, world)
    replaceFile(params, `${JSON.stringify({ ...fields, ...stored }, undefined, 2)}\n`)
  }
  return { from, chats: chats.length, runs: runs.length }
}

const MOST_BYTES = 50_000_000

/** Schedules that this user's Meridian sealed for a folder where the project was. Tells how many. */
const rebindSchedules = async (spaces: ReadonlySet<SpaceId>, state: State, world: World): Promise<number> => {
  const to = folderOf(state.place).path
  const moveOf = (schedule: Schedule): Move | undefined => {
    if (!spaces.has(schedule.space) || isOwnSchedule(schedule, state, world)) return undefined
    const from = foldersAbove(schedule.cwd).find((folder) =>
      isOwnSchedule(schedule, placedAt(folder, state), world),
    )
    return from === undefined ? undefined : { from, to }
  }
  let count = 0
  await changeSchedules(state.place, (before) => {
    const schedules = before.schedules.map((schedule) => {
      const move = moveOf(schedule)
      if (move === undefined) return schedule
      count += 1
      const { words, cwd, configPath } = schedule
      const moved = {
        ...schedule,
        words: words.map((word) => pathMoved(word, move)),
        cwd: pathMoved(cwd, move),
        ...(configPath === undefined ? {} : { configPath: pathMoved(configPath, move) }),
      }
      const seal = sealSchedule(moved, state, world)
      return seal === undefined ? schedule : { ...moved, seal }
    })
    return count === 0 ? before : { ...before, schedules }
  })
  return count
}

/** Undefined for a record that already belongs to this place, or is not this user's. */
const placeOf = (record: ChatRecord, space: SpaceId, state: State, world: World): string | undefined => {
  if (isSealed(record, space, state, world)) return undefined
  return foldersAbove(record.cwd ?? "").find((folder) =>
    isSealed(record, space, placedAt(folder, state), world),
  )
}

/** A copy would continue the same conversations as the original. */
const requireMoved = (space: SpacePlace, from: string): void => {
  const there = join(from, ".meridian/.spaces", space.id, "space.json")
  if (existsSync(there) && readFileSync(there, "utf8") === readFileSync(space.document, "utf8"))
    throw new Failure("SPACE_NOT_MOVED", { space: space.id, from })
}

/** The engine's database is ours if it is the same file that was ours in the old place. */
const rebindDatabase = async (from: string, state: State, world: World): Promise<boolean> => {
  const file = databaseIn(state.place.root)
  const { owner } = folderOf(state.place)
  const before = findEntry(readTrustBook(world.env), { path: from, owner })
  if (before?.database === undefined || !existsSync(file) || before.database !== markOfFile(file))
    return false
  await adoptDatabase(file, world)
  return true
}
