/**
 * Turns one provider stream into durable events and live fragments, and checks the stream's own contract on the way.
 *
 * Text is recorded when it ends, in one append with whatever comes next (a call, the end of the step). Fragments are shown
 * live at once, and a broken or interrupted stream still leaves what was seen.
 */
import type { DurableEvent, LiveEvent, MessageId } from "@meridian/protocol"

import { ModelFailure, type ModelEvent, type ModelEvents } from "../port/model.ts"

type ToolCall = Extract<ModelEvent, { readonly type: "tool-call" }>
type ToolResult = Extract<ModelEvent, { readonly type: "tool-result" }>
type Finish = Extract<ModelEvent, { readonly type: "finish" }>

/** What the turn must act on. The recorder handles everything else. */
export type Significant = ToolCall | ToolResult | Finish

/** Complete prose, or something to act on. */
export type Noted =
  | { readonly kind: "prose"; readonly event: DurableEvent }
  | { readonly kind: "significant"; readonly event: Significant }

export interface Recorder {
  /** Takes events until one needs the turn, together with all that have arrived by then, or until the stream ends. */
  readonly advance: (events: ModelEvents) => Promise<void>
  /** Returns what was noted and is not stored yet, in order. The caller acts on it and stores it now. */
  readonly take: () => readonly Noted[]
  /** Returns the unstored prose, open parts included, after the stream broke or was interrupted. */
  readonly takePartial: () => DurableEvent[]
  /** The answer is complete. */
  readonly finished: () => boolean
  /** Part of the answer was already shown. */
  readonly visible: () => boolean
}

interface OpenProse {
  readonly kind: "text" | "reasoning"
  readonly chunks: string[]
  metadata: object | undefined
}

export const createRecorder = (options: {
  readonly assistantMessageID: MessageId
  readonly publish: (event: LiveEvent) => void
}): Recorder => {
  const { assistantMessageID, publish } = options
  const open = new Map<string, OpenProse>()
  const inputs = new Map<string, string>()
  let noted: Noted[] = []
  let visible = false
  let finished = false
  /** An error that came after something that must be acted on first. */
  let trouble: unknown

  const proseEvent = (prose: OpenProse, partial: boolean): DurableEvent => {
    const data = {
      assistantMessageID,
      text: prose.chunks.join(""),
      ...(prose.metadata === undefined ? {} : { metadata: { ...prose.metadata } }),
      ...(partial ? { partial } : {}),
    }
    return prose.kind === "text"
      ? { type: "session.next.text.ended.1", data }
      : { type: "session.next.reasoning.ended.1", data }
  }

  const start = (kind: OpenProse["kind"], id: string, metadata: object | undefined): void => {
    if (open.has(`${kind}:${id}`)) throw broken(`${kind} ${id} started twice`)
    open.set(`${kind}:${id}`, { kind, chunks: [], metadata })
  }

  const extend = (kind: OpenProse["kind"], id: string, delta: string, metadata?: object): void => {
    const prose = open.get(`${kind}:${id}`)
    if (prose === undefined) throw broken(`${kind} ${id} goes on before it started`)
    if (metadata !== undefined) prose.metadata = metadata
    if (delta === "") return
    prose.chunks.push(delta)
    visible = true
    publish({ type: `${kind}.delta`, data: { assistantMessageID, delta } })
  }

  const end = (kind: OpenProse["kind"], id: string, metadata: object | undefined): void => {
    const prose = open.get(`${kind}:${id}`)
    if (prose === undefined) throw broken(`${kind} ${id} ends before it started`)
    open.delete(`${kind}:${id}`)
    if (metadata !== undefined) prose.metadata = metadata
    // Empty reasoning may still carry a signature; empty text carries nothing.
    if (prose.chunks.length > 0 || prose.metadata !== undefined)
      noted.push({ kind: "prose", event: proseEvent(prose, false) })
  }

  const handle = (event: ModelEvent): Significant | undefined => {
    if (finished) throw broken(`${event.type} after the end`)
    switch (event.type) {
      case "text-start":
        start("text", event.id, event.metadata)
        return undefined
      case "text-delta":
        extend("text", event.id, event.delta)
        return undefined
      case "text-end":
        end("text", event.id, event.metadata)
        return undefined
      case "reasoning-start":
        start("reasoning", event.id, event.metadata)
        return undefined
      case "reasoning-delta":
        extend("reasoning", event.id, event.delta, event.metadata)
        return undefined
      case "reasoning-end":
        end("reasoning", event.id, event.metadata)
        return undefined
      case "tool-input-start":
        inputs.set(event.id, event.name)
        return undefined
      case "tool-input-delta":
        visible = true
        publish({
          type: "tool.input.delta",
          data: { assistantMessageID, callID: event.id, delta: event.delta },
        })
        return undefined
      case "tool-input-end":
        return undefined
      case "tool-call": {
        const name = inputs.get(event.id)
        if (name !== undefined && name !== event.name)
          throw broken(`call ${event.id} changed its tool from ${name} to ${event.name}`)
        visible = true
        return event
      }
      case "tool-result":
        visible = true
        return event
      case "finish":
        finished = true
        return event
    }
  }

  /** Notes an event and those that arrived with it. True when there is something to act on. */
  const note = (first: ModelEvent, { ready }: ModelEvents): boolean => {
    let toActOn = false
    try {
      for (let next: ModelEvent | undefined = first; next !== undefined; next = ready?.()) {
        const event = handle(next)
        if (event === undefined) continue
        noted.push({ kind: "significant", event })
        toActOn = true
      }
    } catch (cause) {
      if (!toActOn) throw cause
      trouble = cause
    }
    return toActOn
  }

  const advance: Recorder["advance"] = async (events) => {
    for (;;) {
      if (trouble !== undefined) throw trouble
      const next = await events.next()
      if (next.done === true) {
        if (!finished) throw broken("the stream ended without a finish")
        return
      }
      if (note(next.value, events)) return
    }
  }

  const take = (): readonly Noted[] => {
    const taken = noted
    noted = []
    return taken
  }

  const takePartial = (): DurableEvent[] => {
    const partial = [...open.values()]
      .filter((prose) => prose.chunks.length > 0)
      .map((prose) => proseEvent({ ...prose, metadata: undefined }, true))
    open.clear()
    return [...take().flatMap(({ kind, event }) => (kind === "prose" ? [event] : [])), ...partial]
  }

  return { advance, take, takePartial, finished: () => finished, visible: () => visible }
}

export const broken = (what: string): ModelFailure =>
  new ModelFailure({ kind: "invalid-output", message: `The provider's stream is invalid: ${what}.` })
