/** Log lines of the plugin. Nothing here waits, and nothing here can make a hook fail. */
import { sanitizeLine } from "@meridian/continuity"

import { fieldOf } from "./field.ts"
import type { World } from "./world.ts"

export type Level = "debug" | "info" | "warn" | "error"

export interface LogFacts {
  readonly session?: string
  readonly mode?: string
  readonly artifact?: string
  readonly [name: string]: string | number | undefined
}

export interface Log {
  readonly write: (level: Level, message: string, facts?: LogFacts) => void
  /** Logs the same warning only once, because rule files are read at every request. */
  readonly warnOnce: (message: string, facts?: LogFacts) => void
  /** A line of seed 003, only in debug mode: to the log and, unless the host draws on it, to stderr. */
  readonly trace: (message: string, facts?: LogFacts) => void
}

const MESSAGE_LENGTH = 600

/** A folder full of broken rules is one finding, not a thousand lines. */
const WARNINGS = 100

export const openLog = (client: unknown, world: World, debug: () => boolean): Log => {
  const warned = new Set<string>()
  const write: Log["write"] = (level, message, facts = {}) => {
    const extra = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))
    // Messages contain file names, and a name may contain a line break.
    callLog(client, { service: "meridian", level, message: sanitizeLine(message, MESSAGE_LENGTH), extra })
  }
  return {
    write,
    warnOnce: (message, facts) => {
      if (warned.has(message) || warned.size >= WARNINGS) return
      warned.add(message)
      write("warn", message, facts)
      if (warned.size === WARNINGS) write("warn", "meridian: further warnings are not logged", facts)
    },
    trace: (message, facts) => {
      if (!debug()) return
      const line = `[opencode-rules] ${message}`
      write("debug", line, facts)
      if (!world.isScreen) world.print(line)
    },
  }
}

/** Calls the host's `client.app.log`. It may be absent, throw, reject or never answer; none of that matters here. */
const callLog = (client: unknown, body: object): void => {
  try {
    const app = fieldOf(client, "app")
    const method = fieldOf(app, "log")
    if (typeof method !== "function") return
    const answer: unknown = Reflect.apply(method, app, [{ body }])
    if (answer instanceof Promise) answer.catch(() => undefined)
  } catch {
    // There is no better place to report that the log cannot be written.
  }
}
