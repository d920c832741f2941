/**
 * What `import "@meridian/engine"` loads after the build. It refuses an old Node in one sentence; the engine itself would
 * fail on the first missing builtin.
 */
import { nodeTooOld } from "@meridian/protocol/node-version"

const refusal = nodeTooOld(process.versions.node)
if (refusal !== undefined) throw new Error(refusal)

export const { openEngine } = await import("./index.ts")
