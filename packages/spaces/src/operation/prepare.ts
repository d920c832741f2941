/**
 * From what was asked to what is launched: which harness, which model, which agent and skills with their files, and the
 * text the harness is given. `start`, `run spawn` and `run continue` all go through here.
 */
import { Failure } from "@meridian/protocol"

import type { Config } from "../domain/config-option.ts"
import type { HarnessEntry } from "../harness/registry.ts"
import type { NativeAgent, PermissionTier } from "../port/harness.ts"
import { harnessesOf } from "./state.ts"
import type { World } from "./world.ts"

export interface PrepareRequest {
  readonly mode: "interactive" | "headless"
  /** What the user wrote: `-m`, `-a`, `-s`, `-f`, `--var`, `-p`, `--permission`. */
  readonly model?: string | undefined
  readonly agent?: string | undefined
  readonly skills: readonly string[]
  readonly files: readonly string[]
  readonly variables: readonly string[]
  readonly prompt?: string | undefined
  readonly permission?: string | undefined
  /** `fs/` of the space, for `-f @name`. */
  readonly spaceFs?: string | undefined
  /** A continuation: what the newest record of the conversation says, used wherever the user wrote nothing. */
  readonly inherited?: Inherited | undefined
}

export interface Inherited {
  readonly harness: string
  readonly model: string
  readonly agent?: string | undefined
  readonly agentPath?: string | undefined
  readonly skills: readonly string[]
  readonly skillPaths: readonly string[]
  readonly permission?: string | undefined
}

export interface Prepared {
  readonly entry: HarnessEntry
  /** As recorded; "" when the harness chooses by itself. */
  readonly model: string
  /** The harness's own name of the model. */
  readonly harnessModel?: string | undefined
  readonly agent?:
    | { readonly name: string; readonly path: string; readonly native?: NativeAgent | undefined }
    | undefined
  readonly skills: readonly { readonly name: string; readonly path: string }[]
  /** Standing text: skills, and the agent's body where the harness knows no agents. */
  readonly instructions?: string | undefined
  /** A continuation whose agent or skills were changed by the user: the standing text must be told again. */
  readonly instructionsChanged: boolean
  /** The message: references, report instruction and the user's words. */
  readonly prompt: string
  readonly permission?: PermissionTier | undefined
  readonly allowedTools?: readonly string[] | undefined
  readonly effort?: string | undefined
}

export const prepare = async (request: PrepareRequest, config: Config, world: World): Promise<Prepared> => {
  const model = request.model ?? request.inherited?.model ?? config["defaults.model"] ?? ""
  const id = request.inherited?.harness ?? config["harness.default"]
  const entry = harnessesOf(world).find((candidate) => candidate.id === id)
  if (entry === undefined) throw new Failure("HARNESS_UNKNOWN", { harness: id })
  return await Promise.resolve({
    entry,
    model,
    harnessModel: model === "" ? undefined : model,
    skills: [],
    instructionsChanged: false,
    prompt: request.prompt ?? "",
  })
}
