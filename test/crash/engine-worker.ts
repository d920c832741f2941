/**
 * An engine whose tools leave marks: `start <call>` when one begins to act, `end <call>` when it has. Its model makes two
 * calls per prompt (one in the process, one in a shell) and then says that it is done.
 */
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"

import type { EngineOptions, Reply } from "@meridian/engine"

export const workerOptions = (options: {
  readonly database: string
  readonly directory: string
  readonly leaseMs?: number
  /** The shell never ends on its own. */
  readonly hangs?: boolean
}): EngineOptions => {
  const { database, directory, leaseMs = 8_000, hangs = false } = options
  const mark = (line: string): void => appendFileSync(join(directory, "marks"), `${line}\n`)
  return {
    database,
    models: [
      {
        id: "fake/one",
        provider: "scripted",
        contextWindow: 1_000_000,
        maxOutput: 8_000,
        script: ({ lastUser, body }) => answer(lastUser, JSON.stringify(body), hangs),
      },
    ],
    permissions: [{ action: "*", resource: "*", effect: "allow" }],
    limits: { leaseMs },
    tools: [
      {
        name: "mark",
        description: "writes a mark when it starts and one when it ends",
        input: { type: "object" },
        execute: async (_input: never, { messageID, callID }) => {
          mark(`start ${messageID}/${callID}`)
          await delay(5)
          mark(`end ${messageID}/${callID}`)
          return "marked"
        },
      },
    ],
  }
}

/** Decides from what it is shown, so that a session cut at any point still makes sense. */
const answer = (lastUser: string, body: string, hangs: boolean): Reply => {
  const name = /prompt (\S+)/.exec(lastUser)?.[1]
  const since = body.slice(body.lastIndexOf(lastUser))
  if (name === undefined || since.includes('"tool-call"')) return { text: "done" }
  const command = `echo "start sh/${name}" >> marks; sleep 0.02; echo "end sh/${name}" >> marks`
  return {
    text: "working",
    tools: [
      { name: "mark", input: { name } },
      { name: "bash", input: { command: hangs ? `${command}; sleep 1000` : command } },
    ],
  }
}
