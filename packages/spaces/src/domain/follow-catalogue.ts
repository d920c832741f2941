/**
 * Aliases that mean "the newest of its kind" (`opus`, `codex`) follow the catalogue of models. The built-in rows only
 * hold what was newest when they were written. Pure.
 */
import type { Model } from "./model-catalogue.ts"

interface Family {
  /** One of its aliases names the family. */
  readonly alias: string
  /**
   * Matches a member's `provider/model`; its groups are the parts of the version. Previews with their own date do not
   * match.
   */
  readonly member: RegExp
}

const FAMILIES: readonly Family[] = [
  { alias: "opus", member: /^anthropic\/claude-opus-(\d{1,2})(?:-(\d{1,2}))?$/ },
  { alias: "sonnet", member: /^anthropic\/claude-sonnet-(\d{1,2})(?:-(\d{1,2}))?$/ },
  { alias: "haiku", member: /^anthropic\/claude-haiku-(\d{1,2})(?:-(\d{1,2}))?$/ },
  { alias: "codex", member: /^openai\/gpt-(\d{1,2})(?:\.(\d{1,2}))?-codex$/ },
  { alias: "gemini", member: /^google\/gemini-(\d{1,2})(?:\.(\d{1,2}))?-pro(?:-preview)?$/ },
]

/**
 * The same rows. If the catalogue knows a newer member of a family, that one comes before the old row and takes over
 * its aliases.
 */
export const followCatalogue = (models: readonly Model[], known: Iterable<string>): readonly Model[] => {
  const ids = [...known]
  return models.flatMap((model) => {
    const family = FAMILIES.find(({ alias }) => model.aliases.includes(alias))
    const newest = family === undefined ? undefined : newestOf(family, ids)
    return newest === undefined || isNamed(model, newest) ? [model] : [successor(model, newest), past(model)]
  })
}

const newestOf = ({ member }: Family, ids: readonly string[]): string | undefined => {
  const members = ids.flatMap((id) => {
    const match = member.exec(id)
    return match === null ? [] : [{ id, major: Number(match[1]), minor: Number(match[2] ?? 0) }]
  })
  return members.toSorted((left, right) => left.major - right.major || left.minor - right.minor).at(-1)?.id
}

const isNamed = (model: Model, id: string): boolean =>
  nameOf(id) === model.id && id === (model.harnessModel ?? id)

const nameOf = (id: string): string => id.slice(id.indexOf("/") + 1)

/** A harness that names models with their provider keeps doing so. */
const successor = (model: Model, newest: string): Model => ({
  ...model,
  id: nameOf(newest),
  ...(model.harnessModel === undefined ? {} : { harnessModel: newest }),
})

const past = ({ role: _role, strengths: _strengths, ...model }: Model): Model => ({
  ...model,
  aliases: [],
  role: "Earlier version",
})
