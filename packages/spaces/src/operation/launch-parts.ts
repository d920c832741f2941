/** The parts of a launch that stay the same for all attempts, and the program it starts. */
import type { Config } from "../domain/config-option.ts"
import { isAcp } from "../port/harness.ts"
import type { Prepared } from "./prepare.ts"
import { sparse } from "./run-document.ts"
import type { RunPlan } from "./run-plan.ts"

export const launchParts = (
  prepared: Prepared,
  config: Config,
  params: readonly string[],
): RunPlan["launch"] =>
  sparse({
    binary: binaryOf(config, prepared),
    model: prepared.harnessModel,
    instructions: prepared.instructions,
    instructionsChanged: prepared.instructionsChanged ? true : undefined,
    agent: prepared.nativeAgent,
    permission: prepared.permission,
    allowedTools: prepared.allowedTools,
    effort: prepared.effort,
    params,
  })

/** Undefined if the harness is this program itself. */
export const binaryOf = (config: Config, { entry }: Pick<Prepared, "entry">): string | undefined =>
  entry.id === "direct" || isAcp(entry.id) ? undefined : config[`harness.${entry.id}`]
