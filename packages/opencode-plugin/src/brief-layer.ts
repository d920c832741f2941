/** The brief at a compaction, and what is pinned to every later request. */
import {
  READ_LIMITS,
  readBrief,
  readLaunch,
  readPin,
  renderWorkingSet,
  touchedIn,
  ledgerFacts,
  WORKING_SET_LIMITS,
  type Brief,
  type Fact,
  type Place,
  type WorkingSet,
} from "@meridian/continuity"

import type { Log } from "./log.ts"
import type { Options } from "./options.ts"
import { stateRoot } from "./place.ts"
import type { Pin, Session } from "./session.ts"
import type { HookTime, World } from "./world.ts"

export interface BriefLayer {
  /** Instructions for the summariser. Marks the session as compacted. */
  readonly atCompaction: (session: Session, time: HookTime) => Promise<readonly string[]>
  /**
   * The pinned text for a main request of a compacted session. The same text until a source changes; empty before a
   * compaction.
   */
  readonly pinned: (session: Session, time: HookTime) => Promise<PinnedText>
  /** Marks a session as compacted, with the working set of that time, and its ledger if known. */
  readonly resume: (session: Session, paths: WorkingSet) => void
}

export interface PinnedText {
  readonly text: string
  readonly facts: readonly Fact[]
  readonly maxTokens: number
}

export const openBriefLayer = (given: {
  readonly place: Place
  readonly log: Log
  readonly options: Options
  readonly world: World
}): BriefLayer => {
  const { place, log, options, world } = given

  const launchText = (session: Session, time: HookTime): string =>
    options.launchRecord
      ? (readLaunch({
          stateRoot: world.environment["MERIDIAN_STATE_ROOT"],
          spaceId: world.environment["MERIDIAN_SPACE_ID"],
          projectRoot: place.root,
          harnessSessionId: session.id,
          timeMs: time.leftMs(),
        })?.text ?? "")
      : ""

  /** Without the files in use, which have a separate block there. */
  const briefOf = (session: Session, time: HookTime): Promise<Brief> =>
    readBrief({
      root: stateRoot(place),
      maxTokens: options.maxBriefTokens,
      facts: ledgerFacts(session.conversation.state()).filter(({ kind }) => kind !== "file"),
      reader: "agent",
      limits: { timeMs: Math.min(READ_LIMITS.timeMs, time.leftMs()) },
    })

  return {
    atCompaction: async (session, time) => {
      const brief = options.brief ? await briefOf(session, time) : undefined
      const launch = launchText(session, time)
      session.pin = { paths: session.paths, ledger: session.conversation.state(), text: "" }
      session.isSummarising = true
      if (brief !== undefined) logBrief(log, session, brief)
      const block = options.workingSet ? renderWorkingSet(session.paths) : ""
      if (block !== "")
        log.trace(`Added ${shown(session.paths)} context path(s) to compaction for session ${session.id}`, {
          session: session.id,
        })
      return [brief?.text ?? "", block, launch].filter((text) => text !== "")
    },

    pinned: async (session, time) => {
      const pin = pinOf(session)
      if (pin === undefined || !options.pin) return { text: "", facts: [], maxTokens: 0 }
      const made = await readPin({
        place,
        stateRoot: stateRoot(place),
        ledger: { ...pin.ledger, files: [] },
        environment: options.launchRecord ? world.environment : {},
        harnessSessionId: session.id,
        facts: options.workingSet ? filesOf(pin.paths) : [],
        withProject: options.brief,
        canRecall: world.environment["MERIDIAN_SPACE_ID"] !== undefined,
        touched: [...touchedIn(session.conversation.state(), place), ...session.touched],
        ...(session.window === undefined ? {} : { window: session.window }),
        maxTokens: options.maxBriefTokens,
        leftMs: time.leftMs,
      })
      // Files that could not be read this time do not remove their earlier content.
      const text = made.warnings.length > 0 && made.pinned.length < pin.text.length ? pin.text : made.pinned
      session.pin = { ...pin, text }
      return { text, facts: made.facts, maxTokens: made.tokensAtMost }
    },

    resume: (session, paths) => {
      session.pin ??= {
        paths,
        ledger: session.conversation.atCompaction() ?? session.conversation.state(),
        text: "",
      }
    },
  }
}

/** The newest compaction counts: its summary may have reached the ledger only after the pin was set. */
const pinOf = (session: Session): Pin | undefined => {
  const { pin } = session
  const ledger = session.conversation.atCompaction()
  if (pin === undefined || ledger === undefined || ledger.count <= pin.ledger.count) return pin
  session.pin = { ...pin, ledger }
  return session.pin
}

const shown = (paths: WorkingSet): number => Math.min(paths.length, WORKING_SET_LIMITS.shown)

const filesOf = (paths: WorkingSet): readonly Fact[] =>
  paths
    .slice(-WORKING_SET_LIMITS.shown)
    .map((path, order) => ({ kind: "file", text: path, source: "working set", order }))

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
