/** Only the seed decides what happens in a simulated world: two processes walk it the same way, byte for byte. */
import { execFile } from "node:child_process"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"

import { afterEach, beforeEach, expect, test } from "vitest"

import { makeDirectory } from "../engine-scene.ts"
import { STORES } from "../engine-stored.ts"
import { WALKS_PER_WORLD } from "../sim/engine-world.ts"

let home = ""
beforeEach(() => {
  home = makeDirectory()
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const run = promisify(execFile)
const entry = join(import.meta.dirname, "../sim/replay.entry.ts")

const walk = async (world: string, store: string, worlds: number, signal: AbortSignal): Promise<string> => {
  const { stdout, stderr } = await run(
    process.execPath,
    ["--conditions=meridian-source", entry, join(home, world), store, "1", String(worlds)],
    { signal },
  )
  expect(stderr).toBe("")
  return stdout
}

/** The walks take half a minute of processor time, which is longer on a busy machine. */
const PATIENCE_MS = 600_000

test.for(STORES)(
  "200 walks over the %s store are logged twice the same way",
  { timeout: PATIENCE_MS },
  async (store, { signal }) => {
    const worlds = 200 / WALKS_PER_WORLD
    const walked = (world: string): Promise<string> => walk(world, store, worlds, signal)
    const [first, again] = await Promise.all([walked("first"), walked("again")])
    expect(first.trim().split("\n")).toHaveLength(worlds)
    expect(again).toBe(first)
  },
)
