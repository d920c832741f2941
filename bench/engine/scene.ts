/** What every engine benchmark needs: a provider in its own process, temporary folders, medians. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface Provider {
  readonly port: number
  /** How long each request since the last call was held, in order. */
  readonly held: () => Promise<readonly number[]>
  readonly close: () => Promise<void>
}

export const startProvider = async (): Promise<Provider> => {
  const child = spawn(process.execPath, ["--conditions=meridian-source", "bench/engine/provider.entry.ts"], {
    stdio: ["pipe", "pipe", "inherit"],
  })
  const [line] = await once(child.stdout, "data")
  const { port } = JSON.parse(String(line)) as { port: number }
  return {
    port,
    held: async () => (await (await fetch(`http://127.0.0.1:${port}/held`)).json()) as readonly number[],
    close: async () => {
      child.kill("SIGTERM")
      await once(child, "exit")
    },
  }
}

export const temporaryFolder = (): { readonly path: string; readonly remove: () => void } => {
  const path = mkdtempSync(join(tmpdir(), "meridian-bench-"))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

export const median = (values: readonly number[]): number =>
  values.toSorted((left, right) => left - right)[values.length >> 1] ?? 0

export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((left, right) => left - right)[
    Math.min(values.length - 1, Math.floor(values.length * share))
  ] ?? 0

export interface Line {
  readonly what: string
  readonly ours: string
  readonly floor: string
  readonly ratio: number
  readonly limit: string
}

export const PROMPT = { text: "p".repeat(200), tool: `use the tool ${"p".repeat(188)}` } as const
export const RESULT = "r".repeat(1_024)
