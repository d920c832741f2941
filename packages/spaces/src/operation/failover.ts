/**
 * Which harnesses may carry out a run besides its own, and how each would: decided before the launch, like everything else of a
 * plan, so that a name nobody knows is refused before anything is begun.
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
    /** `--failover`; undefined where nobody gave it. */
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

/** As somebody would launch it who asks for this harness and nothing else; undefined, with a warning, where that is in vain. */
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
    // What it has to say was said for the first harness.
    { ...world, warn: () => undefined },
  )
  const why = unusable(prepared, loaded.config, world)
  if (why !== undefined) {
    world.warn("FAILOVER_UNUSABLE", { harness: prepared.entry.name, why })
    // A program can be installed while the run works; the echo never becomes a model.
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
