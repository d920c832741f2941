/**
 * The work that promoted input has opened: how far it is, who does it, and how often it was taken up again after its process was
 * lost. It keeps its identity over every crash.
 */
import type { LoggedEvent } from "../logged-event.ts"

export interface Activity {
  /** Of the input that opened it; none before the first. */
  readonly id: string | undefined
  /** `done`: the model had the last word. `stopped`: it failed, or a person stopped it. */
  readonly state: "open" | "done" | "stopped"
  /** Turns that ended, since input was last promoted. None when the work has settled or was given up. */
  readonly turns: number
  /** The open turn has made calls of its own. */
  readonly calls: boolean
  /** How often it was taken up again, without any progress since. */
  readonly resumed: number
  /** Who took the last turn. */
  readonly agent: string | undefined
  /** An agent was chosen since. */
  readonly isSwitched: boolean
}

export const NO_ACTIVITY: Activity = {
  id: undefined,
  state: "done",
  turns: 0,
  calls: false,
  resumed: 0,
  agent: undefined,
  isSwitched: false,
}

export const foldActivity = (activity: Activity, events: readonly LoggedEvent[]): Activity =>
  events.reduce(foldOne, activity)

const foldOne = (activity: Activity, event: LoggedEvent): Activity => {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest neither opens nor carries on an activity
  switch (event.type) {
    case "session.next.agent.switched.1":
      return { ...activity, isSwitched: true }
    case "session.next.prompt.promoted.1":
    case "session.next.prompted.1": {
      const id = activity.state === "open" ? activity.id : event.data.messageID
      return { ...activity, id, state: "open", turns: 0, resumed: 0 }
    }
    case "session.next.step.started.1":
      return { ...activity, state: "open", agent: event.data.agent, isSwitched: false, calls: false }
    case "session.next.tool.called.1":
      return activity.calls || event.data.hosted === true ? activity : { ...activity, calls: true }
    case "session.next.step.ended.2":
      // Without results to show the work has settled, unless a steer goes on with it: that counts anew.
      return activity.calls
        ? { ...activity, turns: activity.turns + 1 }
        : { ...activity, state: "done", turns: 0, resumed: 0 }
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
      // A budget may be used up between two activities.
      return event.data.callID === undefined && event.data.kind !== "budget"
        ? { ...activity, state: "open" }
        : activity
    case "session.next.question.replied.1":
      return event.data.callID === undefined ? madeProgress(activity) : activity
    case "session.next.interrupt.requested.1":
      return stopped(activity)
    case "session.next.execution.failed.1":
      return stopped(activity.turns === 0 ? activity : { ...activity, turns: 0 })
    default:
      return activity
  }
}

const madeProgress = (activity: Activity): Activity =>
  activity.resumed === 0 ? activity : { ...activity, resumed: 0 }

const stopped = (activity: Activity): Activity =>
  activity.state === "open" ? { ...activity, state: "stopped" } : activity

/** A turn that was cut off, or is sent again with less history: the work behind it is not over. */
const isPassing = (code: string): boolean => code === "INTERRUPTED" || code === "overflow"
