/** Puts a pretend `claude`, `codex` or `opencode` into a folder for PATH, and later reports how it was called. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import type { PretendBehaviour, PretendCall, PretendName } from "./behaviour.ts"

export interface PretendHarness {
  /** The program itself. */
  readonly path: string
  /** Every call so far, oldest first. `stdin` appears once it was read. */
  readonly calls: () => readonly PretendCall[]
  /** Changes what the next call does. */
  readonly behave: (behaviour: PretendBehaviour) => void
}

export interface PretendOptions {
  readonly as: PretendName
  readonly behaviour?: PretendBehaviour
}

export const installPretendHarness = (directory: string, options: PretendOptions): PretendHarness => {
  mkdirSync(directory, { recursive: true })
  const path = join(directory, options.as)
  const behaviourFile = `${path}.behaviour.json`
  const player = join(import.meta.dirname, "play.entry.ts")
  const words = [process.execPath, player, options.as, path].map(
    (word) => `'${word.replaceAll("'", `'\\''`)}'`,
  )
  const behave = (behaviour: PretendBehaviour): void => {
    writeFileSync(behaviourFile, JSON.stringify(behaviour))
  }
  behave(options.behaviour ?? {})
  writeFileSync(path, `#!/bin/sh\nexec ${words.join(" ")} "$@"\n`)
  chmodSync(path, 0o755)
  return { path, calls: () => readCalls(`${path}.calls.jsonl`), behave }
}

const readCalls = (file: string): readonly PretendCall[] => {
  if (!existsSync(file)) return []
  const calls = new Map<number, PretendCall>()
  for (const line of readFileSync(file, "utf8").split("\n").filter(Boolean)) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by play.entry.ts
    const part = JSON.parse(line) as PretendCall
    calls.set(part.pid, { ...calls.get(part.pid), ...part })
  }
  return [...calls.values()]
}
