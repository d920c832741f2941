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

export type WriteBody = (options: LanguageModelV4CallOptions) => Promise<string>

/** Short prompts are written anew: that costs less than remembering them, above all in memory. */
export const REMEMBER_FROM = 100

type Message = LanguageModelV4CallOptions["prompt"][number]

export const openBodyWriter = (prepare: Prepare, fixed: Readonly<Record<string, unknown>>): WriteBody => {
  /** By identity: a finished message of a session never changes, and goes when the session does. */
  const written = new WeakMap<Message, string>()

  const writeAll = async (options: LanguageModelV4CallOptions): Promise<string> => {
    const { body } = await prepare(options)
    return JSON.stringify({ ...body, ...fixed })
  }

  const remember = async (options: LanguageModelV4CallOptions): Promise<boolean> => {
    const fresh = options.prompt.filter((message) => !written.has(message))
    if (fresh.length === 0) return true
    const { body } = await prepare({ ...options, prompt: fresh })
    const { messages } = body
    if (!Array.isArray(messages) || messages.length !== fresh.reduce((sum, one) => sum + wireCount(one), 0))
      return false
    let at = 0
    for (const message of fresh) {
      const end = at + wireCount(message)
      written.set(message, JSON.stringify(messages.slice(at, end)).slice(1, -1))
      at = end
    }
    return true
  }

  return async (options) => {
    if (options.prompt.length < REMEMBER_FROM || !(await remember(options))) return writeAll(options)
    const { body } = await prepare({ ...options, prompt: [] })
    const { messages: _none, ...rest } = body
    const texts = options.prompt.map((message) => written.get(message) ?? "").filter((text) => text !== "")
    return `${JSON.stringify({ ...rest, ...fixed }).slice(0, -1)},"messages":[${texts.join(",")}]}`
  }
}

/** How many messages of the wire come of one of ours. Where this is ever wrong, the request is written whole. */
const wireCount = (message: Message): number => (message.role === "tool" ? message.content.length : 1)
