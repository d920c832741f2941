/** The children of a session: calls whose work a separate session does. */
import type { LoggedEvent } from "../logged-event.ts"
import type { CallName } from "./calls.ts"

export interface Task extends CallName {
  /** The id of the child. */
  readonly sessionID: string
  readonly agent: string
  readonly title: string
  readonly background: boolean
  /** Its outcome is in the log. */
  readonly ended: boolean
}

/** Oldest first. */
export type Tasks = readonly Task[]

export const NO_TASKS: Tasks = []

export const foldTasks = (tasks: Tasks, events: readonly LoggedEvent[]): Tasks => {
  let changed: Task[] | undefined
  for (const event of events) {
    if (event.type === "session.next.task.started.1") {
      const {
        assistantMessageID: messageID,
        callID,
        sessionID,
        agent,
        title,
        background = false,
      } = event.data
      changed ??= [...tasks]
      if (!changed.some((task) => task.sessionID === sessionID))
        changed.push({ messageID, callID, sessionID, agent, title, background, ended: false })
    } else if (event.type === "session.next.task.ended.1") {
      const { sessionID } = event.data
      changed ??= [...tasks]
      const at = changed.findIndex((task) => task.sessionID === sessionID)
      const task = changed[at]
      if (task !== undefined) changed[at] = { ...task, ended: true }
    }
  }
  return changed ?? tasks
}

export const findTask = (tasks: Tasks, { messageID, callID }: CallName): Task | undefined =>
  tasks.find((task) => task.messageID === messageID && task.callID === callID)
