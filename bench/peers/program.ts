/** One program of the comparison: a child process that takes one line of JSON per piece of work. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"

export interface Program {
  /** Returns the time the program measured for it, in milliseconds. */
  readonly ask: (work: Work) => Promise<number>
  readonly close: () => Promise<void>
  /** Sends SIGKILL to it and to everything it started. Does nothing once it has ended. */
  readonly kill: () => Promise<void>
}

export type Work =
  | { readonly verb: "turn"; readonly session: string; readonly text: string }
  | { readonly verb: "resume"; readonly session: string }
  | { readonly verb: "many"; readonly text: string; readonly turns: number }

export interface ProgramOptions {
  readonly name: string
  /** Where the programs are installed. */
  readonly root: string
  /** The folder with its data. A program that is restarted on the same folder finds it. */
  readonly folder: string
  readonly address: string
  /** The file in which its tool writes a line when it starts and one when it ends. */
  readonly marks?: string
  readonly opencode: string
}

export const startProgram = async (options: ProgramOptions): Promise<Program> => {
  const { name, root, folder, address, marks = "", opencode } = options
  const child = spawn(process.execPath, [join(root, `${name}.mjs`), folder, address, marks], {
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
    env: {
      PATH: "/usr/bin:/bin",
      HOME: folder,
      BENCH_ROOT: resolve(import.meta.dirname, "../.."),
      BENCH_OPENCODE: opencode,
    },
  })
  const ended = once(child, "exit")
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const answer = async (): Promise<{ readonly ms?: number }> => {
    const { done, value } = await lines.next()
    if (done === true) throw new Error(`${name} ended before it answered.`)
    return JSON.parse(value) as { readonly ms?: number }
  }
  await answer()
  return {
    ask: async (work) => {
      child.stdin.write(`${JSON.stringify(work)}\n`)
      return (await answer()).ms ?? 0
    },
    close: async () => {
      child.stdin.end()
      await ended
    },
    kill: async () => {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
      process.kill(-child.pid, "SIGKILL")
      await ended
    },
  }
}
