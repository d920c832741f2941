/** Writes one reply to one response, as fast as the reader takes it, or at the script's pace. */
import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"

import { DEFAULT_USAGE, faultOf, partsOf, type Reply } from "@meridian/engine/script"

import type { Answer, WireFormat } from "./format.ts"
import type { RequestFacts } from "./read-request.ts"

/** How a response ended: completely sent, cut by the script, or left by the client. */
export type Ended = "sent" | "cut" | "client-closed"

export interface Scene {
  readonly n: number
  readonly format: WireFormat
  readonly facts: RequestFacts
  readonly response: ServerResponse
  /** Aborts when the client leaves or the provider closes. */
  readonly gone: AbortSignal
  /** Resolves when a held reply may continue; rejects when `gone` aborts. */
  readonly released: () => Promise<void>
  /** Called just before the response ends. Time after that does not count as the provider's. */
  readonly ending: () => void
}

/** Smaller amounts go out in one write. The reader sees the same events either way. */
const WRITE_BYTES = 32_768

export const play = async (scene: Scene, reply: Reply): Promise<Ended> => {
  try {
    return await playWhole(scene, reply)
  } catch (cause) {
    if (scene.gone.aborted) return "client-closed"
    throw cause
  }
}

export const sendJson = (
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers })
  response.end(JSON.stringify(value))
}

const playWhole = async (scene: Scene, reply: Reply): Promise<Ended> => {
  const { format, facts, response, gone } = scene
  if (reply.delayMs !== undefined) await sleep(reply.delayMs, undefined, { signal: gone })
  if (reply.hold === true || reply.hold === "start") await scene.released()
  if (reply.error !== undefined && (reply.inStream !== true || !facts.stream)) return sendFault(scene, reply)
  const answer = answerOf(scene, reply)
  if (!facts.stream) {
    scene.ending()
    sendJson(response, 200, format.whole(answer))
    return "sent"
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })
  if (reply.cut === true || reply.hold === "middle") {
    const events = [...format.events(answer)]
    const middle = Math.ceil(events.length / 2)
    await writeEvents(scene, reply, events.slice(0, middle))
    if (reply.cut === true) {
      // The written data must leave first: a socket destroyed in the same tick loses its buffer.
      await new Promise<void>((resolve) => response.write("\n", () => resolve()))
      response.destroy()
      return "cut"
    }
    await scene.released()
    await writeEvents(scene, reply, events.slice(middle))
  } else {
    await writeEvents(scene, reply, format.events(answer))
  }
  if (reply.hold === "end") await scene.released()
  scene.ending()
  response.end()
  return "sent"
}

const sendFault = ({ format, response, ending }: Scene, reply: Reply): Ended => {
  ending()
  const fault = faultOf(reply.error ?? {}, format.family)
  sendJson(response, fault.status ?? 400, format.errorBody(fault), {
    ...(fault.retryAfter === undefined ? {} : { "retry-after": String(fault.retryAfter) }),
    ...fault.headers,
  })
  return "sent"
}

const answerOf = ({ n, facts }: Scene, reply: Reply): Answer => {
  const parts = partsOf(reply)
  const called = parts.some((part) => part.type === "tool")
  return {
    id: `${n}`.padStart(6, "0"),
    n,
    model: facts.model === "" ? "fake-model" : facts.model,
    parts,
    usage: { ...DEFAULT_USAGE, ...reply.usage },
    finish: reply.finish ?? (called ? "tool-calls" : "stop"),
    includeUsage: facts.includeUsage,
    unfinished: reply.unfinished === true,
  }
}

const writeEvents = async (scene: Scene, reply: Reply, events: Iterable<string>): Promise<void> => {
  const { chunkMs } = reply
  let waiting = ""
  for (const event of events) {
    waiting += event
    if (chunkMs === undefined && waiting.length < WRITE_BYTES) continue
    await write(scene, waiting)
    waiting = ""
    if (chunkMs !== undefined) await sleep(chunkMs, undefined, { signal: scene.gone })
  }
  await write(scene, waiting)
}

/** Bounds the memory: nothing is produced while the reader's socket is full. */
const write = async ({ response, gone }: Scene, text: string): Promise<void> => {
  gone.throwIfAborted()
  if (text === "" || response.write(text)) return
  await once(response, "drain", { signal: gone })
}
