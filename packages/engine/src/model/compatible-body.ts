/**
 * The text of a request to a compatible server. A session sends its whole history every turn, so what was written once is
 * kept: at 2,000 turns the request has 3.6 MB, and converting and writing it anew took as long as sending it.
 *
 * Messages are converted by the AI SDK one by one (each becomes one message of the wire, a tool message one per result),
 * so the text of a message depends on nothing but the message.
 */
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider"

/** The AI SDK's converter of requests. */
export type Prepare = (
  options: LanguageModelV4CallOptions,
) => Promise<{ readonly body: Readonly<Record<string, unknown>> }>

/** The text of a request, or its bytes in pieces. */
export type Body = string | readonly Uint8Array[]

export type WriteBody = (options: LanguageModelV4CallOptions) => Promise<Body>

/** Short prompts are written anew: that costs less than remembering them, above all in memory. */
export const REMEMBER_FROM = 40

type Prompt = LanguageModelV4CallOptions["prompt"]
type Message = Prompt[number]

/** The beginning of a conversation, as it was last written: the bytes are the messages with a comma after each. */
interface Written {
  readonly messages: readonly Message[]
  readonly bytes: Buffer
  readonly length: number
}

const NOTHING: Written = { messages: [], bytes: Buffer.alloc(0), length: 0 }

export const openBodyWriter = (prepare: Prepare, fixed: Readonly<Record<string, unknown>>): WriteBody => {
  /** By its last message: a finished message of a session never changes, and goes when the session does. */
  const written = new WeakMap<Message, Written>()
  const frame = openFrame(prepare, fixed)

  const writeAll = async (options: LanguageModelV4CallOptions): Promise<string> => {
    const { body } = await prepare(options)
    return JSON.stringify({ ...body, ...fixed })
  }

  /** Tools say nothing about messages, and are most of the work in a short conversation. */
  const convert = async ({ tools: _tools, ...options }: LanguageModelV4CallOptions, prompt: Prompt) =>
    (await prepare({ ...options, prompt })).body["messages"]

  /** What of this prompt was written before, compared message by message. */
  const findWritten = (prompt: readonly Message[]): Written => {
    for (let last = prompt.length - 1; last >= Math.max(0, prompt.length - LOOK_BACK); last -= 1) {
      const message = prompt[last]
      const known = message === undefined ? undefined : written.get(message)
      if (known?.messages.length === last + 1 && known.messages.every((one, index) => one === prompt[index]))
        return known
    }
    return NOTHING
  }

  /** Undefined where the SDK makes something else of the messages than we know. */
  const writeMessages = async (options: LanguageModelV4CallOptions): Promise<Written | undefined> => {
    const { prompt } = options
    const known = findWritten(prompt)
    const fresh = prompt.slice(known.messages.length)
    if (fresh.length === 0) return known
    const messages = await convert(options, fresh)
    if (!Array.isArray(messages) || messages.length !== fresh.reduce((sum, one) => sum + wireCount(one), 0))
      return undefined
    const now = { ...extend(known, messages), messages: prompt }
    const [before, last] = [known.messages.at(-1), prompt.at(-1)]
    // The bytes have one owner: whoever extends them takes them along.
    if (before !== undefined) written.delete(before)
    if (last !== undefined) written.set(last, now)
    return now
  }

  return async (options) => {
    if (options.prompt.length < REMEMBER_FROM) {
      const messages = await convert(options, options.prompt)
      if (!Array.isArray(messages)) return writeAll(options)
      return `{"messages":${JSON.stringify(messages)}${(await frame(options)).text}`
    }
    const messages = await writeMessages(options)
    if (messages === undefined || messages.length === 0) return writeAll(options)
    return [OPENING, messages.bytes.subarray(0, messages.length - 1), (await frame(options)).bytes]
  }
}

const OPENING = Buffer.from('{"messages":[')

/** A turn adds its question, its answer and the results between. */
const LOOK_BACK = 64

/** Written behind what is there: a request that is still being sent keeps its own part as it was. */
const extend = ({ bytes, length }: Written, messages: readonly unknown[]): Omit<Written, "messages"> => {
  const added = Buffer.from(messages.map((message) => `${JSON.stringify(message)},`).join(""))
  const needed = length + added.length
  const room = needed <= bytes.length ? bytes : Buffer.allocUnsafeSlow(Math.ceil(needed * GROWTH))
  if (room !== bytes) bytes.copy(room, 0, 0, length)
  added.copy(room, length)
  return { bytes: room, length: needed }
}

const GROWTH = 1.25

/** Everything behind the messages. It changes with the tools and the agent, so it is kept while they stay. */
const openFrame = (prepare: Prepare, fixed: Readonly<Record<string, unknown>>) => {
  const frames = new WeakMap<object, Frame>()
  return async (options: LanguageModelV4CallOptions): Promise<Frame> => {
    const { prompt: _prompt, abortSignal: _signal, headers: _headers, tools = NO_TOOLS, ...rest } = options
    const key = Object.entries(rest).flat()
    const known = frames.get(tools)
    if (known?.key.length === key.length && known.key.every((part, index) => part === key[index]))
      return known
    const { messages: _none, ...body } = (await prepare({ ...options, prompt: [] })).body
    const text = `,${JSON.stringify({ ...body, ...fixed }).slice(1)}`
    const made = { key, text, bytes: Buffer.from(`]${text}`) }
    frames.set(tools, made)
    return made
  }
}

/** `text` follows the list of messages, `bytes` its last message. */
interface Frame {
  readonly key: readonly unknown[]
  readonly text: string
  readonly bytes: Buffer
}

const NO_TOOLS: object = []

/** How many messages of the wire come of one of ours. Where this is ever wrong, the request is written whole. */
const wireCount = (message: Message): number => (message.role === "tool" ? message.content.length : 1)
