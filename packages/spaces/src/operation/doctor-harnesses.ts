import { resolve } from "node:path"

/** Which harnesses are installed and whether they could work. They are inspected, never started. */
import { type TypeOf } from "@meridian/protocol"

import type { Config } from "../domain/config-option.ts"
import { ECHO_MODEL } from "../domain/provider-preset.ts"
import { ACP_PREFIX, isAcp, type HarnessId } from "../port/harness.ts"
import type { LoadedConfig } from "../store/config-file.ts"
import { installedVersion } from "../store/installed-version.ts"
import { openPlace } from "../store/place.ts"
import { reasonOf } from "./doctor-configuration.ts"
import type { DOCTOR } from "./doctor.meta.ts"
import { findBinary, missingBinary } from "./find-binary.ts"
import { sparse } from "./run-document.ts"
import { harnessesOf } from "./state.ts"
import type { World } from "./world.ts"

export type HarnessReport = TypeOf<typeof DOCTOR.output>["harnesses"][number]

/** Without a readable configuration, each is looked up under its default name. */
export const checkHarnesses = async (
  world: World,
  config: Config | undefined,
  acpAgents: LoadedConfig["acpAgents"] = new Map(),
): Promise<readonly HarnessReport[]> => {
  const reports: HarnessReport[] = []
  for (const { id, binary } of harnessesOf(world))
    reports.push(
      id === "direct"
        ? await checkDirect(world)
        : checkProgram(id, isAcp(id) ? binary : (config?.[`harness.${id}`] ?? binary), world),
    )
  for (const [name, [program]] of acpAgents)
    reports.push(checkProgram(`${ACP_PREFIX}${name}`, program, world))
  return reports
}

export const harnessLine = ({ harness, path, version, model, problem }: HarnessReport): string => {
  if (problem !== undefined) return `harness: ${harness}: ${problem}`
  if (model !== undefined) return `harness: ${harness}: model ${model}`
  return `harness: ${harness}: ${version === undefined ? "" : `${version} at `}${path}`
}

const checkProgram = (harness: HarnessId, command: string, { env, cwd }: World): HarnessReport => {
  const { project } = openPlace(env, cwd)
  const found = findBinary(command, { env, cwd: project })
  if (found === undefined) return { harness, found: false, problem: missingBinary(command) }
  const path = resolve(project, found)
  return sparse({ harness, found: true, path, version: installedVersion(path) })
}

const checkDirect = async (world: World): Promise<HarnessReport> => {
  const path = world.program.at(-1) ?? world.program[0]
  const itself = { harness: "direct" as const, found: true, path, version: installedVersion(path) }
  try {
    const { resolveEngineModels } = await import("./engine-models.ts")
    const { defaultModel, unusable } = await resolveEngineModels(world)
    const usable = defaultModel !== ECHO_MODEL
    const model = `direct/${defaultModel}`
    return sparse({ ...itself, usable, model, problem: usable ? undefined : whyEcho(unusable) })
  } catch (error) {
    return sparse({ ...itself, usable: false, problem: reasonOf(error) })
  }
}

/** Enough to know what to do. Another command shows the whole list. */
const MOST_REASONS = 3

const whyEcho = (unusable: readonly { readonly id: string; readonly why: string }[]): string => {
  const reasons = unusable.slice(0, MOST_REASONS).map(({ id, why }) => `${id}: ${why}; `)
  return `only direct/${ECHO_MODEL} can be used, which repeats what it is told: ${reasons.join("")}'meridian models list' shows all.`
}
