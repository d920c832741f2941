/** Notifies outside the page while it is hidden: a question came, or a session has ended its work. */
import type { OpenPermissionRequest, OpenQuestion, SessionInfo } from "@meridian/server/client"
import { signal, type ReadonlySignal } from "@preact/signals"

import { titleOf } from "../domain/session-title.ts"

export interface Notifications {
  /** `unavailable`: the browser has none, or the user has refused them. */
  readonly state: ReadonlySignal<"off" | "on" | "unavailable">
  readonly turn: (on: boolean) => void
  readonly seeQuestions: (
    requests: readonly OpenPermissionRequest[],
    inquiries: readonly OpenQuestion[],
  ) => void
  readonly seeSessions: (sessions: readonly SessionInfo[]) => void
}

const KEY = "meridian.notifications"
const MOST_CHARACTERS = 200

export const createNotifications = (): Notifications => {
  const isAvailable = typeof Notification !== "undefined" && Notification.permission !== "denied"
  const isWanted = isAvailable && Notification.permission === "granted" && localStorage.getItem(KEY) === "on"
  const state = signal<"off" | "on" | "unavailable">(isAvailable ? (isWanted ? "on" : "off") : "unavailable")
  let questions: ReadonlySet<string> | undefined
  let running: ReadonlySet<string> = new Set()

  const ask = async (): Promise<void> => {
    const answer = await Notification.requestPermission()
    state.value = answer === "granted" ? "on" : answer === "denied" ? "unavailable" : "off"
  }

  const say = (title: string, body: string, tag: string): void => {
    if (state.value !== "on" || !document.hidden) return
    const notice = new Notification(title, { body: body.slice(0, MOST_CHARACTERS), tag })
    notice.addEventListener("click", () => window.focus())
  }

  return {
    state,
    turn: (on) => {
      localStorage.setItem(KEY, on ? "on" : "off")
      if (on) void ask()
      else state.value = "off"
    },
    seeQuestions: (requests, inquiries) => {
      const known = questions
      questions = new Set([...requests, ...inquiries].map(({ id }) => id))
      if (known === undefined) return
      for (const { id, action, resources, title } of requests)
        if (!known.has(id)) say(`Permission to ${action}?`, resources[0] ?? title, id)
      for (const { id, text } of inquiries) if (!known.has(id)) say("A question waits", text, id)
    },
    seeSessions: (sessions) => {
      for (const session of sessions)
        if (running.has(session.id) && session.status !== "running" && session.status !== "waiting")
          say(titleOf(session), ENDED[session.status], session.id)
      running = new Set(
        sessions.flatMap(({ id, status }) => (status === "running" || status === "waiting" ? [id] : [])),
      )
    },
  }
}

const ENDED = {
  idle: "has settled",
  interrupted: "was interrupted",
  failed: "has failed",
  running: "",
  waiting: "",
} as const satisfies Record<SessionInfo["status"], string>
