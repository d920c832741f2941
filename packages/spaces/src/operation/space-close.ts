import { Failure } from "@meridian/protocol"

import { newestPerChat, type ChatRecord } from "../domain/chat.ts"
import type { ProcessMark } from "../domain/process-mark.ts"
import { isEnded, type Run } from "../domain/run.ts"
import { liveChats, readChats, stopDeadChats } from "../store/chat-store.ts"
import { lockHolders } from "../store/lock-holders.ts"
import { chatLock, spacePlace, type SpacePlace } from "../store/place.ts"
import { isAlive, markOf, signalProcess } from "../store/process-table.ts"
import { removeStaleRunLocks, settleRuns } from "../store/run-liveness.ts"
import { readRuns } from "../store/run-store.ts"
import { changeSpace, findSpace } from "../store/space-store.ts"
import { readConfig } from "./config.ts"
import { openState } from "./open-state.ts"
import { implement } from "./operation.ts"
import { cancelRun } from "./run-cancel.ts"
import { sparse } from "./run-document.ts"
import { SPACE_CLOSE } from "./space.meta.ts"
import type { State } from "./state.ts"
import type { World } from "./world.ts"

export const spaceClose = implement(SPACE_CLOSE, {
  run: async (input, world) => {
    const state = openState(world)
    const { id } = findSpace(state.place, input.spaceId)
    const place = spacePlace(state.place, id)
    const graceMs = (await readConfig(world)).config["timeouts.kill_grace_seconds"] * 1000
    await askFirst(place, state, world)
    // Closed first, so that later starts are refused and nothing slips in behind us.
    const space = await changeSpace(state.place, id, (now) =>
      now.status === "closed" && now.finishedAt !== undefined
        ? now
        : { ...now, status: "closed", finishedAt: now.finishedAt ?? state.now() },
    )
    const cancelled: string[] = []
    for (const run of await openRuns(place, state)) {
      await cancelRun({ space: place, run, state, graceMs })
      cancelled.push(run.id)
    }
    const before = await aliveNow(place, state)
    for (const chat of before) await endChat(chat, place, { state, graceMs })
    const { removed } = await stopDeadChats(place, { now: state.now(), onDamage: state.onDamage })
    const alive = (await aliveNow(place, state)).map((chat) => chat.chatId)
    return sparse({
      space_id: space.id,
      status: space.status,
      name: space.name,
      finished_at: space.finishedAt,
      stopped_chats: before.map((chat) => chat.chatId).filter((chat) => !alive.includes(chat)),
      cancelled_runs: cancelled,
      removed_locks: removed + (await removeStaleRunLocks(place)),
      still_alive: alive.length === 0 ? undefined : alive,
    })
  },
  text: (space) => {
    const left = space.still_alive === undefined ? "" : `; still alive: ${space.still_alive.join(", ")}`
    return `Space ${space.space_id} closed${left}`
  },
  exitCode: (space) => (space.still_alive === undefined ? 0 : 1),
})

const askFirst = async (place: SpacePlace, state: State, world: World): Promise<void> => {
  const runs = await openRuns(place, state)
  const chats = (await aliveNow(place, state)).filter((chat) => !runs.some((run) => run.id === chat.runId))
  if (runs.length + chats.length === 0 || !world.terminal.stdin) return
  const living = [...chats.map((chat) => chat.chatId), ...runs.map((run) => run.id)].join(", ")
  if (!(await world.confirm(`Space ${place.id} is still at work (${living}). End that and close it?`)))
    throw new Failure("NOT_CONFIRMED", { what: `Space ${place.id} was not closed` })
}

const openRuns = async (place: SpacePlace, state: State): Promise<readonly Run[]> =>
  (await settleRuns(place, readRuns(place, state.onDamage), state)).filter((run) => !isEnded(run))

const aliveNow = async (place: SpacePlace, state: State): Promise<readonly ChatRecord[]> => {
  const chats = newestPerChat(readChats(place, state.onDamage))
  const live = await liveChats(place, chats)
  return chats.filter((chat) => live.has(chat.chatId))
}

const STEP_MS = 25
const ANSWER_MS = 3_000
const ROUNDS = 10

/** The process that holds the chat ends its harness and records the stop. If it does not, it is killed. */
const endChat = async (chat: ChatRecord, place: SpacePlace, end: Ending): Promise<void> => {
  const { holder } = chat
  if (holder !== undefined && isAlive(holder)) return endProcess(holder, end)
  // Its `meridian start` is gone. The remaining processes hold the lock, including any they started in between.
  for (let round = 0; round < ROUNDS; round += 1) {
    const left = lockHolders(chatLock(place, chat.chatId)).flatMap(({ pid }) => markOf(pid) ?? [])
    if (left.length === 0) return
    for (const mark of left) await endProcess(mark, end)
  }
}

interface Ending {
  readonly state: State
  readonly graceMs: number
}

const endProcess = async (mark: ProcessMark, { state, graceMs }: Ending): Promise<void> => {
  signalProcess(mark.pid, "SIGTERM")
  for (let waited = 0; waited < graceMs + ANSWER_MS && isAlive(mark); waited += STEP_MS)
    await state.sleep(STEP_MS)
  if (!isAlive(mark)) return
  signalProcess(mark.pid, "SIGKILL")
  for (let waited = 0; waited < ANSWER_MS && isAlive(mark); waited += STEP_MS) await state.sleep(STEP_MS)
}
