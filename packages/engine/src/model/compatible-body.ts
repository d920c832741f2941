/**
 * The text of a request to a compatible server. A session sends its whole history every turn, so written bytes are kept. At
 * 2,000 turns a request has 3.6 MB, and converting and writing all of it took as long as sending it.
 *
 * The AI SDK converts messages one by one, so the text of a message depends only on that message.
 */
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider"
import type { JsonObject } from "@meridian/protocol"

import { mergeObjects } from "../domain/request-settings.ts"
import { openBeginnings } from "./beginnings.ts"

/** The AI SDK's converters, for messages and for whole requests. */
export interface Converters {
  readonly convert: (prompt: Prompt) => readonly unknown[]
  readonly prepare: (
    options: LanguageModelV4CallOptions,
  ) => Promise<{ readonly body: Readonly<Record<string, unknown>> }>
}

/** The bytes of a request, in pieces. */
export type Body = readonly Uint8Array[]

/** Synchronous, except when something besides the messages is new. */
export type WriteBody = (options: LanguageModelV4CallOptions) => Body | Promise<Body>

type Prompt = LanguageModelV4CallOptions["prompt"]

/** The beginning of a conversation as last written: its messages, each followed by a comma. */
interface Written {
  readonly bytes: Buffer
  readonly length: number
}

const NOTHING: Written = { bytes: Buffer.alloc(0), length: 0 }

export const openBodyWriter = ({ convert, prepare }: Converters, fixed: JsonObject): WriteBody => {
  const beginnings = openBeginnings<Prompt[number], Written>()
  const frames = openFrames(prepare, fixed)

  const writeMessages = (prompt: Prompt): Written => {
    const known = beginnings.find(prompt)
    const { messages, value } = known ?? { messages: [], value: NOTHING }
    const fresh = prompt.slice(messages.length)
    if (fresh.length === 0) return value
    const now = extend(value, convert(fresh))
    // Each buffer has one owner: the entry that extends it takes it over.
    beginnings.keep({ messages: prompt, value: now }, known)
    return now
  }

  const write = (prompt: Prompt, frame: Frame): Body => {
    const { bytes, length } = writeMessages(prompt)
    return [OPENING, bytes.subarray(0, Math.max(0, length - 1)), frame.bytes]
  }

  return (options) => {
    const frame = frames.find(options)
    if (frame !== undefined) return write(options.prompt, frame)
    return frames.make(options).then((made) => write(options.prompt, made))
  }
}

const OPENING = Buffer.from('{"messages":[')

/** Appends after the existing bytes. A request that is still being sent keeps its own part unchanged. */
const extend = ({ bytes, length }: Written, messages: readonly unknown[]): Written => {
  const added = Buffer.from(messages.map((message) => `${JSON.stringify(message)},`).join(""))
  const needed = length + added.length
  const room = needed <= bytes.length ? bytes : Buffer.allocUnsafeSlow(Math.ceil(needed * GROWTH))
  if (room !== bytes) bytes.copy(room, 0, 0, length)
  added.copy(room, length)
  return { bytes: room, length: needed }
}

const GROWTH = 1.25

/** Everything after the messages. It depends on the tools and the agent, so it is kept until they change. */
const openFrames = (prepare: Converters["prepare"], fixed: JsonObject) => {
  const frames = new WeakMap<object, Frame>()

  const find = (options: LanguageModelV4CallOptions): Frame | undefined => {
    const known = frames.get(options.tools ?? NO_TOOLS)
    return known !== undefined && isSame(known.rest, restOf(options)) ? known : undefined
  }

  const make = async (options: LanguageModelV4CallOptions): Promise<Frame> => {
    const { messages: _none, ...body } = (await prepare({ ...options, prompt: [] })).body
    const bytes = Buffer.from(`],${JSON.stringify(join(body, fixed)).slice(1)}`)
    const made = { rest: restOf(options), bytes }
    frames.set(options.tools ?? NO_TOOLS, made)
    return made
  }

  return { find, make }
}

interface Frame {
  readonly rest: Readonly<Record<string, unknown>>
  /** The bytes after the last message. */
  readonly bytes: Buffer
}

/** What a frame depends on besides the tools. */
const restOf = (options: LanguageModelV4CallOptions): Readonly<Record<string, unknown>> => {
  const { prompt: _prompt, abortSignal: _signal, headers: _headers, tools: _tools, ...rest } = options
  return rest
}

const isSame = (
  one: Readonly<Record<string, unknown>>,
  other: Readonly<Record<string, unknown>>,
): boolean => {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}

const NO_TOOLS: object = []

/** The SDK's request body is JSON by now. */
const join = (body: Readonly<Record<string, unknown>>, fixed: JsonObject): JsonObject =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  mergeObjects(body as JsonObject, fixed)
