/** A model behind HTTP: one `doStream` per turn, no retries, and no connection left behind. */
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider"

import { NO_SETTINGS } from "../domain/request-settings.ts"
import {
  ModelFailure,
  type Model,
  type ModelEvent,
  type ModelEvents,
  type ModelRequest,
  type PromptMessage,
  type ToolAdvertisement,
} from "../port/model.ts"
import { nextTurn } from "../port/next-turn.ts"
import type { Sleep } from "../port/time.ts"
import { openModelsByFields, withBodyFields } from "./body-fields.ts"
import type { PartReader } from "./compatible-model.ts"
import type { ModelConfig } from "./config.ts"
import { isBrokenOff, openTranslator } from "./events.ts"
import { toModelFailure, type FailureSurroundings } from "./failure.ts"
import { hostedTools } from "./hosted-tools.ts"
import type { Fetch } from "./http-fetch.ts"
import { PROVIDER_TABLE, type WireProvider } from "./providers.ts"
import { openReadableFiles } from "./readable-files.ts"
import { openHideEvents, secretsOf, type HideEvents } from "./secrets.ts"

export interface ProviderModelOptions {
  readonly fetch: Fetch
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly sleep: Sleep
  /** Credentials of other models. */
  readonly secrets: readonly string[]
}

export const openProviderModel = (
  config: ModelConfig & { readonly provider: WireProvider },
  options: ProviderModelOptions,
): Model["stream"] => {
  const provider = PROVIDER_TABLE[config.provider]
  const secrets = [...new Set([...secretsOf(config), ...options.secrets])]
  const hideEvents = openHideEvents(secrets)
  const advertise = openAdvertisements()
  const readableFiles = openReadableFiles(config.provider)
  const shape = provider.openShape(config)
  const modelWith = openModelsByFields((fields) =>
    provider.load(config, withBodyFields(options.fetch, fields), fields),
  )
  const surroundings = (): FailureSurroundings => ({ now: options.now(), secrets })

  const toolsOf = ({ tools, hosted }: ModelRequest): Pick<LanguageModelV4CallOptions, "tools"> => {
    if (hosted !== undefined) return { tools: [...advertise(tools), ...hostedTools(config.provider, hosted)] }
    return tools.length === 0 ? {} : { tools: advertise(tools) }
  }

  const callOptions = (request: ModelRequest, abortSignal: AbortSignal): LanguageModelV4CallOptions => {
    const readable = readableFiles(request.prompt)
    const { prompt, options: extra } = shape({ ...request, prompt: readable })
    const {
      temperature,
      topP,
      maxOutputTokens = config.maxOutput,
      effort = config.effort,
    } = request.settings ?? NO_SETTINGS
    return {
      prompt: asSdkPrompt(prompt),
      ...toolsOf(request),
      ...(request.mustCall === true ? { toolChoice: MUST_CALL } : {}),
      ...(request.answer === undefined ? {} : { responseFormat: { type: "json", schema: request.answer } }),
      maxOutputTokens: Math.min(maxOutputTokens, config.maxOutput),
      ...(temperature === undefined ? {} : { temperature }),
      ...(topP === undefined ? {} : { topP }),
      ...(request.headers === undefined ? {} : { headers: { ...request.headers } }),
      includeRawChunks: false,
      ...(effort === undefined ? {} : { reasoning: effort }),
      abortSignal,
      ...extra,
    }
  }

  const begin = async (request: ModelRequest, abortSignal: AbortSignal): Promise<PartReader> => {
    const model = await modelWith(request.settings?.options)
    const { stream } = await model.doStream(callOptions(request, abortSignal))
    return stream.getReader()
  }

  return (request, signal) => {
    const { sleep } = options
    return {
      [Symbol.asyncIterator]: () =>
        openTurn({ begin, request, signal, surroundings, sleep, hide: hideEvents?.() }),
    }
  }
}

interface Turn {
  readonly begin: (request: ModelRequest, abortSignal: AbortSignal) => Promise<PartReader>
  readonly request: ModelRequest
  readonly signal: AbortSignal
  readonly surroundings: () => FailureSurroundings
  readonly sleep: Sleep
  readonly hide: HideEvents | undefined
}

/** A single object, because request parts are compared by identity. */
const MUST_CALL = { type: "required" } as const

type Part = LanguageModelV4StreamPart

const OVER: IteratorResult<ModelEvent, undefined> = { done: true, value: undefined }

/** A hand-written iterator: nested generators cost more per event than the events themselves. */
const openTurn = ({ begin, request, signal, surroundings, sleep, hide }: Turn): ModelEvents => {
  // One controller per turn, so that leaving early closes the connection just like the caller's abort.
  const connection = new AbortController()
  const leave = (): void => connection.abort()
  const translate = openTranslator()
  let reader: PartReader | undefined
  let state: "reading" | "finished" | "over" = "reading"
  /** Events that arrived with the previous one, and the failure after them. */
  const waiting: ModelEvent[] = []
  let trouble: ModelFailure | undefined

  const end = (): void => {
    state = "over"
    signal.removeEventListener("abort", leave)
  }

  const close = (): void => {
    end()
    leave()
    // Nobody awaits this, and after an error there is nothing left to cancel.
    reader?.cancel().catch(() => {})
  }

  const read = async (): Promise<ModelEvent> => {
    if (reader === undefined) {
      signal.throwIfAborted()
      signal.addEventListener("abort", leave, { once: true })
      reader = await begin(request, connection.signal)
    }
    for (;;) {
      const event = ready()
      if (event !== undefined) return event
      if (trouble !== undefined) throw trouble
      const { done, value } = await reader.read()
      if (done) throw brokenOff()
      for (let part: Part | undefined = value; part !== undefined; part = reader.ready?.()) accept(part)
    }
  }

  const accept = (part: Part): void => {
    if (isBrokenOff(part)) trouble ??= brokenOff()
    else if (part.type === "error") trouble ??= toModelFailure(part.error, surroundings())
    if (trouble !== undefined) return
    const event = translate(part)
    if (event === undefined) return
    if (hide === undefined) waiting.push(event)
    else waiting.push(...hide(event))
  }

  const ready = (): ModelEvent | undefined => {
    if (state !== "reading") return undefined
    const event = waiting.shift()
    if (event?.type !== "finish") return event
    state = "finished"
    return event
  }

  const next = async (): Promise<IteratorResult<ModelEvent, undefined>> => {
    if (state === "over") return OVER
    if (state === "finished") {
      if (reader !== undefined && (await endsSoon(reader, sleep))) end()
      else close()
      return OVER
    }
    try {
      return { done: false, value: await read() }
    } catch (error) {
      close()
      if (signal.aborted) throw signal.reason
      throw toModelFailure(error, surroundings())
    }
  }

  return {
    next,
    ready,
    return: async () => {
      if (state !== "over") close()
      return OVER
    },
  }
}

/** How long a provider may take to end its response after its last event. */
const END_MS = 250

/** Reading a response to its end leaves a connection for the next turn. Most have already ended. */
const endsSoon = async (reader: PartReader, sleep: Sleep): Promise<boolean> => {
  const drained = drain(reader)
  const first = await Promise.race([drained, nextTurn()])
  if (first !== undefined) return first
  const ended = new AbortController()
  const late = sleep(END_MS, ended.signal).then(
    () => false,
    () => false,
  )
  const outcome = await Promise.race([drained, late])
  ended.abort()
  return outcome
}

/** False when the response broke, so the connection cannot be reused. */
const drain = async (reader: PartReader): Promise<boolean> => {
  try {
    while (!(await reader.read()).done);
    return true
  } catch {
    return false
  }
}

const brokenOff = (): ModelFailure =>
  new ModelFailure({ kind: "invalid-output", message: "The provider's stream ended before its answer did" })

/** Two spellings of one shape; `model-types.test.ts` keeps them equal. The SDK never writes to a prompt. */
export const asSdkPrompt = (prompt: readonly PromptMessage[]): LanguageModelV4CallOptions["prompt"] =>
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- differs only in `readonly`
  prompt as LanguageModelV4CallOptions["prompt"]

/** A session offers the same list of tools turn after turn, so it is converted once. */
const openAdvertisements = () => {
  const known = new WeakMap<readonly ToolAdvertisement[], LanguageModelV4FunctionTool[]>()
  return (tools: readonly ToolAdvertisement[]): LanguageModelV4FunctionTool[] => {
    const found = known.get(tools)
    if (found !== undefined) return found
    const made = tools.map(({ name, description, input }): LanguageModelV4FunctionTool => ({
      type: "function",
      name,
      description,
      inputSchema: input,
    }))
    known.set(tools, made)
    return made
  }
}
