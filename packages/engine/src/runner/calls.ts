/** The tool calls of one attempt, local and hosted: recorded, started, settled. */
import { type DurableEvent, type Failure, type RecordedError } from "@meridian/protocol"
import { Effect, Semaphore, type Fiber } from "effect"

import { LIMITS } from "../domain/limits.ts"
import { costOf } from "../model/cost.ts"
import type { ModelEvent, ModelFailure } from "../port/model.ts"
import { attempt } from "./attempt.ts"
import { parseInput } from "./parse-input.ts"
import { broken, type Recorder } from "./recorder.ts"
import { noticeRepetition } from "./repetition.ts"
import { settleCall, type Call } from "./tool-call.ts"
import type { TurnScene } from "./turn.ts"

export interface Calls {
  readonly fibers: Fiber.Fiber<void, Failure>[]
  /** Calls settled without being started. */
  readonly refused: () => number
  readonly ended: () => boolean
  readonly begin: (event: Extract<ModelEvent, { readonly type: "tool-call" }>) => Effect.Effect<void, Failure>
  readonly resolve: (
    event: Extract<ModelEvent, { readonly type: "tool-result" }>,
  ) => Effect.Effect<void, ModelFailure | Failure>
  readonly finish: (event: Extract<ModelEvent, { readonly type: "finish" }>) => void | Promise<void>
  /** Outcomes for hosted calls the provider never answered. */
  readonly unresolved: () => DurableEvent[]
}

export const createCalls = (scene: TurnScene, recorder: Recorder): Calls => {
  const { assistantMessageID } = scene
  const fibers: Fiber.Fiber<void, Failure>[] = []
  const names = new Set<string>()
  const hosted = new Set<string>()
  const slots = Semaphore.makeUnsafe(LIMITS.toolCallsAtOnce)
  let refused = 0
  let ended = false

  const failed = (callID: string, error: RecordedError): DurableEvent => ({
    type: "session.next.tool.failed.1",
    data: { assistantMessageID, callID, error },
  })

  /** Providers may use one id twice in a turn; ours must name one call. */
  const uniqueName = (id: string): string => {
    let name = id
    for (let copy = 2; names.has(name); copy += 1) name = `${id}_${copy}`
    names.add(name)
    return name
  }

  const begin: Calls["begin"] = (event) =>
    Effect.suspend(() => {
      const callID = event.providerExecuted ? event.id : uniqueName(event.id)
      const parsed = parseInput(event.input)
      const called: DurableEvent = {
        type: "session.next.tool.called.1",
        data: {
          assistantMessageID,
          callID,
          tool: event.name,
          ...(parsed.kind === "json" ? { input: parsed.value } : { raw: event.input }),
          ...(event.providerExecuted ? { hosted: true } : {}),
          ...(event.metadata === undefined ? {} : { metadata: event.metadata }),
        },
      }
      if (event.providerExecuted) {
        hosted.add(callID)
        return attempt(() => scene.append([...recorder.take(), called]))
      }
      const refuse = (error: RecordedError) => {
        refused += 1
        return attempt(() => scene.append([...recorder.take(), called, failed(callID, error)]))
      }
      if (parsed.kind === "invalid") return refuse({ code: "invalid-input", message: parsed.message })
      if (fibers.length + refused >= LIMITS.toolCallsPerTurn)
        return refuse({
          code: "failed",
          message: `Not run: a turn may make at most ${LIMITS.toolCallsPerTurn} calls. Make the rest in the next turn.`,
        })
      const repetition = noticeRepetition(scene.transcript(), event.name, parsed.value)
      if (repetition.kind === "refused")
        return refuse({ code: "failed", message: `Not run. ${repetition.note}` })
      const noticed: DurableEvent[] =
        repetition.kind === "none"
          ? []
          : [
              {
                type: "session.next.repetition.noticed.1",
                data: { assistantMessageID, callID, tool: event.name, count: repetition.count },
              },
            ]
      const call: Call = {
        messageID: assistantMessageID,
        callID,
        tool: event.name,
        input: parsed.value,
        ...(repetition.kind === "none" ? {} : { note: repetition.note }),
      }
      return Effect.gen(function* () {
        const recorded = yield* attempt(() => scene.intend([...recorder.take(), called, ...noticed]))
        const running = runCall(scene, call, slots, recorded)
        fibers.push(yield* Effect.forkChild(running, { startImmediately: true }))
      })
    })

  const resolve: Calls["resolve"] = (event) =>
    Effect.suspend((): Effect.Effect<void, ModelFailure | Failure> => {
      if (!hosted.delete(event.id))
        return Effect.fail(broken(`a result for ${event.id}, which is not waiting for one`))
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
      return attempt(() => scene.append([...recorder.take(), settled]))
    })

  const unresolved: Calls["unresolved"] = () => {
    const left = [...hosted].map((callID) =>
      failed(callID, { code: "failed", message: "The provider returned no result for its own tool." }),
    )
    hosted.clear()
    return left
  }

  const finish: Calls["finish"] = (event) => {
    ended = true
    return scene.appendSoon([
      ...recorder.take(),
      ...unresolved(),
      {
        type: "session.next.step.ended.2",
        data: {
          assistantMessageID,
          finish: event.reason,
          usage: event.usage,
          cost: costOf(event.usage, scene.model.price),
          ...(event.metadata === undefined ? {} : { metadata: event.metadata }),
        },
      },
    ])
  }

  return { fibers, refused: () => refused, ended: () => ended, begin, resolve, finish, unresolved }
}

/** Also used for calls that are started again after a restart, because they had only asked. */
export const runCall = (
  scene: Pick<
    TurnScene,
    | "sessionID"
    | "fence"
    | "agent"
    | "rules"
    | "project"
    | "tools"
    | "permissions"
    | "append"
    | "consequences"
  >,
  call: Call,
  slots: Semaphore.Semaphore,
  recorded: Promise<void> | undefined,
): Effect.Effect<void, Failure> => {
  const { sessionID, agent, fence, rules, project } = scene
  const { messageID, callID } = call
  return settleCall({
    call,
    slots,
    recorded,
    staysOpen: () => scene.permissions.outlives({ sessionID, fence, messageID, callID }),
    tools: scene.tools,
    scene: { sessionID, agent, messageID, callID, ask: () => Promise.resolve() },
    ask: (signal) => (question) =>
      scene.permissions.ask({ sessionID, fence, rules, project, messageID, callID, signal }, question),
    store: (event) =>
      scene.append([
        event,
        ...(event.type === "session.next.tool.success.1" ? scene.consequences(call) : []),
      ]),
  })
}
