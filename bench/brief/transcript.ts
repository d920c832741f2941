/**
 * The ledger of a long transcript: read completely the first time, then only what is new. Printed beside one plain read of
 * the same bytes, so that a slow disk or a busy machine shows.
 */
import {
  appendFileSync,
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { readTranscript } from "@meridian/continuity"

export const benchTranscript = (megabytes: number): string => {
  const folder = mkdtempSync(join(tmpdir(), "transcript-"))
  try {
    const path = join(folder, "session.jsonl")
    const next = writeTranscript(path, megabytes * 1024 * 1024)
    const plain = timed(() => readFileSync(path))
    const read = (): void => {
      const reading = readTranscript({ path, folder: join(folder, "memory") })
      if (reading.kind === "refused") throw new Error(reading.reason)
    }
    const first = timed(read)
    appendFileSync(path, turn(next).join(""))
    const after = timed(read)
    const size = Math.round(statSync(path).size / 1024 / 1024)
    return `transcript of ${size} MB: ${told(first)} the first time (at most 2,000), ${told(after)} with one turn more (at most 300); one plain read ${told(plain)}`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Times {
  readonly wall: number
  /** Processor time, which excludes other work of the machine. */
  readonly busy: number
}

const timed = (act: () => unknown): Times => {
  const before = process.cpuUsage()
  const begun = performance.now()
  act()
  const wall = performance.now() - begun
  const { user, system } = process.cpuUsage(before)
  return { wall, busy: (user + system) / 1000 }
}

const told = ({ wall, busy }: Times): string => `${wall.toFixed(0)} ms (busy ${busy.toFixed(0)})`

/** Writes turns until the file has this size. Returns the number of the next turn. */
const writeTranscript = (path: string, bytes: number): number => {
  const file = openSync(path, "w")
  let written = 0
  let number = 0
  for (; written < bytes; number += 1) for (const line of turn(number)) written += writeSync(file, line)
  closeSync(file)
  return number
}

const turn = (number: number): readonly string[] => {
  const common = { sessionId: "0f0e0d0c-1111-4222-8333-444455556666", cwd: "/project", version: "2.1.325" }
  const line = (name: string, parent: string | null, rest: object): string =>
    `${JSON.stringify({ ...common, uuid: `${name}-${number}`, parentUuid: parent, timestamp: "2026-01-01T00:00:00Z", ...rest })}\n`
  const tool = {
    type: "tool_use",
    id: `t${number}`,
    name: "Read",
    input: { file_path: `/project/src/f${number % 500}.ts` },
  }
  const result = { type: "tool_result", tool_use_id: `t${number}`, content: OUTPUT }
  return [
    line("user", number === 0 ? null : `end-${number - 1}`, {
      type: "user",
      message: { role: "user", content: `Please do step ${number}. Keep the limit at ${number}.` },
    }),
    line("call", `user-${number}`, {
      type: "assistant",
      message: { id: `m${number}`, role: "assistant", model: "opus", content: [tool] },
    }),
    line("result", `call-${number}`, { type: "user", message: { role: "user", content: [result] } }),
    line("end", `result-${number}`, {
      type: "assistant",
      message: {
        id: `n${number}`,
        role: "assistant",
        model: "opus",
        content: [{ type: "text", text: `Step ${number} is done. Decision: keep the name n${number % 40}.` }],
      },
    }),
  ]
}

const OUTPUT = "export const value = (input: string): string => input.trim()\n".repeat(60)
