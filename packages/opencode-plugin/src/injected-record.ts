/** Records what was added to requests, whenever it changes, for `meridian brief --injected`, receipts and `doctor`. */
import { join } from "node:path"

import { estimateTokens, recordInjection, type Fact, type Injection, type Place } from "@meridian/continuity"

import type { Session } from "./session.ts"
import type { World } from "./world.ts"

export interface InjectedRecord {
  readonly keep: (session: Session, kept: Kept) => void
}

export interface Kept {
  readonly request: Injection["request"]
  readonly texts: readonly string[]
  /** How long the hook worked. */
  readonly ms: number
  readonly facts?: readonly Fact[]
}

export const openInjectedRecord = (place: Place, world: World): InjectedRecord => {
  const folder = recordFolder(world)
  const last = new Map<string, string>()
  return {
    keep: (session, { request, texts, ms, facts }) => {
      if (folder === undefined || texts.length === 0) return
      const key = `${session.id} ${request}`
      const identity = texts.join("\n")
      // Requests of one turn carry the same text. It is recorded only when it changes.
      if (last.get(key) === identity) return
      last.set(key, identity)
      for (const oldest of last.keys()) {
        if (last.size <= KEPT) break
        last.delete(oldest)
      }
      const compaction = session.pin?.ledger.compactions.at(-1)
      recordInjection(folder, {
        at: new Date().toISOString(),
        host: "opencode",
        session: session.id,
        directory: place.directory,
        request,
        texts,
        ms,
        tokens: texts.reduce((sum, text) => sum + estimateTokens(text), 0),
        ...(facts === undefined ? {} : { facts: facts.filter(({ source }) => source !== "default") }),
        ...(request === "compaction" || compaction === undefined
          ? {}
          : { summary: compaction.summary, invented: compaction.invented }),
      })
    },
  }
}

const KEPT = 200

const recordFolder = ({ environment }: World): string | undefined => {
  const home = environment["HOME"]
  const state = environment["XDG_STATE_HOME"] || (home === undefined ? "" : join(home, ".local/state"))
  return state === "" ? undefined : join(state, "meridian", "injections")
}
