/** `skill`: the full text of a skill that the model was told about. */
import { described, objectOf } from "@meridian/protocol"

import { SOME_TEXT, toolInput } from "../port/tool-input.ts"
import { ToolError, type BuiltinTool } from "../port/tool.ts"

export interface SkillOptions {
  readonly skills: {
    readonly list: () => readonly { readonly name: string; readonly path: string; readonly body: string }[]
  }
}

const INPUT = toolInput(objectOf({ name: described(SOME_TEXT, "The skill's name") }))

export const SKILL: BuiltinTool<SkillOptions> = {
  name: "skill",
  traits: { kind: "read", keepsResults: true, changes: "none", looking: { at: "session" } },
  open: ({ skills }) => ({
    advertisement: {
      name: "skill",
      description: "Loads the full text of one of the skills you were told about.",
      input: INPUT.schema,
    },
    execute: async (input, scene) => {
      const { name } = INPUT.decode(input)
      const skill = skills.list().find((candidate) => candidate.name === name)
      if (skill === undefined)
        // Does not list the skills, because some may be hidden from this agent.
        throw new ToolError(
          "not-found",
          `There is no skill ${JSON.stringify(name.slice(0, 100))}. Those you were told about are all there are.`,
        )
      await scene.ask({ action: "skill", resources: [name], title: `Load the skill ${name}` })
      return {
        content: [{ type: "text", text: `Skill ${skill.name} (${skill.path}):\n\n${skill.body.trim()}` }],
      }
    },
  }),
}
