/** Which checks a run gets: the requested ones, else those of its agent, else those of the configuration. */
import { Failure } from "@meridian/protocol"

import { MOST_CHECK_ROUNDS, MOST_CHECKS, type ChecksPlan } from "../domain/check.ts"
import type { Config } from "../domain/config-option.ts"
import { parseSeconds } from "../domain/duration.ts"
import type { PermissionTier } from "../domain/tier.ts"
import type { InputOf } from "./field.ts"
import type { CHECK_FIELDS } from "./hands-fields.ts"
import type { Prepared } from "./prepare.ts"

export interface ChecksWish {
  /** `given`: the fields the caller set. */
  readonly input: InputOf<typeof CHECK_FIELDS> & { readonly given: ReadonlySet<string> }
  readonly prepared: Pick<Prepared, "checks" | "permission">
  readonly config: Config
  /** The checks of the continued run. */
  readonly inherited?: ChecksPlan | undefined
  readonly parentTier: PermissionTier | undefined
}

/** Undefined if there are none. An empty `--check` requests none. Throws CHECKS_REFUSED. */
export const chooseChecks = ({
  input,
  prepared,
  config,
  inherited,
  parentTier,
}: ChecksWish): ChecksPlan | undefined => {
  const { given } = input
  if (given.has("check") && parentTier === "read-only") throw new Failure("CHECKS_REFUSED")
  const commands = given.has("check") ? input.check : (inherited?.commands ?? configured(prepared, config))
  if ((input.checkRounds ?? 0) > MOST_CHECK_ROUNDS)
    throw new Failure("USAGE", {
      problem: `--check-rounds is at most ${MOST_CHECK_ROUNDS}.`,
      next: "give a smaller number.",
    })
  const asked = [...new Set(commands.map((command) => command.trim()))].filter((command) => command !== "")
  if (asked.length === 0) return undefined
  if (asked.length > MOST_CHECKS)
    throw new Failure("CHECKS_TOO_MANY", { count: asked.length, limit: MOST_CHECKS })
  return {
    commands: asked,
    timeoutMs:
      input.checkTimeout === undefined
        ? (inherited?.timeoutMs ?? (parseSeconds(config["runs.check_timeout"]) ?? 0) * 1000)
        : input.checkTimeout * 1000,
    rounds: Math.min(
      input.checkRounds ?? inherited?.rounds ?? config["runs.check_rounds"],
      MOST_CHECK_ROUNDS,
    ),
    keepVariables: config["tools.keep_variables"],
  }
}

/** A run that changes nothing has nothing to prove, unless checks are requested. */
const configured = ({ checks, permission }: ChecksWish["prepared"], config: Config): readonly string[] => {
  if (checks !== undefined) return checks
  return (permission ?? "read-only") === "read-only" ? [] : config["runs.check"]
}
