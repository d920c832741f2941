/**
 * What `import "@meridian/engine"` loads once it is built. It refuses an old Node in one sentence; the engine itself would
 * fail on the first builtin that is missing there.
 */
import { nodeTooOld } from "@meridian/protocol/node-version"

const refusal = nodeTooOld(process.versions.node)
if (refusal !== undefined) throw new Error(refusal)

export const { openEngine } = await import("./index.ts")
