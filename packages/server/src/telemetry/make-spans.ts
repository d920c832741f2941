/** The spans of one session, from what its fold has gathered. Pure. */
import type { Json, Prompt, RecordedError, RecordedUsage } from "@meridian/protocol"

import { contentAttribute, promptMessage } from "./content.ts"
import type { AttributeValue, Span, SpanEvent } from "./span.ts"

export interface Activity {
  readonly traceId: string
  readonly rootId: string
  /** The span of the request that brought the input. */
  readonly parentId?: string
  readonly start: number
  agent: string
  /** The time of the last event that belongs to it. */
  last: number
  turns: number
  toolFailures: number
  retries: number
  cost: number
  usage: RecordedUsage
  prompts: Prompt[]
  answer: string
  isInterrupted: boolean
}

export interface Turn {
  readonly spanId: string
  readonly start: number
  readonly model: string
  readonly agent: string
  readonly events: SpanEvent[]
  calls: number
  text: string
}

export interface Call {
  readonly spanId: string
  readonly start: number
  readonly tool: string
  readonly input: Json | undefined
  askedAt: number | undefined
  waitedMs: number
}

export interface Compaction {
  readonly spanId: string
  readonly traceId: string
  readonly start: number
  readonly reason: string
}

export interface TurnOutcome {
  readonly time: number
  readonly usage?: RecordedUsage
  readonly cost?: number
  readonly finish?: string
  readonly error?: RecordedError
}

export interface CallOutcome {
  readonly time: number
  readonly output?: string
  /** For a failure: its code and its message. */
  readonly error?: string
  readonly message?: string
}

export interface SpanMaker {
  readonly root: (activity: Activity, error?: string) => Span
  readonly turn: (activity: Activity, turn: Turn, outcome: TurnOutcome) => Span
  readonly call: (activity: Activity, call: Call, outcome: CallOutcome) => Span
  /** Belongs to an activity, or is a separate trace. */
  readonly compaction: (
    activity: Activity | undefined,
    compaction: Compaction,
    outcome: {
      readonly time: number
      readonly attributes?: Readonly<Record<string, AttributeValue>>
      readonly error?: string
    },
  ) => Span
}

export const openSpanMaker = (session: string, content: boolean): SpanMaker => {
  const conversation = { "gen_ai.conversation.id": session }
  const said = (name: string, value: unknown): Readonly<Record<string, string>> =>
    content ? contentAttribute(name, value) : {}
  /** A failure message may quote what was sent, so without `content` only the kind is reported. */
  const failed = (kind: string | undefined, message: string | undefined): { readonly error?: string } =>
    kind === undefined ? {} : { error: content ? (message ?? kind) : kind }
  const answer = (text: string): Readonly<Record<string, string>> =>
    text === ""
      ? {}
      : said("gen_ai.output.messages", [{ role: "assistant", parts: [{ type: "text", content: text }] }])

  return {
    root: (activity, error) => {
      const kind = error === undefined ? undefined : activity.isInterrupted ? "interrupted" : "failed"
      return {
        traceId: activity.traceId,
        spanId: activity.rootId,
        ...(activity.parentId === undefined ? {} : { parentSpanId: activity.parentId }),
        name: `invoke_agent ${activity.agent}`,
        kind: "internal",
        start: activity.start,
        end: activity.last,
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.agent.name": activity.agent,
          ...conversation,
          ...usageAttributes(activity.usage),
          "meridian.cost_usd": activity.cost,
          "meridian.turns": activity.turns,
          "meridian.retries": activity.retries,
          "meridian.tool_failures": activity.toolFailures,
          "meridian.interrupted": activity.isInterrupted,
          ...said("gen_ai.input.messages", activity.prompts.map(promptMessage)),
          ...answer(activity.answer),
          ...errorType(kind),
        },
        ...failed(kind, error),
      }
    },

    turn: ({ traceId, rootId }, { spanId, start, model, agent, events, text }, outcome) => {
      const { time, usage, cost, finish, error } = outcome
      const kind = error?.status === undefined ? error?.code : String(error.status)
      return {
        traceId,
        spanId,
        parentSpanId: rootId,
        name: `chat ${model}`,
        kind: "client",
        start,
        end: time,
        events,
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.provider.name": providerOf(model),
          "gen_ai.request.model": model,
          "gen_ai.agent.name": agent,
          ...conversation,
          ...(finish === undefined ? {} : { "gen_ai.response.finish_reasons": [finish] }),
          ...(usage === undefined ? {} : usageAttributes(usage)),
          ...(cost === undefined ? {} : { "meridian.cost_usd": cost }),
          ...answer(text),
          ...errorType(kind),
        },
        ...failed(kind, error?.message),
      }
    },

    call: ({ traceId, rootId }, { spanId, start, tool, input, waitedMs }, outcome) => ({
      traceId,
      spanId,
      parentSpanId: rootId,
      name: `execute_tool ${tool}`,
      kind: "internal",
      start,
      end: outcome.time,
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.type": "function",
        ...conversation,
        "meridian.wait_ms": waitedMs,
        ...said("gen_ai.tool.call.arguments", input ?? {}),
        ...said("gen_ai.tool.call.result", outcome.output ?? outcome.message ?? ""),
        ...errorType(outcome.error),
      },
      ...failed(outcome.error, outcome.message),
    }),

    compaction: (activity, { spanId, traceId, start, reason }, { time, attributes = {}, error }) => ({
      traceId: activity?.traceId ?? traceId,
      spanId,
      ...(activity === undefined ? {} : { parentSpanId: activity.rootId }),
      name: "compaction",
      kind: "internal",
      start,
      end: time,
      attributes: {
        "gen_ai.operation.name": "compaction",
        ...conversation,
        "meridian.compaction.reason": reason,
        ...attributes,
        ...errorType(error === undefined ? undefined : "failed"),
      },
      ...failed(error === undefined ? undefined : "failed", error),
    }),
  }
}

const errorType = (kind: string | undefined): Readonly<Record<string, string>> =>
  kind === undefined ? {} : { "error.type": kind }

/** Tokens read from or written to a cache are input, too. */
export const usageAttributes = (usage: RecordedUsage): Readonly<Record<string, AttributeValue>> => ({
  "gen_ai.usage.input_tokens": usage.input + usage.cacheRead + usage.cacheWrite,
  "gen_ai.usage.output_tokens": usage.output + usage.reasoning,
  "gen_ai.usage.cache_read.input_tokens": usage.cacheRead,
  "gen_ai.usage.cache_creation.input_tokens": usage.cacheWrite,
})

/** Our models are named `provider/model`. */
export const providerOf = (model: string): string => {
  const at = model.indexOf("/")
  const name = at === -1 ? "unknown" : model.slice(0, at)
  return PROVIDERS[name] ?? name
}

/** Providers with a different name in the conventions. */
const PROVIDERS: Readonly<Record<string, string>> = {
  google: "gcp.gemini",
  mistral: "mistral_ai",
  xai: "x_ai",
}
