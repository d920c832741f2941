/**
 * The work that promoted input opened: how far it is, which agent does it, and how often it was resumed after a lost
 * process. It keeps its identity across crashes.
 */
import type { Overrides } from "@meridian/protocol"

import type { LoggedEvent } from "../logged-event.ts"
import { joinOverrides, NO_OVERRIDES } from "../overrides.ts"
import type { WaitingInput } from "./inbox.ts"

export interface Activity {
  /** The id of the input that opened it; undefined before the first. */
  readonly id: string | undefined
  /** `done`: the model had the last word. `stopped`: it failed, or a person stopped it. */
  readonly state: "open" | "done" | "stopped"
  /** Turns that ended since input was last promoted. 0 when the work has settled or was given up. */
  readonly turns: number
  /** The open turn has made local calls. */
  readonly calls: boolean
  /** How often it was resumed without progress since. */
  readonly resumed: number
  /** The agent of the last turn. */
  readonly agent: string | undefined
  /** The agent was switched since then. */
  readonly isSwitched: boolean
  /** How its inputs change its requests. */
  readonly overrides: Overrides
  /** The sequence where it settled. A steer that was sent before that continues it. */
  readonly settledSeq: number
  /** The state of the value that its inputs ask for. */
  readonly answer: WantedAnswer
}

export interface WantedAnswer {
  /** The last turn ended in text, and no process has checked yet whether it is the value. */
  readonly unread: boolean
  /** How many answers did not fit. */
  readonly refused: number
  /** What was wrong with the last one. */
  readonly problem: string | undefined
}

const NO_ANSWER: WantedAnswer = { unread: false, refused: 0, problem: undefined }

export const NO_ACTIVITY: Activity = {
  id: undefined,
  state: "done",
  turns: 0,
  calls: false,
  resumed: 0,
  agent: undefined,
  isSwitched: false,
  overrides: NO_OVERRIDES,
  settledSeq: 0,
  answer: NO_ANSWER,
}

/** The fields of an input that matter to an activity. */
export type Opener = Pick<WaitingInput, "id" | "admittedSeq" | "delivery" | "resume" | "overrides">

export const foldActivity = (
  activity: Activity,
  events: readonly LoggedEvent[],
  inputOf: (messageID: string) => Opener | undefined,
): Activity => events.reduce((folded, event) => foldOne(folded, event, inputOf), activity)

/** The overrides of the requests that follow these promotions. */
export const overridesAhead = (activity: Activity, chosen: readonly Opener[]): Overrides => {
  const { state, overrides } = chosen.reduce(promote, activity)
  return state === "done" ? NO_OVERRIDES : overrides
}

const promote = (activity: Activity, input: Opener): Activity => {
  const joins = activity.state === "open" || (activity.state === "done" && isLate(input, activity))
  return {
    ...activity,
    id: joins ? activity.id : input.id,
    state: "open",
    turns: 0,
    resumed: 0,
    overrides: joins ? joinOverrides(activity.overrides, input.overrides) : input.overrides,
    answer: NO_ANSWER,
  }
}

/** The steer was sent while the last turn was still under way. */
const isLate = ({ delivery, resume, admittedSeq }: Opener, { settledSeq }: Activity): boolean =>
  delivery === "steer" && resume && admittedSeq < settledSeq

const foldOne = (
  activity: Activity,
  event: LoggedEvent,
  inputOf: (messageID: string) => Opener | undefined,
): Activity => {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest neither opens nor carries on an activity
  switch (event.type) {
    case "session.next.agent.switched.1":
      return { ...activity, isSwitched: true }
    case "session.next.prompt.promoted.1": {
      const input = inputOf(event.data.messageID)
      return input === undefined ? activity : promote(activity, input)
    }
    case "session.next.prompted.1":
      return promote(activity, {
        id: event.data.messageID,
        admittedSeq: event.seq,
        delivery: "steer",
        resume: true,
        overrides: NO_OVERRIDES,
      })
    case "session.next.step.started.1":
      return {
        ...activity,
        state: "open",
        agent: event.data.agent,
        isSwitched: false,
        calls: false,
        // A settled activity is over, even when it runs once more.
        overrides: activity.state === "done" ? NO_OVERRIDES : activity.overrides,
        answer: activity.answer.unread ? { ...activity.answer, unread: false } : activity.answer,
      }
    case "session.next.tool.called.1":
      return activity.calls || event.data.hosted === true ? activity : { ...activity, calls: true }
    case "session.next.step.ended.2":
      // Without results to show, the work has settled. A steer may continue it, with a new count.
      if (activity.calls) return { ...activity, turns: activity.turns + 1 }
      if (activity.overrides.format === undefined) return settled(activity, event.seq)
      return {
        ...activity,
        turns: activity.turns + 1,
        answer: { ...activity.answer, unread: true },
      }
    case "session.next.output.given.1":
      return settled(activity, event.seq)
    case "session.next.output.refused.1": {
      const { problem } = event.data
      return { ...activity, answer: { unread: false, refused: activity.answer.refused + 1, problem } }
    }
    case "session.next.step.failed.2":
      return isPassing(event.data.error.code) ? activity : { ...activity, state: "stopped" }
    case "session.next.tool.success.1":
      return madeProgress(activity)
    case "session.next.tool.failed.1":
      return event.data.error.code === "interrupted" ? activity : madeProgress(activity)
    case "session.next.parked.1":
      return { ...activity, state: "open" }
    case "session.next.activity.resumed.1":
      return { ...activity, state: "open", resumed: event.data.attempt }
    case "session.next.question.asked.1":
      // A budget may run out between two activities.
      return event.data.callID === undefined && event.data.kind !== "budget"
        ? { ...activity, state: "open" }
        : activity
    case "session.next.question.replied.1":
      return event.data.callID === undefined ? madeProgress(activity) : activity
    case "session.next.interrupt.requested.1":
      return stopped(activity.settledSeq === 0 ? activity : { ...activity, settledSeq: 0 })
    case "session.next.execution.failed.1": {
      const { turns, answer } = activity
      return stopped(
        turns === 0 && answer === NO_ANSWER ? activity : { ...activity, turns: 0, answer: NO_ANSWER },
      )
    }
    default:
      return activity
  }
}

const madeProgress = (activity: Activity): Activity =>
  activity.resumed === 0 ? activity : { ...activity, resumed: 0 }

const settled = (activity: Activity, seq: number): Activity => ({
  ...activity,
  state: "done",
  turns: 0,
  resumed: 0,
  settledSeq: seq,
  answer: NO_ANSWER,
})

const stopped = (activity: Activity): Activity =>
  activity.state === "open" ? { ...activity, state: "stopped" } : activity

/** The turn was cut off, or will be sent again with less history. The work is not over. */
const isPassing = (code: string): boolean => code === "INTERRUPTED" || code === "overflow"
