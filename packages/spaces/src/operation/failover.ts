/**
 * Which other harnesses may carry out a run, and how each would. Decided before the launch, like everything else in a
 * plan, so that an unknown name is refused before anything begins.
 */
import { Failure, nearest } from "@meridian/protocol"

import type { Config } from "../domain/config-option.ts"
import { parseSeconds } from "../domain/duration.ts"
import { ECHO_MODEL } from "../domain/provider-preset.ts"
import { HARNESS_IDS, isAcp, type HarnessId } from "../port/harness.ts"
import type { LoadedConfig } from "../store/config-file.ts"
import { findBinary, missingBinary } from "./find-binary.ts"
import { binaryOf, launchParts } from "./launch-parts.ts"
import { prepare, type Prepared, type PrepareRequest } from "./prepare.ts"
import type { Alternative, Failover } from "./run-plan.ts"
import { harnessEntry } from "./state.ts"
import type { World } from "./world.ts"

/** Undefined: the run waits for its own harness. */
export const prepareFailover = async (
  wish: {
    /** `--failover`, or undefined without it. */
    readonly asked: readonly string[] | undefined
    readonly request: PrepareRequest
    readonly prepared: Prepared
  },
  loaded: LoadedConfig,
  world: World,
): Promise<Failover | undefined> => {
  const { config } = loaded
  const named = readNames(wish.asked ?? config["runs.failover"], wish.asked === undefined, world)
  const own = wish.prepared.harness.id
  const order = named.includes(own) ? named : [own, ...named]
  const others: Alternative[] = []
  for (const id of order) {
    if (id === own) continue
    const other = await alternative(id, wish.request, loaded, world)
    if (other !== undefined) others.push(other)
  }
  if (others.length === 0) return undefined
  const able = new Set([own, ...others.map(({ harness }) => harness)])
  return {
    order: order.filter((id) => able.has(id)),
    others,
    afterMs: (parseSeconds(config["runs.failover_after"]) ?? 0) * 1000,
  }
}

const readNames = (
  names: readonly string[],
  isConfigured: boolean,
  world: Pick<World, "harnesses" | "program">,
): readonly HarnessId[] => {
  const read = names.map((name): HarnessId => {
    const known = isAcp(name) ? name : HARNESS_IDS.find((id) => id === name)
    if (known !== undefined && harnessEntry(world, known) !== undefined) return known
    const suggestion = nearest(name, HARNESS_IDS)
    throw new Failure("FAILOVER_UNKNOWN", {
      harness: name,
      where: isConfigured ? "runs.failover" : "--failover",
      known: [...HARNESS_IDS, "acp:NAME"].join(", "),
      ...(suggestion === undefined ? {} : { suggestion }),
    })
  })
  return [...new Set(read)]
}

/** The launch of a user who requests this harness and nothing else. If that would fail, undefined with a warning. */
const alternative = async (
  id: HarnessId,
  request: PrepareRequest,
  loaded: LoadedConfig,
  world: World,
): Promise<Alternative | undefined> => {
  const { recorded, ...asked } = request
  const prepared = await prepare(
    {
      ...asked,
      model: undefined,
      harness: id,
      ...(recorded === undefined ? {} : { recorded: { ...recorded, harness: id, model: "" } }),
    },
    loaded,
    // Its warnings were already given for the first harness.
    { ...world, warn: () => undefined },
  )
  const why = unusable(prepared, loaded.config, world)
  if (why !== undefined) {
    world.warn("FAILOVER_UNUSABLE", { harness: prepared.entry.name, why })
    // A missing program can be installed while the run works, but the echo never becomes a real model.
    if (prepared.model === ECHO) return undefined
  }
  return {
    harness: id,
    model: prepared.model,
    agent: prepared.agent,
    prompt: prepared.prompt,
    launch: launchParts(prepared, loaded.config, []),
  }
}

const ECHO = `direct/${ECHO_MODEL}`

const unusable = (
  prepared: Prepared,
  config: Config,
  { env, cwd }: Pick<World, "env" | "cwd">,
): string | undefined => {
  if (prepared.model === ECHO) return "no model of the engine can be used"
  const command = binaryOf(config, prepared)
  return command === undefined || findBinary(command, { env, cwd }) !== undefined
    ? undefined
    : missingBinary(command)
}
