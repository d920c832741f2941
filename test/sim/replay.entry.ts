/**
 * Walks the worlds of some seeds and prints, for each, a digest of everything that was logged. Whoever runs it twice gets the
 * same lines: nothing but the seed decides what happens. `--log` prints the log itself.
 */
// Loaded now: later it would be read from a disk, which takes as long as it takes.
// oxlint-disable-next-line import/no-unassigned-import -- only its being loaded counts
import "@cfworker/json-schema"
import { createHash } from "node:crypto"

import { walkWorld } from "./engine-world.ts"

const [, , base = "", store, first = "1", last = "1", option] = process.argv
for (let seed = Number(first); seed <= Number(last); seed += 1) {
  const walked = await walkWorld(seed, base, store === "memory" ? "memory" : "sqlite")
  const { broken } = walked
  // Where the world lies is the one thing that differs.
  const log = walked.log.replaceAll(base, "world")
  const digest = createHash("sha256").update(log).digest("hex")
  process.stdout.write(`${seed} ${log.length} ${digest} ${broken.join("; ")}\n`)
  if (option === "--log") process.stdout.write(`${log}\n`)
}
