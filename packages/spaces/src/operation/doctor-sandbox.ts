/** Whether this machine can keep agents in a sandbox: makes one and throws it away. */
import type { TypeOf } from "@meridian/protocol"

import { findBubblewrap } from "../store/bubblewrap.ts"
import type { DOCTOR } from "./doctor.meta.ts"
import type { World } from "./world.ts"

export type SandboxReport = TypeOf<typeof DOCTOR.output>["sandbox"]

export const checkSandbox = async ({ env }: Pick<World, "env">): Promise<SandboxReport> => {
  const found = await findBubblewrap(env, "off")
  return found.tag === "usable"
    ? { usable: true, program: found.program }
    : { usable: false, problem: found.why, next: found.next }
}

export const sandboxLine = ({ program, problem, next }: SandboxReport): string =>
  problem === undefined
    ? `sandbox: ${program} can make one; 'meridian run spawn --sandbox', or sandbox.mode in your configuration`
    : `sandbox: none: ${problem}; ${next}`
