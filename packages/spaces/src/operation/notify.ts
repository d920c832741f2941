/**
 * Tells the person through their own program (`notify.command`) that something ended or asks for them. The message is
 * the program's last word; its parts are in variables. The program gets a few seconds, and cannot affect the work.
 */
import { spawn } from "node:child_process"

import { oneLine } from "@meridian/protocol"

import type { World } from "./world.ts"

export interface Notice {
  /** `ended`: it needs no person any more. `asks`: it waits for an answer. */
  readonly event: "ended" | "asks"
  /** One sentence. Text that others wrote becomes one plain line. */
  readonly message: string
  /** Further facts for the program, as `MERIDIAN_NOTIFY_<NAME>`. */
  readonly facts: Readonly<Record<string, string | undefined>>
}

const MOST_CHARACTERS = 300
const PATIENCE_MS = 5_000

/** Resolves when the program has ended or its time is over. Never rejects. */
export const notify = (
  command: readonly string[],
  { event, message, facts }: Notice,
  world: Pick<World, "env" | "cwd" | "warn">,
): Promise<void> => {
  const [program, ...words] = command
  if (program === undefined) return Promise.resolve()
  return new Promise((resolve) => {
    const failed = (why: string): void => {
      world.warn("NOTIFY_FAILED", { program: oneLine(program, MOST_CHARACTERS), why })
      resolve()
    }
    try {
      const child = spawn(program, [...words, oneLine(message, MOST_CHARACTERS)], {
        cwd: world.cwd,
        env: { ...world.env, ...variables({ event, ...facts }) },
        stdio: "ignore",
        timeout: PATIENCE_MS,
        killSignal: "SIGKILL",
      })
      child.once("error", (error) => failed(error.message))
      child.once("exit", (code, signal) => {
        if (signal === "SIGKILL") failed(`it took longer than ${PATIENCE_MS / 1_000} seconds`)
        else if (code !== 0) failed(`it ended with ${code ?? signal}`)
        else resolve()
      })
    } catch (error) {
      // Node refuses a word with a zero byte before anything starts.
      failed(error instanceof Error ? error.message : String(error))
    }
  })
}

const variables = (facts: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(facts).flatMap(([name, value]) =>
      value === undefined ? [] : [[`MERIDIAN_NOTIFY_${name.toUpperCase()}`, oneLine(value, MOST_CHARACTERS)]],
    ),
  )
