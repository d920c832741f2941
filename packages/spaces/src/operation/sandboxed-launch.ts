/**
 * A launch in the sandbox of its run or conversation. The engine only gets the settings, and sandboxes its own
 * commands.
 */
import { dirname } from "node:path"

import { Failure } from "@meridian/protocol"

import type { SandboxUse } from "../domain/sandbox.ts"
import type { LaunchPlan, LaunchRequest } from "../port/harness.ts"
import type { StatePlace } from "../store/place.ts"
import { findBinary } from "./find-binary.ts"
import { wrapInSandbox } from "./open-sandbox.ts"
import type { World } from "./world.ts"

interface Sandboxed {
  readonly sandbox?: SandboxUse | undefined
}

export const ownSandbox = ({ sandbox }: Sandboxed, harness: string): Pick<LaunchRequest, "sandbox"> =>
  sandbox === undefined || harness !== "direct" ? {} : { sandbox: sandbox.network }

export const sandboxed = async (
  launch: LaunchPlan,
  about: {
    readonly plan: Sandboxed
    readonly harness: string
    readonly place: StatePlace
    readonly env: World["env"]
  },
): Promise<LaunchPlan> => {
  const { plan, harness, place, env } = about
  if (plan.sandbox === undefined || harness === "direct") return launch
  // Another harness may have taken over the run by now.
  if (plan.sandbox.network === "off") throw new Failure("SANDBOX_NETWORK_NEEDED", { harness })
  const command = findBinary(launch.command, { env: { ...env, ...launch.environment }, cwd: launch.cwd })
  const [program = "", ...args] = await wrapInSandbox(
    {
      use: plan.sandbox,
      place,
      env: { ...env, ...launch.environment },
      directory: launch.cwd,
      harness,
      programs: [
        ...(command === undefined ? [] : [command]),
        ...launch.files.map(({ path }) => dirname(path)),
      ],
      isAlone: false,
    },
    [launch.command, ...launch.args],
  )
  return { ...launch, command: program, args }
}
