/** Metrics from the events of many sessions, as a fold. */
import type { SessionEvent } from "@meridian/engine"

import type { MetricRegistry } from "./metrics.ts"

export interface MetricFold {
  readonly event: (session: string, event: SessionEvent) => void
}

/** Seconds, from a cached answer to a night's work. */
const SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600]

/** With more open calls and turns than this, those that never ended are forgotten. */
const MOST_OPEN = 10_000

export const openMetricFold = (registry: MetricRegistry): MetricFold => {
  const turns = registry.counter({
    name: "meridian.turns",
    description: "Turns of models that ended",
    unit: "{turn}",
  })
  const failedTurns = registry.counter({
    name: "meridian.turn.failures",
    description: "Turns of models that failed",
    unit: "{turn}",
  })
  const tokens = registry.counter({
    name: "meridian.tokens",
    description: "Tokens models read and wrote",
    unit: "{token}",
  })
  const cost = registry.counter({
    name: "meridian.cost",
    description: "What turns and compactions cost, in US dollars",
    unit: "USD",
  })
  const duration = registry.histogram(
    { name: "gen_ai.client.operation.duration", description: "How long turns took", unit: "s" },
    SECONDS,
  )
  const waits = registry.histogram(
    {
      name: "meridian.permission.wait",
      description: "How long questions waited for their answer",
      unit: "s",
    },
    SECONDS,
  )
  const retries = registry.counter({
    name: "meridian.retries",
    description: "Attempts that failed and were made again",
    unit: "{retry}",
  })
  const calls = registry.counter({
    name: "meridian.tool.calls",
    description: "Calls that ended",
    unit: "{call}",
  })
  const failures = registry.counter({
    name: "meridian.tool.failures",
    description: "Calls that failed",
    unit: "{call}",
  })
  const compactions = registry.counter({
    name: "meridian.compactions",
    description: "Compactions that ended",
    unit: "{compaction}",
  })

  const openTurns = new Map<string, { readonly model: string; readonly start: number }>()
  const openCalls = new Map<string, string>()
  const questions = new Map<string, number>()
  const keep = <Value>(map: Map<string, Value>, key: string, value: Value): void => {
    if (map.size >= MOST_OPEN) map.clear()
    map.set(key, value)
  }

  return {
    event: (session, event) => {
      // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- most events are not counted
      switch (event.type) {
        case "session.next.step.started.1":
          return keep(openTurns, session, { model: event.data.model, start: event.time })
        case "session.next.step.ended.2": {
          const turn = openTurns.get(session)
          openTurns.delete(session)
          const model = turn?.model ?? "unknown"
          const { usage } = event.data
          turns.add(1, { model })
          tokens.add(usage.input + usage.cacheRead + usage.cacheWrite, { model, type: "input" })
          tokens.add(usage.cacheRead, { model, type: "cached" })
          tokens.add(usage.output + usage.reasoning, { model, type: "output" })
          cost.add(event.data.cost, { model })
          if (turn !== undefined) duration.record((event.time - turn.start) / 1_000, { model })
          return undefined
        }
        case "session.next.step.failed.2": {
          const model = openTurns.get(session)?.model ?? "unknown"
          openTurns.delete(session)
          return failedTurns.add(1, { model, error: event.data.error.code })
        }
        case "session.next.retried.1":
          return retries.add(1, { error: event.data.error.code })
        case "session.next.tool.called.1":
          return keep(openCalls, keyOf(session, event.data), event.data.tool)
        case "session.next.tool.success.1":
        case "session.next.tool.failed.1": {
          const key = keyOf(session, event.data)
          const tool = openCalls.get(key) ?? "unknown"
          openCalls.delete(key)
          calls.add(1, { tool })
          if (event.type === "session.next.tool.failed.1")
            failures.add(1, { tool, error: event.data.error.code })
          return undefined
        }
        case "session.next.permission.asked.1":
          return keep(questions, event.data.requestID, event.time)
        case "session.next.permission.replied.1": {
          const asked = questions.get(event.data.requestID)
          questions.delete(event.data.requestID)
          if (asked !== undefined) waits.record((event.time - asked) / 1_000)
          return undefined
        }
        case "session.next.compaction.ended.2":
          cost.add(event.data.cost, { model: "compaction" })
          return compactions.add(1, { reason: event.data.reason, method: event.data.method })
        default:
          return undefined
      }
    },
  }
}

const keyOf = (
  session: string,
  call: { readonly assistantMessageID: string; readonly callID: string },
): string => `${session}/${call.assistantMessageID}/${call.callID}`
