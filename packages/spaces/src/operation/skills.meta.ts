import { STRING, listOf, objectOf } from "@meridian/protocol"

import { defineMeta } from "./operation.ts"
import { SPACE_FIELD } from "./space-context.ts"

export const SKILLS_LIST = defineMeta({
  name: "skills.list",
  audience: "agent",
  tool: "skills_list",
  summary: "List all skills found in the search paths.",
  fields: { space: SPACE_FIELD },
  output: objectOf({
    skills: listOf(objectOf({ name: STRING, description: STRING, tags: listOf(STRING), path: STRING })),
  }),
})

export const SKILLS_SHOW = defineMeta({
  name: "skills.show",
  audience: "agent",
  tool: "skills_show",
  summary: "Load full SKILL.md content for a skill.",
  fields: {
    name: {
      type: "string",
      description: "Name of the skill.",
      positional: true,
      required: true,
      value: "NAME",
    },
    space: SPACE_FIELD,
  },
  output: objectOf({
    name: STRING,
    description: STRING,
    tags: listOf(STRING),
    path: STRING,
    content: STRING,
  }),
})
