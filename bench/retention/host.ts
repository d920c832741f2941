/**
 * A host like OpenCode for a plugin: it keeps a conversation, calls the hooks before each request, and compacts by
 * replacing the conversation with a summary and its most recent messages.
 */
import { estimateTokens } from "@meridian/continuity"
import plugin from "@meridian/opencode-plugin"

import { SESSION_ID } from "./scenario.ts"
import type { Summariser } from "./summarisers.ts"

export interface Message {
  readonly role: "user" | "assistant"
  readonly parts: readonly Part[]
  readonly summary?: true
}

type Part =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "tool"
      readonly tool: string
      readonly state: { readonly status: "completed"; readonly input: object; readonly output: string }
    }

export interface Request {
  /** Everything the model would see. */
  readonly text: string
  /** The plugin's additions to the system prompt and among the messages. */
  readonly added: readonly string[]
}

export interface Host {
  readonly say: (message: Message) => Promise<void>
  /** Returns the plugin's additions to the summariser's prompt. */
  readonly compact: (summariser: Summariser, seed: number) => Promise<readonly string[]>
  readonly request: () => Promise<Request>
}

const SYSTEM = "You are opencode, an interactive agent that helps with software engineering."
/** How much of the conversation OpenCode's second generation keeps. */
const TAIL_TOKENS = 8000

/** `options` undefined: a host without the plugin. */
export const openHost = async (root: string, options: object | undefined): Promise<Host> => {
  let conversation: readonly Message[] = []
  const ids = new Map<Message, string>()
  const asSent = (message: Message): Sent => {
    const id = ids.get(message) ?? `msg_${String(ids.size).padStart(6, "0")}`
    ids.set(message, id)
    const { role, parts } = message
    return { info: { id, sessionID: SESSION_ID, role, ...(message.summary ? { summary: true } : {}) }, parts }
  }
  const client = { session: { messages: async () => ({ data: conversation.map(asSent) }) } }
  const hooks =
    options === undefined ? {} : await plugin.server({ client, directory: root, worktree: root }, options)
  const call = async (name: string, input: object, output: object): Promise<void> =>
    hooks[name]?.(input, output)

  return {
    say: async (message) => {
      conversation = [...conversation, message]
      const input = { sessionID: SESSION_ID, agent: "build" }
      const { info, parts } = asSent(message)
      if (message.role === "user") await call("chat.message", input, { message: info, parts })
      for (const part of message.parts)
        if (part.type === "tool")
          await call(
            "tool.execute.before",
            { tool: part.tool, sessionID: SESSION_ID },
            { args: part.state.input },
          )
    },
    compact: async (summariser, seed) => {
      const output: { readonly context: string[] } = { context: [] }
      await call("experimental.session.compacting", { sessionID: SESSION_ID }, output)
      await call("experimental.chat.messages.transform", {}, { messages: conversation.map(asSent) })
      const summary = summariser({ messages: conversation.map(textOf), context: output.context, seed })
      const tail = tailOf(conversation)
      if (summary === undefined) {
        conversation = tail
        return output.context
      }
      conversation = [{ role: "assistant", summary: true, parts: [{ type: "text", text: summary }] }, ...tail]
      await call("event", { event: { type: "session.compacted", properties: { sessionID: SESSION_ID } } }, {})
      return output.context
    },
    request: async () => {
      const system = [SYSTEM]
      const own = conversation.map(asSent)
      const output = { messages: [...own] }
      await call("experimental.chat.messages.transform", {}, output)
      await call("experimental.chat.system.transform", { sessionID: SESSION_ID }, { system })
      const inserted = output.messages.filter((message) => !own.includes(message)).map(textOf)
      return {
        text: [...system, ...output.messages.map(textOf)].join("\n"),
        added: [...system.slice(1), ...inserted],
      }
    },
  }
}

interface Sent {
  readonly info: object
  readonly parts: readonly Part[]
}

const textOf = ({ parts }: Pick<Message, "parts">): string =>
  parts
    .map((part) =>
      part.type === "text"
        ? part.text
        : `${part.tool} ${JSON.stringify(part.state.input)}: ${part.state.output}`,
    )
    .join("\n")

const tailOf = (messages: readonly Message[]): readonly Message[] => {
  let left = TAIL_TOKENS
  const start = messages.findLastIndex((message) => {
    left -= message.summary ? left + 1 : estimateTokens(textOf(message))
    return left < 0
  })
  return messages.slice(start + 1)
}
