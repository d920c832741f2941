/**
 * An OpenAI-compatible server: the AI SDK writes the request, we read the answer. Our own reader halves what a turn costs
 * besides the network; see `chat-chunks.ts`.
 */
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider"
import type { JsonObject } from "@meridian/protocol"

import { mergeObjects } from "../domain/request-settings.ts"
import {
  openChunkReader,
  signatureMetadata,
  type ToolCallDelta,
  type ToolCallTracker,
} from "./chat-chunks.ts"
import { openBodyWriter } from "./compatible-body.ts"
import { wireName, type ModelConfig } from "./config.ts"
import { withEarlyCalls } from "./early-calls.ts"
import { arrivedIn, OVER } from "./http-exchange.ts"
import type { Fetch } from "./http-fetch.ts"
import { openSseReader } from "./sse.ts"

/** The name under which native data of such models is kept. */
export const COMPATIBLE_NAME = "compatible"

const STREAMED = { stream: true, stream_options: { include_usage: true } }

/** The part of the SDK's model that we use: only its streams. */
export interface StreamingModel {
  readonly doStream: (
    options: LanguageModelV4CallOptions,
  ) => PromiseLike<{ readonly stream: { readonly getReader: () => PartReader } }>
}

export interface PartReader extends Pick<
  ReadableStreamDefaultReader<LanguageModelV4StreamPart>,
  "read" | "cancel"
> {
  /** The next part that arrived together with the last one; undefined when there is none. */
  readonly ready?: () => LanguageModelV4StreamPart | undefined
}

export const loadCompatibleModel = async (
  config: ModelConfig,
  fetch: Fetch,
  fields: JsonObject = {},
): Promise<StreamingModel> => {
  const [
    { OpenAICompatibleChatLanguageModel },
    { convertToOpenAICompatibleChatMessages },
    { StreamingToolCallTracker, generateId },
  ] = await Promise.all([
    import("@ai-sdk/openai-compatible"),
    import("@ai-sdk/openai-compatible/internal"),
    import("@ai-sdk/provider-utils"),
  ])
  const baseURL = (config.baseURL ?? "").replace(/\/+$/, "")
  const address = `${baseURL}/chat/completions`
  const writer = new OpenAICompatibleChatLanguageModel(wireName(config), {
    provider: COMPATIBLE_NAME,
    url: () => address,
    headers: {},
  })
  const names = { provider: COMPATIBLE_NAME, providerOptionsKey: COMPATIBLE_NAME }
  const write = openBodyWriter(
    {
      convert: (prompt) => convertToOpenAICompatibleChatMessages(prompt, names),
      prepare: (options) => writer.prepareRequest(options),
    },
    mergeObjects(fields, STREAMED),
  )
  const headers = {
    "content-type": "application/json",
    accept: "text/event-stream",
    "user-agent": "meridian",
    ...(config.apiKey === undefined ? {} : { authorization: `Bearer ${config.apiKey}` }),
    ...config.headers,
  }

  const openTracker = (enqueue: (part: LanguageModelV4StreamPart) => void): ToolCallTracker =>
    new StreamingToolCallTracker<ToolCallDelta>(
      { enqueue },
      {
        generateId,
        extractMetadata: (delta) => signatureMetadata(COMPATIBLE_NAME, delta),
        buildToolCallProviderMetadata: (metadata) => metadata,
      },
    )

  const openParts = (enqueue: (part: LanguageModelV4StreamPart) => void) =>
    openChunkReader({
      enqueue,
      providerName: COMPATIBLE_NAME,
      tracker: withEarlyCalls(openTracker, enqueue),
    })

  const post = async (options: LanguageModelV4CallOptions): Promise<Response> => {
    const written = write(options)
    const body = written instanceof Promise ? await written : written
    const response = await fetch(address, {
      method: "POST",
      headers: { ...headers, ...definedOnly(options.headers) },
      body,
      ...(options.abortSignal === undefined ? {} : { signal: options.abortSignal }),
    })
    if (!response.ok) throw await readRefusal(response)
    return response
  }

  return {
    doStream: async (options) => {
      const response = await post(options)
      return { stream: { getReader: () => readParts(response, openParts) } }
    },
  }
}

type BytesRead = { readonly done: boolean; readonly value?: Uint8Array | undefined }

type OpenParts = (enqueue: (part: LanguageModelV4StreamPart) => void) => ReturnType<typeof openChunkReader>

/**
 * Reads nothing ahead: what the reader does not take, the provider does not send. Written by hand, because a web stream
 * costs more than the few parts of a turn.
 */
const readParts = (response: Response, openParts: OpenParts): PartReader => {
  const bytes = response.body?.getReader()
  const decoder = new TextDecoder()
  const found: LanguageModelV4StreamPart[] = []
  const parsed = openParsedStream((part) => found.push(part), openParts)
  let ended = false
  return {
    read: async () => {
      while (found.length === 0 && !ended) {
        let next: BytesRead | undefined = arrivedIn(bytes) ?? (await bytes?.read()) ?? OVER
        // Chunks that arrived together are parsed together.
        for (; next !== undefined; next = ended ? undefined : arrivedIn(bytes)) {
          ended = next.done
          parsed.push(next.done ? undefined : decoder.decode(next.value, { stream: true }))
        }
      }
      const value = found.shift()
      return value === undefined ? { done: true, value } : { done: false, value }
    },
    ready: () => found.shift(),
    cancel: async () => {
      await bytes?.cancel()
    },
  }
}

interface ParsedStream {
  /** Takes text of the response, or undefined at its end. Never throws. */
  readonly push: (text: string | undefined) => void
}

const openParsedStream = (
  enqueue: (part: LanguageModelV4StreamPart) => void,
  openParts: OpenParts,
): ParsedStream => {
  let ended = false
  const parts = openParts(enqueue)
  const end = (): void => {
    if (ended) return
    ended = true
    parts.end()
  }
  const events = openSseReader((data) => {
    if (ended) return
    // The answer is complete here, whether or not the server closes its response.
    if (data === "[DONE]") return end()
    parts.chunk(parseJson(data))
  })
  return {
    push: (text) => {
      try {
        if (text !== undefined) events.push(text)
        else {
          events.end()
          end()
        }
      } catch (error) {
        // Sent as a part, because a broken stream would discard parts that still wait to be read.
        ended = true
        enqueue({ type: "error", error })
      }
    },
  }
}

/** Undefined when it is not JSON. */
const parseJson = (text: string): unknown => {
  try {
    // eslint-disable-next-line eslint/no-restricted-properties -- `chat-chunks.ts` reads every field as unknown
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const definedOnly = (headers: LanguageModelV4CallOptions["headers"]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers ?? {}).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )

/** The part of an error's body that can matter. */
const REFUSAL_LIMIT = 65_536

/** An error response in the shape that `failure.ts` reads. */
const readRefusal = async (response: Response): Promise<object> => {
  const body = await readText(response)
  const data = parseJson(body)
  return {
    statusCode: response.status,
    message: data === undefined ? response.statusText : "",
    responseBody: body,
    responseHeaders: Object.fromEntries(response.headers),
    ...(typeof data === "object" && data !== null ? { data } : {}),
  }
}

const readText = async (response: Response): Promise<string> => {
  const reader = response.body?.getReader()
  if (reader === undefined) return ""
  const decoder = new TextDecoder()
  let text = ""
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text
    text += decoder.decode(value, { stream: true })
    if (text.length < REFUSAL_LIMIT) continue
    await reader.cancel()
    return text
  }
}
