/** One session while it is shown: its timeline, kept current, and a number that changes when there is something to draw. */
import {
  HttpFailure,
  type Client,
  type EventFrame,
  type SessionInfo,
  type SessionStay,
} from "@meridian/server/client"
import { signal, type ReadonlySignal } from "@preact/signals"

import { createTimeline, type Timeline } from "../domain/timeline.ts"
import { whileVisible } from "./while-visible.ts"

export type StreamState =
  | { readonly kind: "replaying" }
  | { readonly kind: "live" }
  | { readonly kind: "lost"; readonly failure: HttpFailure }
  | { readonly kind: "refused"; readonly failure: HttpFailure }

export interface OpenSession {
  readonly id: string
  readonly timeline: Timeline
  readonly version: ReadonlySignal<number>
  readonly stream: ReadonlySignal<StreamState>
  readonly info: ReadonlySignal<SessionInfo | undefined>
  /** The nodes that had the session, when machines share a database. */
  readonly stays: ReadonlySignal<readonly SessionStay[]>
  readonly close: () => void
}

/** Draws once per frame, however many events arrived. */
export const openSession = (options: {
  readonly id: string
  readonly client: Client
  /** Called whenever the server sends newer information about the session. */
  readonly note: (session: SessionInfo) => void
}): OpenSession => {
  const { id, client, note } = options
  const controller = new AbortController()
  const timeline = createTimeline()
  const version = signal(0)
  const stream = signal<StreamState>({ kind: "replaying" })
  const info = signal<SessionInfo | undefined>(undefined)
  const stays = signal<readonly SessionStay[]>([])
  let isDrawing = false
  let isAsking = false
  let isStale = false

  const draw = (): void => {
    if (isDrawing) return
    isDrawing = true
    requestAnimationFrame(() => {
      isDrawing = false
      version.value += 1
    })
  }

  /** The log shows that work has settled a moment before the server reports it. */
  const isSettling = (): boolean => info.value?.status === "running" && !timeline.isBusy()

  /** Fetches status, totals and title, and again if events arrived in between. */
  const refresh = async (): Promise<void> => {
    isStale = true
    if (isAsking) return
    isAsking = true
    while ((isStale || isSettling()) && !controller.signal.aborted) {
      isStale = false
      const answer = await client.sessions.get({ sessionID: id }).catch(() => undefined)
      if (answer !== undefined) {
        if (answer.node !== stays.value.at(-1)?.node) await readStays()
        info.value = answer
        note(answer)
      }
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
    isAsking = false
  }

  const readStays = async (): Promise<void> => {
    const answer = await client.sessions.stays({ sessionID: id }).catch(() => undefined)
    if (answer !== undefined) stays.value = answer.items
  }

  const tell = (frame: EventFrame): void => {
    if ("seq" in frame) {
      timeline.apply(frame)
      if (stream.value.kind === "lost") stream.value = { kind: "replaying" }
      return
    }
    switch (frame.type) {
      case "synced":
        stream.value = { kind: "live" }
        break
      case "text.delta":
      case "reasoning.delta":
      case "tool.input.delta":
      case "compaction.delta":
        timeline.applyLive(frame)
        break
      // Missing fragments are part of later events.
      case "dropped":
      case "reconnecting":
        break
    }
  }

  const lost = (failure: HttpFailure): void => {
    stream.value = { kind: "lost", failure }
  }

  const follow = async (until: AbortSignal): Promise<void> => {
    const asked = { sessionID: id, after: timeline.seq(), live: true, signal: until, lost }
    for await (const frames of client.eventBatches(asked)) {
      for (const frame of frames) tell(frame)
      draw()
      if (stream.value.kind === "live" && frames.some((frame) => !isFragment(frame))) void refresh()
    }
  }

  void refresh()
  whileVisible(follow, controller.signal).catch((cause: unknown) => {
    if (!(cause instanceof HttpFailure)) throw cause
    // Asking again is useless: no permission, no such session, or a cursor of another log.
    stream.value = { kind: "refused", failure: cause }
    draw()
  })
  return { id, timeline, version, stream, info, stays, close: () => controller.abort() }
}

const isFragment = ({ type }: EventFrame): boolean => type.endsWith(".delta")
