/**
 * Bytes that wait in this process for readers to take them. They are bounded per connection and in total. When the total is
 * used up, readers that have taken nothing for a while are dropped. They come back with their cursor and lose nothing, and
 * all others continue.
 */
import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { setTimeout as pause } from "node:timers/promises"

import type { HttpLimits } from "./limits.ts"

/** `slow`: it took nothing for too long. `pressure`: other readers need the room. */
export type DropReason = "slow" | "pressure"

export interface Waiting {
  readonly socket: Socket | null
  readonly bytes: () => number
  readonly drop: (why: DropReason) => void
}

export interface Outgoing {
  /** Whether more may be made for the reader of this connection now. */
  readonly hasRoom: (socket: Socket | null) => boolean
  /** Resolves when more may be made for the reader, or when it is gone. */
  readonly room: (response: ServerResponse) => Promise<void>
  /**
   * Makes something large for a reader: for one reader at a time, and only when there is room. Otherwise a hundred readers
   * that ask at the same moment would each find room and fill it together.
   */
  readonly makeLarge: <Made>(response: ServerResponse, make: () => Promise<Made>) => Promise<Made>
  /** The reader has bytes to take. If it already had some, it has just taken part of them. */
  readonly wait: (reader: Waiting) => void
  /** The reader has taken everything, or is gone. */
  readonly done: (reader: Waiting) => void
}

export const makeOutgoing = (
  limits: Pick<HttpLimits, "clientBytes" | "outgoingBytes" | "slowReaderMs" | "stallMs">,
): Outgoing => {
  /** Reader -> when it last took something. The first has waited longest. */
  const waiting = new Map<Waiting, number>()
  /** Readers that were dropped for being slow and may still fetch what was sent to them. Their bytes still count. */
  const leaving = new WeakSet<Waiting>()
  let sweep: NodeJS.Timeout | undefined
  /** Resolves when the previous large thing is made. */
  let made: Promise<unknown> = Promise.resolve()

  const bytesOf = (fits: (reader: Waiting) => boolean): number => {
    let sum = 0
    for (const reader of waiting.keys()) if (fits(reader)) sum += reader.bytes()
    return sum
  }

  const dropSlow = (): void => {
    for (const [reader, since] of waiting) {
      if (performance.now() - since < limits.slowReaderMs) return
      if (leaving.has(reader)) continue
      leaving.add(reader)
      reader.drop("slow")
    }
  }

  const makeRoom = (): void => {
    for (const [reader, since] of waiting) {
      if (performance.now() - since < limits.stallMs || !isFull()) return
      waiting.delete(reader)
      reader.drop("pressure")
    }
  }

  const isOwnFull = (socket: Socket | null): boolean =>
    bytesOf((reader) => reader.socket === socket) > limits.clientBytes
  const isFull = (): boolean => bytesOf(() => true) > limits.outgoingBytes
  const hasRoom = (socket: Socket | null): boolean => waiting.size === 0 || (!isOwnFull(socket) && !isFull())

  const look = (): void => {
    dropSlow()
    if (waiting.size > 0) return
    clearInterval(sweep)
    sweep = undefined
  }

  const room = async (response: ServerResponse): Promise<void> => {
    while (!response.destroyed && !hasRoom(response.socket)) {
      makeRoom()
      if (!hasRoom(response.socket)) await pause(LOOK_MS)
    }
  }

  const alone = <Made>(work: () => Promise<Made>): Promise<Made> => {
    const turn = made.then(work)
    made = turn.catch(() => undefined)
    return turn
  }

  return {
    hasRoom,
    room,
    makeLarge: async (response, make) => {
      for (;;) {
        await room(response)
        const done = await alone(async () =>
          response.destroyed || hasRoom(response.socket) ? { made: await make() } : undefined,
        )
        if (done !== undefined) return done.made
      }
    },
    wait: (reader) => {
      waiting.delete(reader)
      waiting.set(reader, performance.now())
      sweep ??= setInterval(look, Math.min(1_000, limits.slowReaderMs / 4)).unref()
    },
    done: (reader) => void waiting.delete(reader),
  }
}

const LOOK_MS = 20
