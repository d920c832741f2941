/** Takes every available file handle, asks for a brief, releases the handles and asks again. Prints both as JSON. */
import { closeSync, openSync } from "node:fs"

import { readBrief } from "@meridian/continuity"

const root = process.argv[2] ?? "."
// Warms up: the library's own files are loaded before the handles are gone.
await readBrief({ root })
const taken: number[] = []
try {
  for (;;) taken.push(openSync(import.meta.filename, "r"))
} catch {
  const { text, warnings } = await readBrief({ root, clock: () => 0 })
  for (const handle of taken) closeSync(handle)
  const after = await readBrief({ root, clock: () => 0 })
  process.stdout.write(JSON.stringify({ handles: taken.length, text, warnings, after: after.warnings }))
}
