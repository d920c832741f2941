/** The scripted provider inside the process: no key, no network. For demos, and for tests of everything above a model. */
import {
  ModelFailure,
  type Model,
  type ModelEvent,
  type ModelRequest,
  type ProviderMetadata,
  type Usage,
} from "../port/model.ts"
import type { Sleep } from "../port/time.ts"
import { wireName, type ModelConfig } from "./config.ts"
import { toModelFailure } from "./failure.ts"
import {
  DEFAULT_USAGE,
  faultOf,
  fullText,
  openScript,
  partsOf,
  pieces,
  toolArguments,
  type Fault,
  type FaultName,
  type Reply,
  type ReplyPart,
  type ScriptRequest,
} from "./script.ts"

export interface ScriptedModelOptions {
  readonly sleep: Sleep
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export const openScriptedModel = (
  config: ModelConfig,
  { sleep, now }: ScriptedModelOptions,
): Model["stream"] => {
  const script = openScript(config.script ?? [])
  const model = wireName(config)
  let asked = 0

  async function* play(request: ModelRequest, signal: AbortSignal, ready: ModelEvent[]) {
    const n = ++asked
    const { reply } = await script.take(readRequest(request, model, n))
    const { chunkMs } = reply
    if (reply.delayMs !== undefined) await sleep(reply.delayMs, signal)
    if (reply.hold === true || reply.hold === "start") await aborted(signal)
    if (reply.error !== undefined && reply.inStream !== true) throw fail(reply.error, now())
    try {
      for (const event of paced(reply, n, now)) {
        if (event === "hold") {
          yield* taken(ready, signal)
          await aborted(signal)
          continue
        }
        ready.push(event)
        // Without `chunkMs` all events are ready at once, as on the wire.
        if (chunkMs === undefined) continue
        yield* taken(ready, signal)
        if (event.type.endsWith("-delta")) await sleep(chunkMs, signal)
      }
    } catch (error) {
      yield* taken(ready, signal)
      throw error
    }
    yield* taken(ready, signal)
  }

  async function* stream(request: ModelRequest, signal: AbortSignal, ready: ModelEvent[]) {
    signal.throwIfAborted()
    try {
      yield* play(request, signal, ready)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw error
    }
  }

  return (request, signal) => {
    const ready: ModelEvent[] = []
    const events = stream(request, signal, ready)
    return {
      [Symbol.asyncIterator]: () => ({
        next: () => events.next(),
        return: () => events.return(undefined),
        ready: () => (signal.aborted ? undefined : ready.shift()),
      }),
    }
  }
}

function* taken(ready: ModelEvent[], signal: AbortSignal): Generator<ModelEvent> {
  for (let event = ready.shift(); event !== undefined; event = ready.shift()) {
    signal.throwIfAborted()
    yield event
  }
}

/** The events of a reply, and the point where it breaks or waits. */
function* paced(reply: Reply, n: number, now: () => number): Generator<ModelEvent | "hold"> {
  if (reply.cut !== true && reply.hold !== "middle") {
    yield* eventsOf(reply, n, now)
    return
  }
  const events = [...eventsOf(reply, n, now)]
  const middle = Math.ceil(events.length / 2)
  yield* events.slice(0, middle)
  if (reply.cut === true)
    throw new ModelFailure({ kind: "transport", message: "The connection broke (scripted)" })
  yield "hold"
  yield* events.slice(middle)
}

function* eventsOf(reply: Reply, n: number, now: () => number): Generator<ModelEvent> {
  const parts = partsOf(reply)
  for (const [index, part] of parts.entries()) {
    if (part.type === "error") throw fail(part.error, now())
    yield* partEvents(part, `${n}_${index}`)
  }
  if (reply.unfinished === true)
    throw new ModelFailure({
      kind: "invalid-output",
      message: "The stream ended before its answer did (scripted)",
    })
  const called = parts.some((part) => part.type === "tool")
  yield { type: "finish", reason: reply.finish ?? (called ? "tool-calls" : "stop"), usage: usageOf(reply) }
}

function* partEvents(part: Exclude<ReplyPart, { type: "error" }>, place: string): Generator<ModelEvent> {
  switch (part.type) {
    case "text": {
      const id = `text_${place}`
      yield { type: "text-start", id }
      for (const delta of pieces(fullText(part), part.chunks)) yield { type: "text-delta", id, delta }
      yield { type: "text-end", id }
      return
    }
    case "reasoning": {
      const id = part.id ?? `reasoning_${place}`
      const metadata = reasoningMetadata(part)
      yield { type: "reasoning-start", id }
      for (const delta of pieces(part.text)) yield { type: "reasoning-delta", id, delta }
      yield { type: "reasoning-end", id, ...(metadata === undefined ? {} : { metadata }) }
      return
    }
    case "tool": {
      const id = part.id ?? `call_${place}`
      const input = toolArguments(part)
      yield { type: "tool-input-start", id, name: part.name }
      for (const delta of pieces(input)) yield { type: "tool-input-delta", id, delta }
      yield { type: "tool-input-end", id }
      yield { type: "tool-call", id, name: part.name, input, providerExecuted: false }
      return
    }
    case "hosted": {
      const id = part.id ?? `hosted_${place}`
      const name = part.name ?? "web_search"
      const input = JSON.stringify({ query: part.query })
      const call = { scripted: { side: "call", id } }
      yield { type: "tool-call", id, name, input, providerExecuted: true, metadata: call }
      yield {
        type: "tool-result",
        id,
        name,
        result:
          part.error === undefined
            ? (part.results ?? []).map(({ url, title }) => ({ url, title: title ?? url }))
            : { error: part.error },
        isError: part.error !== undefined,
        metadata: { scripted: { side: "result", id } },
      }
    }
  }
}

const reasoningMetadata = (part: {
  readonly signature?: string
  readonly redacted?: string
  readonly encrypted?: string
}): ProviderMetadata | undefined => {
  const { signature, redacted, encrypted } = part
  const scripted = {
    ...(signature === undefined ? {} : { signature }),
    ...(redacted === undefined ? {} : { redacted }),
    ...(encrypted === undefined ? {} : { encrypted }),
  }
  return Object.keys(scripted).length === 0 ? undefined : { scripted }
}

const usageOf = (reply: Reply): Usage => {
  const usage = { ...DEFAULT_USAGE, ...reply.usage }
  return { ...usage, output: Math.max(0, usage.output - usage.reasoning) }
}

/** A scripted error passes through the same code as a real one, so it gets the same kind. */
const fail = (error: FaultName | Fault, now: number): ModelFailure => {
  const fault = faultOf(error, "openai")
  const { status = 400, code, type, message = "fake error", retryAfter, headers } = fault
  return toModelFailure(
    {
      statusCode: status,
      message,
      code,
      type,
      ...(fault.body === undefined ? {} : { responseBody: JSON.stringify(fault.body) }),
      data: fault.body ?? { error: { message, code, type } },
      responseHeaders: {
        ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
        ...headers,
      },
    },
    { now, secrets: [] },
  )
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const leave = (): void => reject(signal.reason)
    if (signal.aborted) leave()
    else signal.addEventListener("abort", leave, { once: true })
  })

const readRequest = (request: ModelRequest, model: string, n: number): ScriptRequest => {
  const system: string[] = []
  let last: readonly string[] = []
  for (const message of request.prompt) {
    if (message.role === "system") system.push(message.content)
    if (message.role === "user")
      last = message.content.flatMap((part) => (part.type === "text" ? [part.text] : []))
  }
  return {
    n,
    api: "inside",
    model,
    system: system.join("\n"),
    lastUser: last.join("\n"),
    lastText: last.at(-1) ?? "",
    body: request,
  }
}
