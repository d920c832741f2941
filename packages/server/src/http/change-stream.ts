/** Tells one reader which sessions changed, so that lists stay current without polling. */
import { setTimeout as pause } from "node:timers/promises"

import type { Engine } from "@meridian/engine"

import { namedFrame } from "./frames.ts"
import type { StreamSource } from "./streams.ts"

/** A session at work commits many times a second, and nobody reads a list that fast. */
const TOGETHER_MS = 100

export const changeSource = (engine: Engine): StreamSource => ({
  place: () => ({}),
  begin: () => Promise.resolve(),
  send: async (writer) => {
    const changes = engine.sessions.changes({ signal: writer.ended })[Symbol.asyncIterator]()
    let next = changes.next()
    // Anything may have changed before this reader listened.
    writer.write(namedFrame("changed", { type: "changed", data: { sessions: [], elsewhere: true } }))
    for (;;) {
      const { done, value } = await next
      if (done === true) return "server-stopping"
      writer.write(namedFrame("changed", { type: "changed", data: value }))
      await writer.room()
      await pause(TOGETHER_MS, undefined, { signal: writer.ended }).catch(() => undefined)
      next = changes.next()
    }
  },
})
