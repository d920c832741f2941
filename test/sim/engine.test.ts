/**
 * Seeded walks through the engine, compared with a simple model. A failure prints its seed. MERIDIAN_SIM_SEED=n replays it;
 * MERIDIAN_SIM_WALKS=n walks further.
 */
import { rmSync } from "node:fs"
import { join } from "node:path"

import { afterAll, beforeAll, expect, test } from "vitest"

import { makeDirectory } from "../engine-scene.ts"
import { STORES } from "../engine-stored.ts"
import { walkWorld, WALKS_PER_WORLD } from "./engine-world.ts"

/* oxlint-disable node/no-process-env -- the two switches of this test */
const only = process.env["MERIDIAN_SIM_SEED"]
const walks = Number(process.env["MERIDIAN_SIM_WALKS"] ?? 1_000)
/* oxlint-enable node/no-process-env */

let home = ""
beforeAll(() => {
  home = makeDirectory()
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

test.each(STORES)(
  `${only === undefined ? `${walks} random walks` : `the walk of seed ${only}`} over the %s store keep every law`,
  { timeout: 60_000 + walks * 100 },
  async (store) => {
    const worlds = Math.ceil(walks / WALKS_PER_WORLD)
    const seeds =
      only === undefined ? Array.from({ length: worlds }, (_, index) => index + 1) : [Number(only)]
    let deaths = 0
    for (const seed of seeds) {
      const world = await walkWorld(seed, join(home, "world"), store).catch((cause: unknown) => {
        throw new Error(`MERIDIAN_SIM_SEED=${seed} replays it`, { cause })
      })
      deaths += world.deaths
      expect(world.broken, `MERIDIAN_SIM_SEED=${seed} replays it`).toEqual([])
    }
    process.stdout.write(
      `simulation: ${seeds.length * WALKS_PER_WORLD} walks over ${store}, ${deaths} deaths, 0 broken laws\n`,
    )
  },
)
