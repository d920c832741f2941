/**
 * Hints to other nodes that something was appended. They are sent after the commit, several at once: inside it they would
 * make every commit of the database wait for the others. A hint may get lost; nothing depends on it.
 *
 * A node that is alone sends no hints, because each costs a commit. A new node greets the others. A node that was alone
 * until then answers that everything may have changed, which covers all hints that it did not send.
 */
import { listAt, parseObject, textAt } from "@meridian/protocol"

import { sayHint } from "../../port/say-aloud.ts"
import type { Asked } from "../../port/store.ts"
import type { Connection, Query } from "./connection.ts"

export interface Hints {
  readonly tell: (session: string) => void
  /** Sends the hints that are due. */
  readonly send: () => Promise<void>
  readonly listen: (query: Query) => Promise<void>
  readonly receive: (payload: string) => void
  /** Undefined: some session, it is not known which. */
  readonly onHint: (hear: (session: string | undefined) => void) => () => void
  /** Tells the others that this node is here. */
  readonly greet: () => Promise<void>
  /** Takes the server's answer to a question sent at `sentAt`: whether there are other nodes. */
  readonly noteOthers: (areThere: boolean, sentAt: number) => void
  /** Asks the other nodes for work. */
  readonly ask: (demand: Asked) => Promise<void>
  readonly onAsked: (hear: (demand: Asked) => void) => () => void
  /** Makes every listener look again. */
  readonly tellAll: () => void
}

/** The server takes 8,000 bytes, and a hint contains more than its names. */
const NAMED_BYTES = 7_900

export const openHints = (options: {
  readonly schema: string
  readonly me: string
  readonly connection: () => Connection
  /** Called when there is something to send. */
  readonly onDue: () => void
  readonly monotonic: () => number
}): Hints => {
  const { schema, me, monotonic } = options
  const channel = `meridian_${schema.replaceAll('"', "")}`
  const due = new Set<string>()
  const listeners = new Set<(session: string | undefined) => void>()
  const askers = new Set<(demand: Asked) => void>()
  const hear = (session: string | undefined): void => {
    for (const listener of listeners) listener(session)
  }
  let isAlone = false
  let heardAt = -Infinity
  /** The next hint says that everything may have changed. */
  let allDue = false

  const notify = async (payload: object): Promise<void> => {
    const text = JSON.stringify({ ...payload, at: Math.round(monotonic()) })
    await options.connection().ask("select pg_notify($1, $2)", [channel, text])
  }
  const hearOthers = (): void => {
    heardAt = monotonic()
    if (!isAlone) return
    isAlone = false
    allDue = true
    options.onDue()
  }

  return {
    tell: (session) => {
      if (isAlone) return
      due.add(session)
      options.onDue()
    },
    send: async () => {
      const full = { by: me, named: [...due] }
      const fits = !allDue && Buffer.byteLength(JSON.stringify(full)) < NAMED_BYTES
      due.clear()
      allDue = false
      await notify(fits ? full : { by: me, named: [] })
    },
    greet: () => notify({ by: me, named: [] }),
    noteOthers: (areThere, sentAt) => {
      if (areThere) hearOthers()
      // If a node greeted us after the question was sent, the next answer will include it.
      else if (heardAt < sentAt) isAlone = true
    },
    listen: async (query) => {
      await query(`listen "${channel}"`)
      // Covers whatever happened while this node was not listening.
      hear(undefined)
    },
    receive: (payload) => {
      const hint = parseObject(payload)
      if (textAt(hint, "by") === me) {
        const sentAt = Number(hint?.["at"])
        if (!Number.isNaN(sentAt)) sayHint(Math.max(0, monotonic() - sentAt))
        return
      }
      hearOthers()
      const session = textAt(hint, "ask")
      if (session !== undefined) {
        const seq = Number(hint?.["seq"] ?? 0)
        for (const asker of askers) asker({ session, forced: hint?.["forced"] === true, seq })
        return
      }
      const named = listAt(hint, "named")
      if (named.length === 0) hear(undefined)
      for (const one of named) if (typeof one === "string") hear(one)
    },
    onHint: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    ask: ({ session, forced, seq }) => notify({ by: me, ask: session, forced, seq }),
    onAsked: (listener) => {
      askers.add(listener)
      return () => void askers.delete(listener)
    },
    tellAll: () => hear(undefined),
  }
}
