/** Every agent profile of the project and the user, as `-a NAME` would find them: the nearest of each name. */
import type { AgentProfile } from "../domain/agent-profile.ts"
import { openPlace } from "../store/place.ts"
import { listAgents } from "../store/profiles.ts"
import { profileRequest } from "./agents-launch.ts"
import { readConfig } from "./config.ts"
import type { World } from "./world.ts"

export const readAgentProfiles = async (world: World): Promise<readonly AgentProfile[]> => {
  const { config } = await readConfig(world)
  const place = openPlace(world.env, world.cwd)
  const { found } = await listAgents(profileRequest({ place, config, world }))
  const byName = new Map<string, AgentProfile>()
  for (const profile of found) if (!byName.has(profile.name)) byName.set(profile.name, profile)
  return [...byName.values()]
}
