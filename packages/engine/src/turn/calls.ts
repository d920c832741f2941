/** The tool calls of one attempt, local and hosted: recorded, started and settled. */
import type { DurableEvent, Failure, MessageId, RecordedError } from "@meridian/protocol"
import { Effect, Semaphore, type Fiber } from "effect"

import { costOf } from "../domain/cost.ts"
import { LIMITS } from "../domain/limits.ts"
import { parseInput, type ParsedInput } from "../domain/parse-input.ts"
import { refuseRepetition } from "../domain/repetition.ts"
import type { Made } from "../domain/transcript/repetition.ts"
import { ModelFailure, type ModelEvent } from "../port/model.ts"
import type { TurnScene } from "../session/index.ts"
import type { Asking } from "./asking.ts"
import { keepTurn, type KeptTurn } from "./keep-files.ts"
import { broken, type Noted } from "./recorder.ts"
import { repetitionNoticed, runCall, type Call } from "./tool-call.ts"

export interface Calls {
  readonly fibers: Fiber.Fiber<void, Failure>[]
  /** How many calls were settled without being started. */
  readonly refused: () => number
  /** Stores what was noted in one append and starts the calls in it. */
  readonly record: (noted: readonly Noted[]) => Effect.Effect<void, ModelFailure | Failure, Asking>
  /** Runs when all calls have settled; undefined: there is nothing to do. */
  readonly settled: KeptTurn["after"]
  /** Outcomes for hosted calls the provider never answered. */
  readonly unresolved: () => DurableEvent[]
}

type ToolCall = Extract<ModelEvent, { readonly type: "tool-call" }>
type ToolResult = Extract<ModelEvent, { readonly type: "tool-result" }>
type Finish = Extract<ModelEvent, { readonly type: "finish" }>

/** What one noted item leads to: events to store, and a call to start once they are stored. */
interface Accepted {
  readonly events: readonly DurableEvent[]
  readonly call?: Call
}

export const createCalls = (scene: TurnScene, assistantMessageID: MessageId): Calls => {
  const { session, cast } = scene
  const fibers: Fiber.Fiber<void, Failure>[] = []
  const names = new Set<string>()
  const hosted = new Set<string>()
  let files: KeptTurn | undefined
  const slots = Semaphore.makeUnsafe(LIMITS.toolCallsAtOnce)
  let made = 0
  let refused = 0

  const failed = (callID: string, error: RecordedError): DurableEvent => ({
    type: "session.next.tool.failed.1",
    data: { assistantMessageID, callID, error },
  })

  /** Providers may use one id twice in a turn. Our id must name exactly one call. */
  const uniqueName = (id: string): string => {
    let name = id
    for (let copy = 2; names.has(name); copy += 1) name = `${id}_${copy}`
    names.add(name)
    return name
  }

  /** `before`: the calls that arrived together with this one. */
  const acceptCall = (event: ToolCall, parsed: ParsedInput, before: readonly Made[]): Accepted => {
    const kind = event.providerExecuted ? undefined : cast.traitsOf(event.name).kind
    const callID = event.providerExecuted ? event.id : uniqueName(event.id)
    const called: DurableEvent = {
      type: "session.next.tool.called.1",
      data: {
        assistantMessageID,
        callID,
        tool: event.name,
        ...(parsed.kind === "json" ? { input: parsed.value } : { raw: event.input }),
        ...(event.providerExecuted ? { hosted: true } : {}),
        ...(kind === undefined ? {} : { kind }),
        ...(event.metadata === undefined ? {} : { metadata: event.metadata }),
      },
    }
    if (event.providerExecuted) {
      hosted.add(callID)
      return { events: [called] }
    }
    made += 1
    const refuse = (error: RecordedError, noticed: readonly DurableEvent[] = []): Accepted => {
      refused += 1
      return { events: [called, ...noticed, failed(callID, error)] }
    }
    if (parsed.kind === "invalid") return refuse({ code: "invalid-input", message: parsed.message })
    if (made > LIMITS.toolCallsPerTurn)
      return refuse({
        code: "failed",
        message: `Not run: a turn may make at most ${LIMITS.toolCallsPerTurn} calls. Make the rest in the next turn.`,
      })
    const call = { messageID: assistantMessageID, callID, tool: event.name, input: parsed.value }
    const repetition = refuseRepetition(session.transcript().row, before, call)
    if (repetition === undefined) return { events: [called], call }
    return refuse({ code: "failed", message: `Not run. ${repetition.note}` }, [
      repetitionNoticed(call, repetition),
    ])
  }

  const acceptResult = (event: ToolResult): Accepted | ModelFailure => {
    if (!hosted.delete(event.id)) return broken(`a result for ${event.id}, which is not waiting for one`)
    const metadata = event.metadata === undefined ? {} : { metadata: event.metadata }
    const settled: DurableEvent = event.isError
      ? {
          type: "session.next.tool.failed.1",
          data: {
            assistantMessageID,
            callID: event.id,
            error: { code: "failed", message: `The provider's ${event.name} failed.` },
            result: event.result,
            ...metadata,
          },
        }
      : {
          type: "session.next.tool.success.1",
          data: { assistantMessageID, callID: event.id, content: [], result: event.result, ...metadata },
        }
    return { events: [settled] }
  }

  const unresolved: Calls["unresolved"] = () => {
    const left = [...hosted].map((callID) =>
      failed(callID, { code: "failed", message: "The provider returned no result for its own tool." }),
    )
    hosted.clear()
    return left
  }

  const acceptFinish = (event: Finish): Accepted => {
    const { reason, usage, metadata } = event
    const stepEnded: DurableEvent = {
      type: "session.next.step.ended.2",
      data: {
        assistantMessageID,
        finish: reason,
        usage,
        cost: costOf(usage, cast.model.price),
        ...(metadata === undefined ? {} : { metadata }),
      },
    }
    return { events: [...unresolved(), stepEnded] }
  }

  /** Adds each call to `before` for the next one. */
  const accept = (noted: Noted, before: Made[]): Accepted | ModelFailure => {
    if (noted.kind === "prose") return { events: [noted.event] }
    switch (noted.event.type) {
      case "tool-call": {
        const parsed = parseInput(noted.event.input)
        const accepted = acceptCall(noted.event, parsed, before)
        before.push({
          tool: noted.event.name,
          input: parsed.kind === "json" ? parsed.value : undefined,
        })
        return accepted
      }
      case "tool-result":
        return acceptResult(noted.event)
      case "finish":
        return acceptFinish(noted.event)
    }
  }

  /** Collects what to store: everything until the provider breaks its own rules, and all prose. */
  const acceptAll = (noted: readonly Noted[]) => {
    const events: DurableEvent[] = []
    const calls: Call[] = []
    const before: Made[] = []
    let trouble: ModelFailure | undefined
    for (const one of noted) {
      if (trouble !== undefined && one.kind !== "prose") continue
      const accepted = accept(one, before)
      if (accepted instanceof ModelFailure) {
        trouble = accepted
        continue
      }
      events.push(...accepted.events)
      if (accepted.call !== undefined) calls.push(accepted.call)
    }
    return { events, calls, trouble }
  }

  const record: Calls["record"] = (noted) =>
    Effect.suspend(() => {
      const { events, calls, trouble } = acceptAll(noted)
      const stored = calls.length === 0 ? session.append(events) : begin(events, calls)
      return trouble === undefined ? stored : Effect.andThen(stored, Effect.fail(trouble))
    })

  /** Uninterruptible: a call that is recorded as called is also started. */
  const begin = (
    events: readonly DurableEvent[],
    calls: readonly Call[],
  ): Effect.Effect<void, Failure, Asking> =>
    Effect.uninterruptible(
      Effect.gen(function* () {
        const { safe } = yield* session.intend(events)
        files ??= keepTurn(scene, assistantMessageID)
        for (const call of calls)
          fibers.push(
            yield* Effect.forkChild(runCall(scene, call, { slots, recorded: safe, files }), {
              startImmediately: true,
            }),
          )
      }),
    )

  return {
    fibers,
    refused: () => refused,
    record,
    settled: () => files?.after(),
    unresolved,
  }
}
