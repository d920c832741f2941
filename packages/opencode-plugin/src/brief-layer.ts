/** The brief at a compaction, and the part of it that is pinned to every request afterwards. */
import {
  readBrief,
  readLaunch,
  READ_LIMITS,
  renderWorkingSet,
  WORKING_SET_LIMITS,
  type Brief,
  type Place,
  type WorkingSet,
} from "@meridian/continuity"

import type { Log } from "./log.ts"
import type { Options } from "./options.ts"
import { stateRoot } from "./place.ts"
import type { Pin, Session } from "./session.ts"
import { lookAgain, lookAtSources } from "./sources.ts"
import { startHookTime, type HookTime, type World } from "./world.ts"

export interface BriefLayer {
  /** What the summariser is told. Makes the session one that has been compacted. */
  readonly atCompaction: (session: Session, time: HookTime) => Promise<readonly string[]>
  /** What a main request of a compacted session carries; stable until a source changes. Empty before. */
  readonly pinned: (session: Session, time: HookTime) => Promise<string>
  /** A session that was compacted before this process began. */
  readonly resume: (session: Session, paths: WorkingSet) => void
}

export const openBriefLayer = (given: {
  readonly place: Place
  readonly log: Log
  readonly options: Options
  readonly world: World
}): BriefLayer => {
  const { place, log, options, world } = given

  const briefOf = (time: HookTime): Promise<Brief> =>
    readBrief({
      root: stateRoot(place),
      maxTokens: options.maxBriefTokens,
      limits: { timeMs: Math.min(READ_LIMITS.timeMs, time.leftMs()) },
    })

  const launchOf = (session: Session, time: HookTime): string =>
    options.launchRecord
      ? (readLaunch({
          stateRoot: world.environment["MERIDIAN_STATE_ROOT"],
          spaceId: world.environment["MERIDIAN_SPACE_ID"],
          projectRoot: place.root,
          harnessSessionId: session.id,
          timeMs: time.leftMs(),
        })?.text ?? "")
      : ""

  const stateOf = (brief: Brief | undefined): Pick<Pin, "state" | "sources"> =>
    brief === undefined
      ? { state: "", sources: undefined }
      : { state: brief.pinned, sources: lookAtSources(stateRoot(place), brief) }

  return {
    atCompaction: async (session, time) => {
      const brief = options.brief ? await briefOf(time) : undefined
      const launch = launchOf(session, time)
      session.pin = { paths: session.paths, launch, ...stateOf(brief) }
      if (brief !== undefined) logBrief(log, session, brief)
      const block = options.workingSet ? renderWorkingSet(session.paths) : ""
      if (block !== "")
        log.trace(`Added ${shown(session.paths)} context path(s) to compaction for session ${session.id}`, {
          session: session.id,
        })
      return [brief?.text ?? "", block, launch].filter((text) => text !== "")
    },
    pinned: async (session, time) => {
      const { pin } = session
      if (pin === undefined || !options.pin) return ""
      const current = options.brief ? await refresh(pin, time) : pin
      session.pin = current
      const block = options.workingSet ? renderWorkingSet(current.paths) : ""
      return [current.state, current.launch, block].filter((text) => text !== "").join("\n\n")
    },
    resume: (session, paths) => {
      session.pin ??= {
        paths,
        launch: launchOf(session, startHookTime(world)),
        state: "",
        sources: undefined,
      }
    },
  }

  async function refresh(pin: Pin, time: HookTime): Promise<Pin> {
    if (pin.sources !== undefined && pin.sources === lookAgain(stateRoot(place), pin.sources)) return pin
    const brief = await briefOf(time)
    // Files that could not be read this time are no reason to forget what they said; they are looked at again.
    if (brief.pinned === "" && brief.warnings.length > 0) return { ...pin, sources: undefined }
    return { ...pin, ...stateOf(brief) }
  }
}

const shown = (paths: WorkingSet): number => Math.min(paths.length, WORKING_SET_LIMITS.shown)

const logBrief = (log: Log, session: Session, brief: Brief): void => {
  const facts = {
    session: session.id,
    mode: brief.mode,
    ...(brief.artifact === undefined ? {} : { artifact: brief.artifact }),
  }
  for (const warning of brief.warnings.slice(0, 20)) log.warnOnce(`meridian: ${warning}`, facts)
  const artifact = brief.artifact === undefined ? "" : ` artifact=${brief.artifact}`
  const where = `session=${session.id} mode=${brief.mode}${artifact}`
  if (brief.pinned === "")
    log.write("warn", `meridian: brief injected, no session state was found: ${where}`, facts)
  else log.write("info", `meridian: brief injected: ${where}`, facts)
}
