/** `meridian skills list|show`: a scan of the search paths every time. */
import { Failure, nearest, oneLine } from "@meridian/protocol"

import type { Skill } from "../domain/skill-file.ts"
import { openPlace } from "../store/place.ts"
import { listSkills } from "../store/profiles.ts"
import { profileRequest } from "./agents-launch.ts"
import { readConfig } from "./config.ts"
import { implement } from "./operation.ts"
import { SKILLS_LIST, SKILLS_SHOW } from "./skills.meta.ts"
import { requireSpace } from "./space-context.ts"
import { columns } from "./text-table.ts"
import type { World } from "./world.ts"

export const skillsList = implement(SKILLS_LIST, {
  run: async ({ space }, world) => {
    requireSpace(space, world)
    const skills = await readSkills(world)
    return { skills: skills.map(({ name, description, tags, path }) => ({ name, description, tags, path })) }
  },
  text: ({ skills }) =>
    skills.length === 0
      ? "(no skills)"
      : columns(skills.map(({ name, description }) => [name, oneLine(description)])),
})

export const skillsShow = implement(SKILLS_SHOW, {
  run: async ({ name, space }, world) => {
    requireSpace(space, world)
    const skills = await readSkills(world)
    const skill = skills.find((candidate) => candidate.name === name)
    if (skill !== undefined)
      return {
        name: skill.name,
        description: skill.description,
        tags: skill.tags,
        path: skill.path,
        content: skill.content,
      }
    const suggestion = nearest(
      name,
      skills.map((candidate) => candidate.name),
    )
    throw new Failure("SKILL_NOT_FOUND", {
      skills: name,
      ...(suggestion === undefined ? {} : { suggestion }),
    })
  },
  text: ({ name, description, content }) => `${name}: ${oneLine(description)}\n\n${content}`,
})

const readSkills = async (world: World): Promise<readonly Skill[]> => {
  const { config } = await readConfig(world)
  const place = openPlace(world.env, world.cwd)
  const { found, warnings } = await listSkills(profileRequest({ place, config, world }))
  for (const { code, facts } of warnings) world.warn(code, facts)
  return found
}
