/** A model behind HTTP: one `doStream` per turn, nothing retried, and no connection left behind. */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
} from "@ai-sdk/provider"

import {
  ModelFailure,
  type Model,
  type ModelEvent,
  type ModelRequest,
  type PromptMessage,
  type ToolAdvertisement,
} from "../port/model.ts"
import type { ModelConfig } from "./config.ts"
import { isBrokenOff, openTranslator } from "./events.ts"
import { toModelFailure, type FailureSurroundings } from "./failure.ts"
import type { Fetch } from "./http-fetch.ts"
import { PROVIDER_TABLE, type WireProvider } from "./providers.ts"
import type { Sleep } from "./sleep.ts"

export interface ProviderModelOptions {
  readonly fetch: Fetch
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly sleep: Sleep
}

export const openProviderModel = (
  config: ModelConfig & { readonly provider: WireProvider },
  options: ProviderModelOptions,
): Model["stream"] => {
  const provider = PROVIDER_TABLE[config.provider]
  const secrets = secretsOf(config)
  const advertise = openAdvertisements()
  let loading: Promise<LanguageModelV4> | undefined
  const surroundings = (): FailureSurroundings => ({ now: options.now(), secrets })

  const callOptions = (request: ModelRequest, abortSignal: AbortSignal): LanguageModelV4CallOptions => {
    const { prompt, options: extra } = provider.shape(request)
    return {
      prompt: asSdkPrompt(prompt),
      ...(request.tools.length === 0 ? {} : { tools: advertise(request.tools) }),
      maxOutputTokens: request.maxOutputTokens ?? config.maxOutput,
      includeRawChunks: false,
      abortSignal,
      ...extra,
    }
  }

  return async function* stream(request, signal): AsyncGenerator<ModelEvent> {
    signal.throwIfAborted()
    // One controller per turn, so that leaving the loop early closes the connection as the caller's abort does.
    const connection = new AbortController()
    const leave = (): void => connection.abort()
    signal.addEventListener("abort", leave, { once: true })
    try {
      loading ??= provider.load(config, options.fetch)
      const model = await loading
      const { stream: parts } = await model.doStream(callOptions(request, connection.signal))
      yield* translateAll(parts, { surroundings, sleep: options.sleep })
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw toModelFailure(error, surroundings())
    } finally {
      signal.removeEventListener("abort", leave)
      leave()
    }
  }
}

type Parts = Awaited<ReturnType<LanguageModelV4["doStream"]>>["stream"]

interface TurnTools {
  readonly surroundings: () => FailureSurroundings
  readonly sleep: Sleep
}

async function* translateAll(parts: Parts, { surroundings, sleep }: TurnTools): AsyncGenerator<ModelEvent> {
  const translate = openTranslator()
  const reader = parts.getReader()
  try {
    for (;;) {
      const { done, value: part } = await reader.read()
      if (done) throw brokenOff()
      if (part.type === "error") throw toModelFailure(part.error, surroundings())
      if (isBrokenOff(part)) throw brokenOff()
      const event = translate(part)
      if (event === undefined) continue
      yield event
      if (event.type !== "finish") continue
      await letItEnd(reader, sleep)
      return
    }
  } finally {
    // Nothing is waiting for the answer of this, and after an error there is nothing left to cancel.
    reader.cancel().catch(() => {})
  }
}

/** How long a provider may take to end its response after its last event. */
const END_MS = 250

/** A response that was read to its end leaves a connection the next turn can use. */
const letItEnd = async (reader: ReadableStreamDefaultReader<unknown>, sleep: Sleep): Promise<void> => {
  const ended = new AbortController()
  const drain = async (): Promise<void> => {
    while (!(await reader.read()).done);
  }
  await Promise.race([drain(), sleep(END_MS, ended.signal)]).catch(() => {})
  ended.abort()
}

const brokenOff = (): ModelFailure =>
  new ModelFailure({ kind: "invalid-output", message: "The provider's stream ended before its answer did" })

/** Two spellings of one shape; `model-types.test.ts` holds them together. Nothing in the SDK writes to a prompt. */
export const asSdkPrompt = (prompt: readonly PromptMessage[]): LanguageModelV4CallOptions["prompt"] =>
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- differs only in `readonly`
  prompt as LanguageModelV4CallOptions["prompt"]

/** A session shows the same list of tools turn after turn; it is rewritten once. */
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

const SECRET_HEADER = /authorization|key|token|secret|cookie/i

const secretsOf = ({ apiKey, headers = {} }: ModelConfig): readonly string[] => [
  ...(apiKey === undefined ? [] : [apiKey]),
  ...Object.entries(headers)
    .filter(([name]) => SECRET_HEADER.test(name))
    .map(([, value]) => value),
]
