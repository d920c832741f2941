/**
 * Two faces with the same verbs by construction. The Promise face is written down once (`api.ts`). Its type gives the table
 * of verbs that the engine implements, and the Effect face. Both faces are made from that table.
 */
import { Failure } from "@meridian/protocol"
import { Cause, Effect, Exit, Fiber, Stream, type Context } from "effect"

import type { PermissionsApi, QuestionsApi, SessionsApi, WaitOptions } from "./api.ts"
import { iterateStream } from "./iterate-stream.ts"

/** What the engine implements. A stream is opened first, so that it can be refused. */
export type VerbsOf<Face> = {
  readonly [Name in keyof Face]: Face[Name] extends StreamVerb
    ? (...given: Given<Face[Name]>) => Effect.Effect<Stream.Stream<Item<Face[Name]>, Failure>, Failure>
    : (...given: Given<Face[Name]>) => Effect.Effect<Answer<Face[Name]>, Failure>
}

export type EffectFace<Face> = {
  readonly [Name in keyof Face]: Face[Name] extends StreamVerb
    ? (...given: Given<Face[Name]>) => Stream.Stream<Item<Face[Name]>, Failure>
    : (...given: Given<Face[Name]>) => Effect.Effect<Answer<Face[Name]>, Failure>
}

/** How the verbs of a face are called. An incomplete table does not compile. */
export interface Calls<Face> {
  /** The verbs that stream. */
  readonly streams: {
    readonly [Name in keyof Face as Face[Name] extends StreamVerb ? Name : never]: true
  }
  /** The position of the options that stop waiting. In Effect that is an interrupt. */
  readonly waitAt: {
    readonly [Name in keyof Face as WaitAt<Face[Name]> extends number ? Name : never]: WaitAt<Face[Name]>
  }
}

export const SESSION_CALLS: Calls<SessionsApi> = {
  streams: { events: true, eventFrames: true, changes: true, live: true, ownLive: true },
  waitAt: {
    import: 1,
    run: 1,
    wait: 1,
    compact: 1,
    events: 1,
    eventFrames: 1,
    live: 1,
    ownLive: 1,
    changes: 0,
  },
}

export const PERMISSION_CALLS: Calls<PermissionsApi> = { streams: {}, waitAt: {} }

export const QUESTION_CALLS: Calls<QuestionsApi> = { streams: {}, waitAt: {} }

type StreamVerb = (...given: never[]) => AsyncIterable<unknown>
type Answer<Verb> = Verb extends (...given: never[]) => Promise<infer Value> ? Value : never
type Item<Verb> = Verb extends (...given: never[]) => AsyncIterable<infer Value> ? Value : never
type Parameters<Verb> = Verb extends (...given: infer All extends readonly unknown[]) => unknown ? All : never
type BeforeWait<All extends readonly unknown[]> =
  Required<All> extends readonly [...infer Rest, infer Last]
    ? IsSame<Last, WaitOptions> extends true
      ? Rest
      : undefined
    : undefined
type Given<Verb> =
  BeforeWait<Parameters<Verb>> extends infer Rest extends readonly unknown[] ? Rest : Parameters<Verb>
type WaitAt<Verb> =
  BeforeWait<Parameters<Verb>> extends infer Rest extends readonly unknown[] ? Rest["length"] : undefined
type IsSame<A, B> = [A, B] extends [B, A] ? true : false

export const effectFace = <Face>(verbs: VerbsOf<Face>, calls: Calls<Face>): EffectFace<Face> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- verb by verb what `EffectFace` makes of `VerbsOf`
  mapVerbs(verbs, (name, verb) =>
    name in calls.streams ? (...given: Arguments) => Stream.unwrap(streamOf(verb(...given))) : verb,
  ) as EffectFace<Face>

export interface PromiseHost {
  /** The context in which the engine was built, above all its clock. */
  readonly context: Context.Context<never>
  readonly isClosed: () => boolean
  /** Aborts when the engine closes. */
  readonly closed: AbortSignal
}

export const promiseFace = <Face>(verbs: VerbsOf<Face>, calls: Calls<Face>, host: PromiseHost): Face => {
  const waitAt: Readonly<Record<string, unknown>> = calls.waitAt
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- verb by verb what `VerbsOf` was made from
  return mapVerbs(verbs, (name, verb) => (...given: Arguments) => {
    const place = waitAt[name]
    const at = typeof place === "number" ? place : given.length
    const wait: WaitOptions = Object(given[at])
    const ask = () => verb(...given.slice(0, at))
    return name in calls.streams ? iterate(ask, wait, host) : run(ask, wait, host)
  }) as Face
}

type Arguments = readonly unknown[]
type AnyVerb = (...given: Arguments) => Effect.Effect<unknown, Failure>

const mapVerbs = (
  verbs: object,
  change: (name: string, verb: AnyVerb) => unknown,
): Readonly<Record<string, unknown>> => {
  const table: Readonly<Record<string, AnyVerb>> = { ...verbs }
  return Object.fromEntries(Object.entries(table).map(([name, verb]) => [name, change(name, verb)]))
}

const streamOf = (opened: Effect.Effect<unknown, Failure>) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table of calls says that this verb streams
  opened as Effect.Effect<Stream.Stream<unknown, Failure>, Failure>

const run = async <A>(
  ask: () => Effect.Effect<A, Failure>,
  { signal }: WaitOptions,
  { context, isClosed }: PromiseHost,
): Promise<A> => {
  if (isClosed()) throw new Failure("ENGINE_CLOSED")
  signal?.throwIfAborted()
  const exit = await Effect.runPromiseExitWith(context)(ask(), signal === undefined ? {} : { signal })
  if (Exit.isSuccess(exit)) return exit.value
  if (signal?.aborted === true && Cause.hasInterruptsOnly(exit.cause)) throw signal.reason
  throw Cause.squash(exit.cause)
}

/** A synchronous refusal is thrown at once, any other with the first item. Leaving or aborting ends the stream. */
const iterate = (
  open: () => Effect.Effect<unknown, Failure>,
  { signal }: WaitOptions,
  { context, isClosed, closed }: PromiseHost,
): AsyncIterable<unknown> => {
  if (isClosed()) throw new Failure("ENGINE_CLOSED")
  const opening = Effect.runForkWith(context)(open())
  const opened = opening.pollUnsafe()
  if (opened !== undefined && Exit.isFailure(opened)) throw Cause.squash(opened.cause)
  const items = Stream.unwrap(streamOf(Fiber.join(opening)))
  return {
    [Symbol.asyncIterator]: () => {
      const ended = AbortSignal.any([closed, ...(signal === undefined ? [] : [signal])])
      const leave = (): void => void inner.return?.()
      const stop = Effect.sync(() => ended.removeEventListener("abort", leave))
      const inner = iterateStream(Stream.ensuring(items, stop), context)
      ended.addEventListener("abort", leave)
      if (ended.aborted) leave()
      return inner
    },
  }
}
