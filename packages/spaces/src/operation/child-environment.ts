/** The variables a harness gets. It inherits everything of ours, except variables that described the launcher itself. */
import type { ChatId, RunId } from "@meridian/protocol"

import type { PermissionTier } from "../domain/tier.ts"
import type { LaunchPlan } from "../port/harness.ts"
import type { StatePlace, SpacePlace } from "../store/place.ts"
import { RUN_MARK } from "../store/run-liveness.ts"
import { TIER_VARIABLE } from "./parent.ts"

type Environment = Readonly<Record<string, string | undefined>>

export const chatEnvironment = (options: {
  readonly env: Environment
  readonly place: StatePlace
  readonly space: SpacePlace
  readonly chat: ChatId
  readonly plan: Pick<LaunchPlan, "command" | "environment">
  readonly tier: PermissionTier | undefined
  /** See `looking-git.ts`. */
  readonly git: Environment
}): Record<string, string> =>
  overlay(
    options.env,
    options.git,
    {
      MERIDIAN_SPACE_ID: options.space.id,
      MERIDIAN_SPACE_FS: options.space.fs,
      MERIDIAN_CHAT_ID: options.chat,
      MERIDIAN_SESSION_ID: options.chat,
      MERIDIAN_HARNESS_COMMAND: options.plan.command,
      MERIDIAN_STATE_ROOT: options.place.root,
      MERIDIAN_REPO_ROOT: options.place.project,
      MERIDIAN_PARENT_RUN_ID: undefined,
      [TIER_VARIABLE]: options.tier,
      [RUN_MARK]: undefined,
    },
    options.plan.environment,
  )

export const runEnvironment = (
  options: Parameters<typeof chatEnvironment>[0] & {
    readonly run: RunId
    readonly depth: number
    readonly report: string
  },
): Record<string, string> => ({
  ...chatEnvironment(options),
  MERIDIAN_DEPTH: String(options.depth + 1),
  MERIDIAN_PARENT_RUN_ID: options.run,
  [RUN_MARK]: options.report,
})

/** A background worker is not part of the run it was started from: that run's end must not end it. */
export const workerEnvironment = (env: Environment): Record<string, string> =>
  overlay(env, { [RUN_MARK]: undefined })

/** A supervisor belongs to no run and no chat, so no parent's rights bound it: it only carries out sealed plans. */
export const supervisorEnvironment = (
  env: Environment,
  place: Pick<StatePlace, "root" | "project">,
): Record<string, string> => {
  const own = workerEnvironment(env)
  for (const name of PERSONAL) delete own[name]
  return { ...own, MERIDIAN_STATE_ROOT: place.root, MERIDIAN_REPO_ROOT: place.project }
}

const PERSONAL = [
  "MERIDIAN_SPACE_ID",
  "MERIDIAN_CHAT_ID",
  "MERIDIAN_SESSION_ID",
  "MERIDIAN_PARENT_RUN_ID",
  "MERIDIAN_DEPTH",
  "MERIDIAN_TIER",
  "MERIDIAN_SPACE_FS",
]

/** Later layers win; `undefined` removes a variable. */
export const overlay = (...layers: readonly Environment[]): Record<string, string> => {
  const result: Record<string, string> = {}
  for (const [key, value] of layers.flatMap((layer) => Object.entries(layer))) {
    if (value === undefined) delete result[key]
    else result[key] = value
  }
  return result
}
