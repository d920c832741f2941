/** One session while it is looked at: its timeline, kept current, and a number that changes when there is something to draw. */
import { signal, type ReadonlySignal } from "@preact/signals"

import type { SessionDocument } from "../domain/documents.ts"
import { createTimeline, type Timeline } from "../domain/timeline.ts"
import type { Api, Connection, HttpFailure } from "../http/api.ts"
import { follow, type Told } from "../http/follow.ts"

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
  readonly info: ReadonlySignal<SessionDocument | undefined>
  readonly close: () => void
}

/** Drawn once per frame however many events came. */
export const openSession = (options: {
  readonly id: string
  readonly api: Api
  readonly connection: Connection
  /** Told whenever the server said something new of it. */
  readonly note: (session: SessionDocument) => void
}): OpenSession => {
  const { id, api, connection, note } = options
  const controller = new AbortController()
  const timeline = createTimeline()
  const version = signal(0)
  const stream = signal<StreamState>({ kind: "replaying" })
  const info = signal<SessionDocument | undefined>(undefined)
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

  /** Work that has settled for us has not quite for the server: it says so a moment later. */
  const isSettling = (): boolean => info.value?.status === "running" && !timeline.isBusy()

  /** Status, sums and title come from the server; asked again while events came in between. */
  const refresh = async (): Promise<void> => {
    isStale = true
    if (isAsking) return
    isAsking = true
    while ((isStale || isSettling()) && !controller.signal.aborted) {
      isStale = false
      const answer = await api.session(id).catch(() => undefined)
      if (answer !== undefined) {
        info.value = answer
        note(answer)
      }
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
    isAsking = false
  }

  const tell = (told: readonly Told[]): void => {
    for (const item of told) {
      switch (item.kind) {
        case "event":
          timeline.apply(item.event)
          if (stream.value.kind === "lost") stream.value = { kind: "replaying" }
          break
        case "live":
          timeline.applyLive(item.event)
          break
        case "synced":
          stream.value = { kind: "live" }
          break
        case "lost":
        case "refused":
          stream.value = item
          break
      }
    }
    draw()
    if (stream.value.kind === "live" && told.some((item) => item.kind !== "live")) void refresh()
  }

  void refresh()
  void follow({ connection, sessionID: id, cursor: timeline.seq, tell, signal: controller.signal })
  return { id, timeline, version, stream, info, close: () => controller.abort() }
}
