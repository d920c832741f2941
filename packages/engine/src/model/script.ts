/**
 * Scripts: what a scripted model answers. The provider inside the process (`scripted.ts`) and the one on loopback
 * (`@meridian/testkit`) share this format, so that a scene can move between them unchanged.
 *
 * A script is a list of steps or a function. Each request plays the first unused step whose `when` matches; a step with
 * `repeat` is never used up. When no step is left, the model echoes the user's last text, so an unscripted run still ends.
 * Steps are plain JSON: `{ "turns": [step, ...] }` in a file.
 *
 * Scripts are deterministic: ids come from the number of the request, nothing from a clock or from chance.
 */
import type { Json, JsonObject } from "@meridian/protocol"

/** Counted as a provider does: `output` is everything written, `reasoning` the part of it that was thinking. */
export interface ScriptUsage {
  /** Read fresh: neither read from the cache nor written to it. */
  readonly input?: number
  readonly output?: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
  readonly reasoning?: number
}

export type ScriptFinish = "stop" | "length" | "content-filter"

export const FAULT_NAMES = [
  "context-overflow",
  "rate-limit",
  "quota",
  "overloaded",
  "auth",
  "forbidden",
  "content",
  "not-found",
  "server",
] as const
export type FaultName = (typeof FAULT_NAMES)[number]

/** An error answer. `code` is OpenAI's vocabulary, `type` Anthropic's. */
export interface Fault {
  readonly status?: number
  readonly code?: string
  readonly type?: string
  readonly message?: string
  /** Seconds, or a whole header value such as an HTTP date. */
  readonly retryAfter?: number | string
  readonly headers?: Readonly<Record<string, string>>
  /** The whole body, for servers with their own form. */
  readonly body?: Json
}

export interface ScriptTool {
  readonly name: string
  readonly input?: JsonObject
  /** Arguments instead of `input` as JSON, possibly malformed on purpose. */
  readonly raw?: string
  /** Providers may repeat an id. Default: a separate id per request and position. */
  readonly id?: string
  /** For the namespaced tools of the Responses format. */
  readonly namespace?: string
}

/** A tool that runs at the provider. Call and result are both part of the answer. */
export interface ScriptHosted {
  readonly name?: "web_search"
  readonly id?: string
  readonly query: string
  readonly results?: readonly { readonly url: string; readonly title?: string }[]
  /** The result is an error with this code (Anthropic). */
  readonly error?: string
}

export interface ScriptReasoning {
  readonly text: string
  /** Anthropic's signature of the block. */
  readonly signature?: string
  /** Anthropic's redacted block: this data instead of text. */
  readonly redacted?: string
  /** The Responses format's encrypted content, and its item id. */
  readonly encrypted?: string
  readonly id?: string
}

export type ReplyPart =
  | { readonly type: "text"; readonly text: string; readonly times?: number; readonly chunks?: number }
  | ({ readonly type: "reasoning" } & ScriptReasoning)
  | ({ readonly type: "tool" } & ScriptTool)
  | ({ readonly type: "hosted" } & ScriptHosted)
  /** An error inside the running stream. Nothing is sent after it. */
  | { readonly type: "error"; readonly error: FaultName | Fault }

/**
 * One answer. The short fields play in the order reasoning, hosted, text, tools. `parts` plays after them, in its own
 * order.
 */
export interface Reply {
  /** Free text, copied into the log. */
  readonly label?: string
  readonly text?: string
  /** Repeats the text this many times: large answers from a small script. */
  readonly times?: number
  /** How many pieces each text is cut into. Default: pieces of 24 characters. */
  readonly chunks?: number
  readonly reasoning?: string | ScriptReasoning
  readonly hosted?: readonly ScriptHosted[]
  readonly tools?: readonly ScriptTool[]
  readonly parts?: readonly ReplyPart[]
  readonly usage?: ScriptUsage
  readonly finish?: ScriptFinish
  /** Before the first byte. */
  readonly delayMs?: number
  /** Between two pieces. */
  readonly chunkMs?: number
  /** An error instead of an answer. */
  readonly error?: FaultName | Fault
  /** The error comes inside a stream that began well. */
  readonly inStream?: boolean
  /** The connection breaks halfway. */
  readonly cut?: boolean
  /** The stream ends cleanly, but without the provider's end event. */
  readonly unfinished?: boolean
  /** Waits at this point until released. `true` means `"start"`; `"end"` is after the last event of an open connection. */
  readonly hold?: boolean | "start" | "middle" | "end"
}

export interface ScriptWhen {
  readonly api?: ScriptApi
  /** All others are regular expressions (flags `is`), matched against the text they name. */
  readonly model?: string
  readonly body?: string
  readonly notBody?: string
  readonly system?: string
  readonly lastUser?: string
}

export interface ScriptStep extends Reply {
  readonly when?: ScriptWhen
  readonly repeat?: boolean
}

export type ScriptApi = "chat" | "responses" | "messages" | "generate" | "inside"

/** What a script can see of a request, in any wire format. */
export interface ScriptRequest {
  /** The first request is 1. */
  readonly n: number
  readonly api: ScriptApi
  readonly model: string
  readonly system: string
  /** The user's last message. Agents put their own notes into its earlier parts. */
  readonly lastUser: string
  readonly lastText: string
  readonly body: unknown
}

export type Respond = (request: ScriptRequest) => Reply | undefined | Promise<Reply | undefined>

export interface Script {
  readonly take: (
    request: ScriptRequest,
  ) => Promise<{ readonly reply: Reply; readonly turn: string | number }>
  /** How many steps have not been used yet. */
  readonly left: () => number
}

export const openScript = (source: readonly ScriptStep[] | Respond): Script => {
  if (typeof source === "function")
    return {
      take: async (request) => {
        const reply = (await source(request)) ?? echo(request)
        return { reply, turn: reply.label ?? request.n }
      },
      left: () => 0,
    }
  const used = new Set<number>()
  return {
    take: async (request) => {
      const index = source.findIndex((step, at) => !used.has(at) && holds(step.when, request))
      const step = source[index]
      if (step === undefined) return { reply: echo(request), turn: "echo" }
      if (step.repeat !== true) used.add(index)
      return { reply: step, turn: step.label ?? index }
    },
    left: () => source.filter((step, at) => step.repeat !== true && !used.has(at)).length,
  }
}

export const partsOf = (reply: Reply): readonly ReplyPart[] => {
  const { reasoning, text, times, chunks } = reply
  const parts: ReplyPart[] = []
  if (reasoning !== undefined && reasoning !== "")
    parts.push({ type: "reasoning", ...(typeof reasoning === "string" ? { text: reasoning } : reasoning) })
  for (const hosted of reply.hosted ?? []) parts.push({ type: "hosted", ...hosted })
  if (text !== undefined && text !== "") {
    const size = { ...(times === undefined ? {} : { times }), ...(chunks === undefined ? {} : { chunks }) }
    parts.push({ type: "text", text, ...size })
  }
  for (const tool of reply.tools ?? []) parts.push({ type: "tool", ...tool })
  parts.push(...(reply.parts ?? []))
  if (reply.error !== undefined && reply.inStream === true) parts.push({ type: "error", error: reply.error })
  return parts
}

export const fullText = (part: { readonly text: string; readonly times?: number }): string =>
  part.text.repeat(part.times ?? 1)

const PIECE = 24

/** Text in pieces, to exercise the client's assembly. Lazy, because there may be 100,000 of them. */
export function* pieces(text: string, chunks?: number): Generator<string> {
  const size = chunks === undefined ? PIECE : Math.max(1, Math.ceil(text.length / chunks))
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
}

export const toolArguments = (tool: ScriptTool): string => tool.raw ?? JSON.stringify(tool.input ?? {})

export const DEFAULT_USAGE: Required<ScriptUsage> = {
  input: 10,
  output: 5,
  cacheRead: 0,
  cacheWrite: 0,
  reasoning: 0,
}

/** Which provider family words an error answer. */
export type FaultFamily = "openai" | "anthropic" | "google"

/** Each in the providers' own words; `openai` and `google` where they differ. */
const FAULTS: Readonly<Record<FaultName, Fault & { readonly openai?: string; readonly google?: Fault }>> = {
  "context-overflow": {
    status: 400,
    code: "context_length_exceeded",
    type: "invalid_request_error",
    message: "prompt is too long: 210000 tokens > 200000 maximum",
    openai:
      "This model's maximum context length is 200000 tokens. However, your messages resulted in 210000 tokens.",
    google: {
      message: "The input token count (1050000) exceeds the maximum number of tokens allowed (1048576).",
    },
  },
  "rate-limit": {
    status: 429,
    code: "rate_limit_exceeded",
    type: "rate_limit_error",
    message: "Rate limit reached",
    retryAfter: 1,
    google: {
      message:
        "You exceeded your current quota, please check your plan and billing details. * Quota exceeded for metric: generate_content_free_tier_requests, limit: 10. Please retry in 1s.",
    },
  },
  quota: {
    status: 429,
    code: "insufficient_quota",
    type: "insufficient_quota",
    message: "You exceeded your current quota, please check your plan and billing details.",
  },
  overloaded: {
    status: 529,
    code: "server_is_overloaded",
    type: "overloaded_error",
    message: "Overloaded",
    google: { status: 503, message: "The model is overloaded. Please try again later." },
  },
  auth: {
    status: 401,
    code: "invalid_api_key",
    type: "authentication_error",
    message: "invalid x-api-key",
    google: { status: 400, message: "API key not valid. Please pass a valid API key." },
  },
  forbidden: {
    status: 403,
    code: "permission_denied",
    type: "permission_error",
    message: "Your API key does not have permission to use the specified resource.",
  },
  content: {
    status: 400,
    code: "content_policy_violation",
    type: "invalid_request_error",
    message: "Output blocked by content filtering policy",
  },
  "not-found": {
    status: 404,
    code: "model_not_found",
    type: "not_found_error",
    message: "model: no-such-model",
  },
  server: { status: 500, code: "server_error", type: "api_error", message: "The server had an error" },
}

/** The error answer as one provider family words it. */
export const faultOf = (error: FaultName | Fault, family: FaultFamily): Fault => {
  if (typeof error !== "string") return error
  const { openai, google, ...fault } = FAULTS[error]
  if (family === "google") return { ...fault, ...google }
  return family === "openai" && openai !== undefined ? { ...fault, message: openai } : fault
}

const echo = (request: ScriptRequest): Reply => ({
  label: "echo",
  text: `echo: ${request.lastText.slice(0, 200)}`,
})

const holds = (when: ScriptWhen | undefined, request: ScriptRequest): boolean => {
  if (when === undefined) return true
  const matches = (pattern: string | undefined, value: string): boolean =>
    pattern === undefined || new RegExp(pattern, "is").test(value)
  const body = when.body === undefined && when.notBody === undefined ? "" : JSON.stringify(request.body ?? "")
  return (
    (when.api === undefined || when.api === request.api) &&
    matches(when.model, request.model) &&
    matches(when.system, request.system) &&
    matches(when.lastUser, request.lastUser) &&
    matches(when.body, body) &&
    (when.notBody === undefined || !new RegExp(when.notBody, "is").test(body))
  )
}
