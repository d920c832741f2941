/**
 * One prompt without a terminal: the agent works until it stops, and everything it reports becomes a line on stdout.
 * The run's tier answers its questions, because no person is there.
 */
import { asObject, countAt, Failure, harnessSessionId, type JsonObject } from "@meridian/protocol"
import { answerByTier, openAgentEvents, type AgentEvents } from "@meridian/server"
import { encodeDirectLine, type DirectEvent, type World } from "@meridian/spaces"

import { failureLine, signalCode } from "../direct/headless-ending.ts"
import { openAgentSession, type AgentLaunch, type AgentSession } from "./launch.ts"

export interface HeadlessRun {
  readonly launch: () => Promise<AgentLaunch>
  readonly prompt: string
  readonly world: World
  readonly write: (line: string) => void
}

/**
 * Returns the exit code. A problem before there is a session is thrown and printed on stderr; later it is an `error`
 * line.
 */
export const runHeadless = async ({ launch, prompt, world, write }: HeadlessRun): Promise<number> => {
  let hasSession = false
  const tell = (event: DirectEvent): void => {
    hasSession ||= event.type === "session"
    write(encodeDirectLine(event))
  }
  try {
    return await work(await launch(), prompt, { world, tell })
  } catch (error) {
    if (world.signal.aborted) return signalCode(world)
    if (!(error instanceof Failure) || !hasSession) throw error
    tell(failureLine(error))
    return 1
  }
}

interface Telling {
  readonly world: World
  readonly tell: (event: DirectEvent) => void
}

const work = async (launch: AgentLaunch, prompt: string, { world, tell }: Telling): Promise<number> => {
  const tier = launch.permission ?? "read-only"
  // An earlier run already reported what a loaded session replays. We only remember its cost.
  const past = openAgentEvents()
  const events = openAgentEvents()
  let isReplay = true
  const session = await openAgentSession(launch, world, {
    onUpdate: (update) => {
      if (isReplay) past.take(update)
      else for (const event of events.take(update)) tell(event)
    },
    answer: (question) => {
      const answer = answerByTier(question, tier, world.cwd)
      if (answer.tag !== "allowed")
        tell({
          type: "warning",
          message: `refused (${tier}): ${(question.toolCall.title ?? "").slice(0, 200)}`,
        })
      return Promise.resolve(answer)
    },
  })
  isReplay = false
  tell({ type: "session", harnessSessionId: harnessSessionId(session.id) })
  try {
    const { stopReason, usage } = await promptUntilStopped(session, prompt, world)
    for (const event of events.finish()) tell(event)
    const used = { ...usage, ...costOf(events, past, launch) }
    if (Object.values(used).some((figure) => figure > 0)) tell({ type: "usage", usage: used })
    tell({ type: "turn.ended", reason: stopReason })
    if (world.signal.aborted) return signalCode(world)
    if (stopReason !== "end_turn") {
      tell({ type: "error", failure: "incomplete", message: `The agent stopped: ${stopReason}.` })
      return 1
    }
    tell({ type: "ended" })
    return 0
  } catch (error) {
    for (const event of events.finish()) tell(event)
    throw error
  } finally {
    await session.agent.close()
  }
}

/** Asked to stop, the agent ends its turn itself. If it does not, its process is ended. */
const promptUntilStopped = async ({ agent, id }: AgentSession, prompt: string, { signal }: World) => {
  const cancel = (): void => {
    void agent.cancel(id)
  }
  signal.addEventListener("abort", cancel, { once: true })
  try {
    if (signal.aborted) cancel()
    const response = await agent.prompt(id, prompt)
    return { stopReason: response.stopReason, usage: tokensOf(asObject(Reflect.get(response, "usage"))) }
  } finally {
    signal.removeEventListener("abort", cancel)
  }
}

/** Not part of the stable protocol, but agents that report it are believed. */
const tokensOf = (usage: JsonObject | undefined) => ({
  inputTokens: countAt(usage, "inputTokens"),
  cachedInputTokens: countAt(usage, "cachedReadTokens"),
  outputTokens: countAt(usage, "outputTokens"),
})

/** Agents report the total cost of the session. If a loaded session reported none before, this run's part is unknown. */
const costOf = (
  events: AgentEvents,
  past: AgentEvents,
  { session }: AgentLaunch,
): { readonly costUsd?: number } => {
  const [now, before] = [events.costUsd(), past.costUsd() ?? (session === undefined ? 0 : undefined)]
  return now === undefined || before === undefined ? {} : { costUsd: Math.max(0, now - before) }
}
