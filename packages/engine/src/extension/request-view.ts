/** A request as extensions see it, and the request that their answer turns it into. */
import {
  Failure,
  mapOf,
  objectOf,
  reader,
  REQUEST_SETTINGS,
  listOf,
  something,
  STRING,
} from "@meridian/protocol"

import { LIMITS } from "../domain/limits.ts"
import { checkSettings, NO_SETTINGS } from "../domain/request-settings.ts"
import type { RequestView } from "../port/hooks.ts"
import type { ModelRequest, PromptMessage } from "../port/model.ts"
import { freeze, type FrozenMessages } from "./frozen-messages.ts"
import { pairingProblem, readMessage } from "./prompt-shape.ts"

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({})

export const viewOf = (
  request: ModelRequest,
  asked: { readonly agent: string; readonly model: string },
  frozen: FrozenMessages,
): RequestView => {
  const { prompt, sessionID, settings = NO_SETTINGS, headers = NO_HEADERS } = request
  const opening = openingOf(prompt)
  return Object.freeze({
    sessionID,
    ...asked,
    system: Object.freeze(opening.map(({ content }) => content)),
    messages: Object.freeze(prompt.slice(opening.length).map(frozen.show)),
    settings: freeze(structuredClone(settings)),
    headers: freeze({ ...headers }),
  })
}

/** Throws when no provider could accept the result. */
export const applyView = (
  request: ModelRequest,
  shown: RequestView,
  answer: unknown,
  frozen: FrozenMessages,
): ModelRequest => {
  if (answer === shown) return request
  const { system, messages, settings, headers } = readView(answer)
  const before = openingOf(request.prompt)
  const opening =
    system === shown.system
      ? before
      : system.map((content, index) => systemMessage(content, before[index], frozen))
  const history =
    messages === shown.messages ? request.prompt.slice(before.length) : readMessages(messages, frozen)
  checkHeaders(headers)
  const passing = request.passing === undefined ? undefined : passingOf(request, history)
  const { passing: _passing, ...rest } = request
  return {
    ...rest,
    prompt: [...opening, ...history],
    ...(settings === shown.settings ? {} : { settings: checkSettings(settings, "The request") }),
    ...(Object.keys(headers).length === 0 ? {} : { headers: { ...headers } }),
    ...(passing === undefined || passing === 0 ? {} : { passing }),
  }
}

const readView = reader(
  objectOf(
    {
      system: listOf(STRING),
      messages: something<readonly unknown[]>("a list", Array.isArray),
      settings: REQUEST_SETTINGS,
      headers: mapOf(STRING),
    },
    { sessionID: STRING, agent: STRING, model: STRING },
  ),
  { what: "The request" },
)

type System = Extract<PromptMessage, { readonly role: "system" }>

const openingOf = (prompt: readonly PromptMessage[]): readonly System[] => {
  const opening: System[] = []
  for (const message of prompt) {
    if (message.role !== "system") break
    opening.push(message)
  }
  return opening
}

/** Reuses the existing message when its text is the same. */
const systemMessage = (content: string, before: System | undefined, frozen: FrozenMessages): PromptMessage =>
  before?.content === content ? before : frozen.same({ role: "system", content }, `system ${content}`)

const readMessages = (messages: readonly unknown[], frozen: FrozenMessages): readonly PromptMessage[] => {
  if (messages.length > LIMITS.hookMessages)
    throw invalid(`a request may have ${LIMITS.hookMessages} messages at most`)
  let characters = 0
  const read = messages.map((message) => {
    const own = frozen.own(message)
    if (own !== undefined) return own
    const made = structuredClone(readMessage(message))
    const text = JSON.stringify(made)
    characters += text.length
    if (characters > LIMITS.hookCharacters)
      throw invalid(
        `what an extension changes of a request may have ${LIMITS.hookCharacters} characters at most`,
      )
    return frozen.same(made, text)
  })
  const problem = pairingProblem(read)
  if (problem !== undefined) throw invalid(problem)
  return read
}

/** How many messages at the end belong to this request alone: everything after the last lasting message. */
const passingOf = (request: ModelRequest, history: readonly PromptMessage[]): number => {
  const { prompt, passing = 0 } = request
  const staying = new Set(prompt.slice(0, prompt.length - passing))
  return history.length - 1 - history.findLastIndex((message) => staying.has(message))
}

/** Transport headers, which extensions may not set. */
const OWN_HEADERS = new Set(["host", "connection", "content-length", "content-type", "transfer-encoding"])
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/
const HEADER_VALUE = /^[\t\u0020-\u007E\u0080-\u00FF]{0,8192}$/

const checkHeaders = (headers: Readonly<Record<string, string>>): void => {
  const entries = Object.entries(headers)
  if (entries.length > LIMITS.hookHeaders)
    throw invalid(`a request may have ${LIMITS.hookHeaders} headers of extensions at most`)
  for (const [name, value] of entries) {
    if (!HEADER_NAME.test(name) || OWN_HEADERS.has(name.toLowerCase()))
      throw invalid(`\`headers\` cannot set ${JSON.stringify(name.slice(0, 100))}`)
    if (!HEADER_VALUE.test(value)) throw invalid(`the header ${name} has a value that cannot be sent`)
  }
}

const invalid = (what: string): Failure => new Failure("INVALID_INPUT", { what })
