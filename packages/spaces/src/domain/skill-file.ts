/** A skill: `<folder>/SKILL.md`, knowledge an agent is given. */
import { textList, textValue } from "./front-matter.ts"

export interface Skill {
  readonly name: string
  /** The absolute path of the SKILL.md. */
  readonly path: string
  readonly description: string
  readonly tags: readonly string[]
  /** The whole file, as it is on disk. */
  readonly content: string
  /** Without front matter: this part goes into a prompt. */
  readonly body: string
}

export const readSkill = (file: {
  readonly path: string
  readonly folder: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly content: string
  readonly body: string
}): Skill => ({
  name: textValue(file.fields["name"]) ?? file.folder,
  path: file.path,
  description: textValue(file.fields["description"]) ?? "",
  tags: textList(file.fields["tags"]),
  content: file.content,
  body: file.body,
})
