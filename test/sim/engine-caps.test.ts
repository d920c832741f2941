/**
 * The walks of `engine.test.ts` under caps, over both stores: sessions that loop until their budget stops them, people who raise
 * it, lower it and answer, processes that die in between. MERIDIAN_SIM_SEED=n replays one.
 */
import { rmSync } from "node:fs"
import { join } from "node:path"

import { afterAll, beforeAll, expect, test } from "vitest"

import { makeDirectory } from "../engine-scene.ts"
import { STORES } from "../engine-stored.ts"
import { walkWorld } from "./engine-world.ts"

const CAPS = [
  { maxTurns: 6 },
  { maxTokens: 12_000 },
  { maxCost: 0.03 },
  { maxTurns: 7, maxTimeMs: 400 },
] as const
const WORLDS = 4

// oxlint-disable-next-line node/no-process-env -- the switch of this test
const only = process.env["MERIDIAN_SIM_SEED"]

let home = ""
beforeAll(() => {
  home = makeDirectory()
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

test.each(STORES)(
  "walks under caps over the %s store: no turn begins beyond one, and every breach is a question that outlives restarts",
  { timeout: 180_000 },
  async (store) => {
    const seeds =
      only === undefined ? Array.from({ length: WORLDS }, (_, index) => index + 1) : [Number(only)]
    let questions = 0
    for (const seed of seeds) {
      const world = await walkWorld(seed, join(home, "world"), store, CAPS[seed % CAPS.length])
      expect(world.broken, `MERIDIAN_SIM_SEED=${seed} replays it`).toEqual([])
      questions += world.log.split('"kind":"budget"').length - 1
    }
    expect(questions).toBeGreaterThan(seeds.length)
  },
)
