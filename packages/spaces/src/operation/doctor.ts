import { Failure, oneLine, type SpaceId } from "@meridian/protocol"

import { newestPerChat } from "../domain/chat.ts"
import { isEnded, type Run } from "../domain/run.ts"
import { repairStatus, type Space } from "../domain/space.ts"
import { abandonedBy, liveChats, readChats, stopDeadChats } from "../store/chat-store.ts"
import type { Damage } from "../store/journal.ts"
import { spacePlace, type SpacePlace } from "../store/place.ts"
import { leftWorking, removeStaleRunLocks, settleRuns } from "../store/run-liveness.ts"
import { readRuns } from "../store/run-store.ts"
import { changeSpace, listSpaces } from "../store/space-store.ts"
import { checkConfiguration } from "./doctor-configuration.ts"
import { checkHarnesses, harnessLine } from "./doctor-harnesses.ts"
import { checkSandbox, sandboxLine } from "./doctor-sandbox.ts"
import { checkWorktrees } from "./doctor-worktrees.ts"
import { DOCTOR, REPAIRS, type FINDINGS } from "./doctor.meta.ts"
import { hostLines } from "./host-check.ts"
import { openState } from "./open-state.ts"
import { implement } from "./operation.ts"
import { sparse } from "./run-document.ts"
import type { State } from "./state.ts"
import type { SalvagedEngine } from "./world.ts"

type Finding = {
  readonly id: (typeof FINDINGS)[number]
  readonly space_id: string
  readonly what: string
  readonly repaired: boolean
}

interface Checkup {
  readonly runs: number
  readonly findings: readonly Finding[]
}

export const doctor = implement(DOCTOR, {
  run: async ({ salvage }, world) => {
    const state = openState(world)
    const salvaged = salvage === undefined ? undefined : await world.salvageEngine?.(salvage)
    const found = listSpaces(state.place)
    const checkups: Checkup[] = []
    for (const one of found)
      checkups.push(
        one.tag === "damaged" ? unreadable(one.id, one.reason) : await tryToCheck(one.space, state),
      )
    const worktrees = await checkWorktrees(state, world)
    const { config, acpAgents, problems } = await checkConfiguration(world)
    const findings = [
      ...problems.map(unreadableConfiguration),
      ...((await world.checkEngine?.()) ?? []).map(damagedDatabase),
      ...checkups.flatMap((checkup) => checkup.findings),
      ...worktrees,
    ]
    const left = findings.filter((finding) => !finding.repaired)
    const harnesses = await checkHarnesses(world, config, acpAgents)
    return sparse({
      ok: left.length === 0,
      repo_root: state.place.project,
      state_root: state.place.root,
      spaces_checked: found.length,
      runs_checked: checkups.reduce((total, checkup) => total + checkup.runs, 0),
      repaired: REPAIRS.filter((id) => findings.some((finding) => finding.id === id && finding.repaired)),
      warnings: left.map((finding) => `${finding.id}: ${finding.space_id}: ${finding.what}`),
      findings,
      harnesses,
      sandbox: await checkSandbox(world),
      continuity: (await world.checkHosts?.(harnesses)) ?? [],
      salvaged,
    })
  },
  text: (report) =>
    [
      `ok: ${report.ok ? "yes" : "WARNINGS"}`,
      `repo_root: ${report.repo_root}`,
      `state_root: ${report.state_root}`,
      `spaces_checked: ${report.spaces_checked}`,
      `runs_checked: ${report.runs_checked}`,
      ...report.findings.map(
        (finding) =>
          `${finding.repaired ? "repaired" : "warning"}: ${finding.id}: ${finding.space_id}: ${finding.what}`,
      ),
      ...report.harnesses.map(harnessLine),
      sandboxLine(report.sandbox),
      ...report.continuity.flatMap(hostLines),
      ...(report.salvaged === undefined ? [] : [salvagedLine(report.salvaged)]),
    ].join("\n"),
  notes: ({ salvaged }) =>
    salvaged === undefined
      ? ""
      : `To work with it, end every Meridian here, move ${salvaged.from} and its -wal away and ${salvaged.file} to its place.`,
  // A user who salvages already knows that the database is damaged.
  exitCode: ({ ok, salvaged, findings }) =>
    ok || (salvaged !== undefined && findings.every(({ id, repaired }) => repaired || id === DAMAGED))
      ? 0
      : 1,
})

const salvagedLine = (of: SalvagedEngine): string =>
  [
    `salvaged: ${of.sessions} sessions (${of.whole} whole, ${of.events} events, ${of.lost} lost) are in ${of.file}`,
    ...(of.rest === undefined ? [] : [`what came after a hole is in ${of.rest}`]),
  ].join("; ")

const DAMAGED = "damaged_database"

const damagedDatabase = (what: string): Finding => ({
  id: DAMAGED,
  space_id: "-",
  what: `the engine's database: ${oneLine(what)}; 'meridian doctor --salvage FILE' writes what can be read to a new file`,
  repaired: false,
})

const unreadable = (space: SpaceId, reason: string): Checkup => ({
  runs: 0,
  findings: [
    {
      id: "missing_or_corrupt_space_json",
      space_id: space,
      what: `${reason}; the space was skipped`,
      repaired: false,
    },
  ],
})

/** It concerns all spaces, and no single one. */
const unreadableConfiguration = (what: string): Finding => ({
  id: "unreadable_configuration",
  space_id: "-",
  what,
  repaired: false,
})

/** A space whose files we may not touch is reported, and the others are still checked. */
const tryToCheck = async (space: Space, state: State): Promise<Checkup> => {
  try {
    return await checkSpace(space, state)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const what = `${error.message} The space was skipped`
    return { runs: 0, findings: [{ id: "damaged_log", space_id: space.id, what, repaired: false }] }
  }
}

const checkSpace = async (space: Space, world: State): Promise<Checkup> => {
  const damage = new Map<string, Damage>()
  const onDamage = (found: Damage): void => void damage.set(`${found.file}:${found.line}`, found)
  const state: State = { ...world, onDamage }
  const place = spacePlace(state.place, space.id)
  const before = readRuns(place, onDamage)
  const after = await settleRuns(place, before, state)
  const orphans = after.filter((run, index) => isEnded(run) && !isEnded(before[index] ?? run))
  const locks = await stopDeadChats(place, { now: state.now(), onDamage })
  const removed = locks.removed + (await removeStaleRunLocks(place))
  const status = await settleStatus(space, place, after, state)
  const findings: Finding[] = []
  const repaired = (id: Finding["id"], what: string): void => {
    findings.push({ id, space_id: space.id, what, repaired: true })
  }
  if (locks.stopped.length + removed > 0)
    repaired("stale_session_locks", `${locks.stopped.length} chats stopped, ${removed} lock files removed`)
  if (orphans.length > 0)
    repaired("orphan_runs", `${orphans.map((run) => run.id).join(", ")} no longer had a worker`)
  if (status !== undefined) repaired("stale_space_status", `now ${status}`)
  findings.push(...(await abandoned(place, after)))
  for (const { file, line } of damage.values())
    findings.push({ id: "damaged_log", space_id: space.id, what: `${file}:${line}`, repaired: false })
  return { runs: after.length, findings }
}

/** Harnesses that outlived the command that started them. They are alive, and left alone. */
const abandoned = async (place: SpacePlace, runs: readonly Run[]): Promise<readonly Finding[]> => {
  const chats = newestPerChat(readChats(place, () => undefined)).filter((chat) => chat.runId === undefined)
  const live = await liveChats(place, chats)
  const left = (id: Finding["id"], what: string): Finding => ({
    id,
    space_id: place.id,
    what,
    repaired: false,
  })
  return [
    ...chats.flatMap(({ chatId }) => {
      const by = live.has(chatId) ? abandonedBy(place, chatId) : undefined
      if (by === undefined) return []
      return left(
        "abandoned_chats",
        `${chatId}: its 'meridian start' is gone, but ${by.program} (process ${by.process}) works on; end it with 'kill ${by.process}'`,
      )
    }),
    ...runs.flatMap((run) => {
      const by = isEnded(run) ? undefined : leftWorking(place, run)
      if (by === undefined) return []
      return left(
        "abandoned_runs",
        `${run.id}: its worker is gone, but ${by.program} (process ${by.process}) works on; end it with 'meridian run cancel ${run.id} --space ${place.id}'`,
      )
    }),
  ]
}

/** What the space was changed to, or undefined if its file and its locks agree. */
const settleStatus = async (
  space: Space,
  place: SpacePlace,
  runs: readonly Run[],
  state: State,
): Promise<Space["status"] | undefined> => {
  const live = await liveChats(place, readChats(place, state.onDamage))
  const alive = live.size > 0 || runs.some((run) => !isEnded(run))
  const facts = { alive, now: state.now() }
  if (repairStatus(space, facts) === undefined) return undefined
  const after = await changeSpace(state.place, space.id, (now) => repairStatus(now, facts) ?? now)
  return after.status
}
