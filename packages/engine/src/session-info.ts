/** What a person sees of a session: its summary, and its state in this process right now. */
import type { Location } from "@meridian/protocol"
import { Effect } from "effect"

import type { SessionInfo, SessionStatus } from "./api.ts"
import { describeStranded } from "./domain/stranded.ts"
import type { SessionSummary } from "./port/store.ts"
import { Scheduler } from "./schedule/index.ts"
import { DEFAULT_AGENT, Settings } from "./session/index.ts"

export const openSessionInfo = Effect.gen(function* () {
  const { places } = yield* Settings
  const scheduler = yield* Scheduler

  const info = (summary: SessionSummary): SessionInfo => ({
    id: summary.id,
    location: shownLocation(summary.location),
    agent: summary.agent ?? DEFAULT_AGENT,
    ...(summary.model === undefined ? {} : { model: summary.model }),
    ...(summary.title === undefined ? {} : { title: summary.title }),
    ...(summary.task === undefined ? {} : { parent: summary.task }),
    ...(summary.isArchived ? { archived: true } : {}),
    seq: summary.seq,
    ...standingOf(summary),
    ...(summary.host === undefined ? {} : { node: summary.host }),
    usage: summary.usage,
    cost: summary.cost,
    time: { created: summary.created, updated: summary.updated },
  })

  /** The directory on this machine, if the session's workspace is here. */
  const shownLocation = (location: Location): SessionInfo["location"] => ({
    directory: places.lookUp(location),
    ...(location.workspaceID === undefined ? {} : { workspace: location.workspaceID }),
  })

  const standingOf = (
    summary: SessionSummary,
  ): Pick<SessionInfo, "status" | "waitingFor" | "until" | "reason"> => {
    const { parkedUntil, question } = summary
    if (summary.isAsking) return { status: "waiting", waitingFor: "permission" }
    if (question === "tool") return { status: "waiting", waitingFor: "question" }
    const status = statusOf(summary)
    if (summary.stranded !== undefined && status !== "running")
      return { status: "waiting", waitingFor: "worker", reason: describeStranded(summary.stranded) }
    // Its time has come; it only waits for the next check of the timers.
    if (parkedUntil === undefined || parkedUntil <= summary.updated || status === "running") return { status }
    if (question === undefined) return { status: "waiting", waitingFor: "limit", until: parkedUntil }
    return { status: "waiting", waitingFor: question === "budget" ? "budget" : "question" }
  }

  const statusOf = (summary: SessionSummary): SessionStatus => {
    if (scheduler.isActive(summary.id) || summary.isHeldElsewhere) return "running"
    // A call was allowed but nothing runs it, because recovery is off. It is unfinished.
    return summary.trouble ?? (summary.isAnswered ? "interrupted" : "idle")
  }

  return info
})
