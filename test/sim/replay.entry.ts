/**
 * Walks the worlds of some seeds and prints a digest of everything logged for each. Two runs print the same lines, because
 * only the seed decides what happens. `--log` prints the log itself.
 */
// Loaded now: reading it from a disk later would take an unpredictable time.
// oxlint-disable-next-line import/no-unassigned-import -- only its being loaded counts
import "@cfworker/json-schema"
import { createHash } from "node:crypto"

import { walkWorld } from "./engine-world.ts"

const [, , base = "", store, first = "1", last = "1", option] = process.argv
for (let seed = Number(first); seed <= Number(last); seed += 1) {
  const walked = await walkWorld(seed, base, store === "memory" ? "memory" : "sqlite")
  const { broken } = walked
  // Only the world's place differs.
  const log = walked.log.replaceAll(base, "world")
  const digest = createHash("sha256").update(log).digest("hex")
  process.stdout.write(`${seed} ${log.length} ${digest} ${broken.join("; ")}\n`)
  if (option === "--log") process.stdout.write(`${log}\n`)
}
