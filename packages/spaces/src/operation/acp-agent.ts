/** The command of an agent that speaks the Agent Client Protocol, from the user's own configuration. */
import { Failure } from "@meridian/protocol"

import { ACP_PREFIX, type AcpHarness } from "../port/harness.ts"
import type { LoadedConfig } from "../store/config-file.ts"
import { userConfigFile } from "../store/user-place.ts"
import { readConfig } from "./config.ts"
import { findBinary } from "./find-binary.ts"
import type { World } from "./world.ts"

type AcpCommand = readonly [string, ...(readonly string[])]

/** Throws ACP_AGENT_UNKNOWN, and HARNESS_NOT_INSTALLED if its program is missing. */
export const acpCommand = (
  id: AcpHarness,
  { acpAgents }: Pick<LoadedConfig, "acpAgents">,
  { env, cwd }: Pick<World, "env" | "cwd">,
): AcpCommand => {
  const name = id.slice(ACP_PREFIX.length)
  const command = acpAgents.get(name)
  if (command === undefined)
    throw new Failure("ACP_AGENT_UNKNOWN", {
      name,
      known: [...acpAgents.keys()].join(", "),
      file: userConfigFile(env) ?? "your configuration",
    })
  if (findBinary(command[0], { env, cwd }) === undefined)
    throw new Failure("HARNESS_NOT_INSTALLED", { harness: id, command: command[0] })
  return command
}

/** The same, for a caller that has not read the configuration. */
export const readAcpCommand = async (id: AcpHarness, world: World): Promise<AcpCommand> =>
  acpCommand(id, await readConfig(world), world)
