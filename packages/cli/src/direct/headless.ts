/**
 * One prompt without a terminal. The session works until it has settled, and everything durable becomes a line on
 * stdout. The launcher judges the run by these lines. No person can answer here. A permission is refused with words
 * for the model, and any other question ends this process, so that the run is paused until it is answered. With
 * `--ask`, both wait for an answer from elsewhere, and a line says so.
 */
import type { Engine } from "@meridian/engine"
import { Failure, harnessSessionId, type JsonObject, type RunOffer } from "@meridian/protocol"
import { followEvents, settled } from "@meridian/server"
import { encodeDirectLine, type DirectEvent, type World } from "@meridian/spaces"

import { openChildLines } from "./child-lines.ts"
import { followChildren, openBackground } from "./children.ts"
import { classOfFailure } from "./failure-class.ts"
import { failureLine, signalCode } from "./headless-ending.ts"
import { unreadable } from "./named-things.ts"
import { openSession, type DirectLaunch, type OpenSession } from "./open-session.ts"
import { admitWords, openSteering, runMessageId } from "./steering.ts"
import { openTranslator, type Ending } from "./translate.ts"

export interface HeadlessRun {
  readonly launch: DirectLaunch
  readonly prompt: string
  readonly world: World
  readonly write: (line: string) => void
}

/** Returns the exit code. Never throws for problems of a run: those are `error` lines. */
export const runHeadless = async ({ launch, prompt, world, write }: HeadlessRun): Promise<number> => {
  const tell = (event: DirectEvent): void => write(encodeDirectLine(event))
  tell({ type: "session", harnessSessionId: harnessSessionId(launch.session.id) })
  try {
    const opened = await openSession(launch, world, { recovery: "continue" })
    try {
      for (const message of opened.notices) tell({ type: "warning", message })
      const ending = await work(
        opened,
        { prompt, schema: launch.file.schema, words: launch.file.words ?? [] },
        { world, tell, asks: launch.file.asks === true },
      )
      return conclude(ending, { world, tell })
    } finally {
      await opened.engine.close()
    }
  } catch (error) {
    if (world.signal.aborted) return signalCode(world)
    if (!(error instanceof Failure)) throw error
    tell(failureLine(error))
    return 1
  }
}

interface Telling {
  readonly world: World
  readonly tell: (event: DirectEvent) => void
}

const conclude = (ending: Ending | Asking, { world, tell }: Telling): number => {
  switch (ending.tag) {
    case "asking":
      tell({ type: "error", failure: ending.for, message: ending.text })
      return 1
    case "settled":
      tell({ type: "ended" })
      return 0
    case "interrupted":
      if (world.signal.aborted) return signalCode(world)
      tell({ type: "error", failure: "incomplete", message: "The session was interrupted from elsewhere." })
      return 1
    case "unfinished":
      tell({ type: "error", failure: "incomplete", message: ending.why })
      return 1
    case "failed":
      tell({
        type: "error",
        failure: classOfFailure(ending.error),
        message: ending.error.message,
        ...(ending.error.retryAfterMs === undefined ? {} : { retryAfterMs: ending.error.retryAfterMs }),
      })
      return 1
  }
}

/** The prompt, and the schema of its answer. */
interface Asked {
  readonly prompt: string
  readonly schema: JsonObject | undefined
  /** Words sent to the run and not told yet. */
  readonly words: RunOffer["words"]
}

/** Only a person can decide whether it continues. */
interface Asking {
  readonly tag: "asking"
  readonly for: "budget" | "question"
  readonly text: string
}

const asking = ({ kind, text }: { readonly kind: string; readonly text: string }): Asking => ({
  tag: "asking",
  for: kind === "budget" ? "budget" : "question",
  text,
})

const work = async (
  opened: OpenSession,
  wanted: Asked,
  { world, tell, asks }: Telling & { readonly asks: boolean },
): Promise<Ending | Asking> => {
  const { engine, session } = opened
  const asked = Promise.withResolvers<Asking>()
  const priced = new Set(opened.models.flatMap(({ id, price }) => (price === undefined ? [] : [id])))
  const isPriced = (model: string): boolean => priced.has(model)
  const translator = openTranslator({ isPriced })
  const childLines = openChildLines(engine, { sinceMs: world.clock.now(), isPriced, tell })
  const background = openBackground()
  const over = new AbortController()
  // A child's questions are handled like its parent's: no person is there to answer.
  const children = followChildren(engine, session.id, {
    signal: over.signal,
    changed: async (child) => {
      childLines.meet(child)
      if (!asks)
        for (const { id } of await engine.permissions.list({ sessionID: child })) await refuse(engine, id)
      for (const question of await engine.questions.list({ sessionID: child }))
        if (!asks || question.kind === "budget") asked.resolve(asking(question))
    },
  })
  const follower = followEvents(engine, { sessionID: session.id, after: session.seq }, async (event) => {
    for (const told of translator.push(event)) tell(told)
    background.push(event)
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest asks nothing and answers nothing
    switch (event.type) {
      case "session.next.permission.asked.1": {
        const { requestID, action, resources } = event.data
        if (!asks) await refuse(engine, requestID)
        else tell({ type: "waiting", for: "permission", message: `${action}: ${resources.join(", ")}` })
        break
      }
      case "session.next.question.asked.1":
        if (asks && event.data.kind !== "budget")
          tell({ type: "waiting", for: "question", message: event.data.text })
        else asked.resolve(asking(event.data))
        break
      case "session.next.permission.replied.1":
      case "session.next.question.replied.1":
        if (asks) tell({ type: "waiting", for: "nothing", message: "" })
        break
      default:
        break
    }
  })
  const stop = (): void => {
    // We wait below until it has settled, and a failure to interrupt shows there.
    engine.sessions.interrupt(session.id).catch(() => undefined)
  }
  world.signal.throwIfAborted()
  const closing: (() => Promise<void>)[] = []
  // While a person is asked, there may be nothing else to keep this process alive.
  const staying = setInterval(() => undefined, 60_000)
  world.signal.addEventListener("abort", stop, { once: true })
  try {
    for (const { id, action, resources } of await engine.permissions.list({ sessionID: session.id }))
      if (asks) tell({ type: "waiting", for: "permission", message: `${action}: ${resources.join(", ")}` })
      else await refuse(engine, id)
    const steered = { sessionID: session.id, schema: wanted.schema, world, tell }
    await admitWords(engine, wanted.words, { ...steered, wake: false })
    await ask(engine, session.id, { ...wanted, id: runMessageId(session.id, world) }, (message) =>
      tell({ type: "warning", message }),
    )
    const steering = openSteering(engine, steered)
    closing.push(steering.close)
    // A question from before without an answer: no event would come for it.
    for (const question of await engine.questions.list({ sessionID: session.id }))
      if (!asks || question.kind === "budget") asked.resolve(asking(question))
      else tell({ type: "waiting", for: "question", message: question.text })
    const settles = async (): Promise<Failure | Asking | undefined> => {
      const settling = settled(engine.sessions, session.id)
      // If a question ends the run, the engine closes while this still runs.
      settling.catch(() => undefined)
      const end = await Promise.race([settling, asked.promise])
      await follower.upTo((await engine.sessions.get(session.id)).seq)
      return end
    }
    let end = await settles()
    // Background work belongs to the run.
    for (let more = background.next(); more !== undefined; more = background.next()) {
      if (end !== undefined && "tag" in end) return end
      await Promise.race([more, aborted(world.signal)])
      if (world.signal.aborted) break
      end = await settles()
      if (end !== undefined && "tag" in end) break
    }
    await steering.close()
    // Words may have been sent when everything had just settled.
    while (steering.hasAdmitted() && !world.signal.aborted) end = await settles()
    if (end !== undefined && "tag" in end) return end
    const ending = translator.ending()
    // Most failures are events, which say more. A failure that could not be recorded is thrown.
    if (end !== undefined && ending.tag !== "failed" && ending.tag !== "interrupted") throw end
    return ending
  } finally {
    clearInterval(staying)
    world.signal.removeEventListener("abort", stop)
    over.abort()
    for (const close of closing) await close()
    await children.catch(() => undefined)
    await childLines.close()
    await follower.close()
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((done) => {
    if (signal.aborted) done()
    else signal.addEventListener("abort", () => done(), { once: true })
  })

/** Admitted first, woken afterwards: no other engine on this database takes up an input that waits for its wake. */
const ask = async (
  { sessions }: Engine,
  sessionID: string,
  { prompt, schema, words, id }: Asked & { readonly id: string | undefined },
  warn: (message: string) => void,
): Promise<void> => {
  // There are only words, and no prompt.
  if (prompt.trim() === "" && words.length > 0) return sessions.run(sessionID).catch(() => undefined)
  const admit = (own: string | undefined) =>
    sessions.prompt({
      sessionID,
      prompt: { text: prompt },
      expand: true,
      resume: false,
      ...(schema === undefined ? {} : { format: { type: "json", schema } }),
      ...(own === undefined ? {} : { id: own }),
    })
  const receipt = await admit(id).catch((error: unknown) => {
    // The id belongs to a run from an earlier life of this state folder, with a different prompt.
    if (error instanceof Failure && error.code === "PROMPT_CONFLICT") return admit(undefined)
    throw error
  })
  for (const problem of unreadable(receipt.prompt)) warn(problem)
  if (receipt.promotedSeq === undefined) return sessions.wake(sessionID)
  // Its failure is an event too, and is read there.
  return sessions.run(sessionID).catch(() => undefined)
}

const REFUSAL =
  "Nobody can answer questions in this run. Do it another way with the tools you may use, or say in your report what is missing."

const refuse = async ({ permissions }: Engine, requestID: string): Promise<void> => {
  try {
    await permissions.reply({ requestID, reply: "reject", message: REFUSAL })
  } catch (error) {
    // Answered in between, by an approval or from elsewhere.
    if (!(error instanceof Failure && error.code === "REQUEST_NOT_FOUND")) throw error
  }
}
