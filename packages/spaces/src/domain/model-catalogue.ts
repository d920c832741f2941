/**
 * Models by id, each with the harness that runs it. The built-in table is a start; `.meridian/models.toml` adds to it and
 * replaces rows of the same id:
 *
 *   [[models]]                     or   [models."glm-5"]
 *   id = "glm-5"                        harness = "opencode"
 *   harness = "opencode"                harness_model = "zai/glm-5"
 *   aliases = ["glm"]
 */
import { isJsonObject } from "@meridian/protocol"

/** The same words as the port's `HarnessId`. The port may import the domain, not the other way round. */
const HARNESSES = ["claude", "codex", "opencode", "direct"] as const
export type HarnessName = (typeof HARNESSES)[number]

export interface Model {
  readonly id: string
  readonly aliases: readonly string[]
  readonly harness: HarnessName
  /** The harness's own name for it, if that differs from the id. */
  readonly harnessModel?: string
  /** The reasoning effort contained in the model's name (`gpt-5.2-high`). */
  readonly effort?: string
  readonly role?: string
  readonly strengths?: string
  readonly costTier?: string
}

export const BUILT_IN_MODELS: readonly Model[] = [
  {
    id: "claude-opus-4-6",
    aliases: ["opus"],
    harness: "claude",
    role: "Default / all-rounder",
    strengths: "Long tasks, planning, code review, judgement",
    costTier: "$$$",
  },
  {
    id: "claude-sonnet-4-6",
    aliases: ["sonnet"],
    harness: "claude",
    role: "Fast generalist",
    strengths: "Everyday changes at a good price",
    costTier: "$$",
  },
  {
    id: "claude-haiku-4-5",
    aliases: ["haiku"],
    harness: "claude",
    role: "Quick transforms",
    strengths: "Small, well described edits and look-ups",
    costTier: "$",
  },
  {
    id: "gpt-5.3-codex",
    aliases: ["codex"],
    harness: "codex",
    role: "Executor / correctness",
    strengths: "Carrying out a plan, tests, careful edits",
    costTier: "$",
  },
  {
    id: "gpt-5.2-high",
    aliases: ["gpt52h"],
    harness: "codex",
    harnessModel: "gpt-5.2",
    effort: "high",
    role: "Escalation solver",
    strengths: "Hard bugs, second opinions",
    costTier: "$$",
  },
  {
    id: "gemini-3.1-pro",
    aliases: ["gemini"],
    harness: "opencode",
    harnessModel: "google/gemini-3.1-pro",
    role: "Researcher / multimodal",
    strengths: "Reading much at once, images",
    costTier: "$$",
  },
]

export interface DuplicateAlias {
  readonly alias: string
  readonly kept: string
  readonly dropped: string
}

/**
 * User rows replace built-in rows of the same id. An alias given twice stays with the first model in id order. The
 * user's rows come before the built-in ones, because a name the user wrote is meant.
 */
export const mergeModels = (
  user: readonly Model[],
  builtIn: readonly Model[] = BUILT_IN_MODELS,
): { readonly models: readonly Model[]; readonly duplicates: readonly DuplicateAlias[] } => {
  const byId = new Map([...builtIn, ...user].map((model) => [model.id, model]))
  const userIds = new Set(user.map((model) => model.id))
  const owners = new Map<string, Model>()
  const duplicates: DuplicateAlias[] = []
  const inOrder = [...byId.values()].toSorted((left, right) => (left.id < right.id ? -1 : 1))
  for (const model of [
    ...inOrder.filter(({ id }) => userIds.has(id)),
    ...inOrder.filter(({ id }) => !userIds.has(id)),
  ])
    for (const alias of model.aliases) {
      const owner = owners.get(alias)
      if (owner === undefined) owners.set(alias, model)
      else if (owner !== model) duplicates.push({ alias, kept: owner.id, dropped: model.id })
    }
  const ownAliases = (model: Model): Model => ({
    ...model,
    aliases: model.aliases.filter((alias) => owners.get(alias) === model && !byId.has(alias)),
  })
  return { models: [...byId.values()].map(ownAliases), duplicates }
}

export type ModelRow =
  | { readonly tag: "model"; readonly model: Model }
  | { readonly tag: "wrong"; readonly key: string; readonly expected: string; readonly got: unknown }

/** A row of models.toml. `id` is the name of its table, if it has one. */
export const readModelRow = (row: unknown, id: string | undefined): ModelRow => {
  if (!isJsonObject(row)) return { tag: "wrong", key: id ?? "models", expected: "a table", got: row }
  const text = (key: string): string | undefined => (typeof row[key] === "string" ? row[key] : undefined)
  const badText = TEXT_KEYS.find((key) => row[key] !== undefined && typeof row[key] !== "string")
  if (badText !== undefined) return { tag: "wrong", key: badText, expected: "a text", got: row[badText] }
  const named = text("model_id") ?? text("id") ?? id
  if (named === undefined || named === "") return { tag: "wrong", key: "id", expected: "a text", got: named }
  const aliases = row["aliases"] ?? []
  if (!Array.isArray(aliases) || !aliases.every((alias) => typeof alias === "string"))
    return { tag: "wrong", key: "aliases", expected: "a list of texts", got: aliases }
  const harness = text("harness") ?? harnessByName(named)
  const known = HARNESSES.find((candidate) => candidate === harness)
  if (known === undefined)
    return { tag: "wrong", key: "harness", expected: `one of ${HARNESSES.join(", ")}`, got: harness }
  const optional = {
    harnessModel: text("harness_model"),
    effort: text("effort"),
    role: text("role"),
    strengths: text("strengths"),
    costTier: text("cost_tier"),
  }
  return { tag: "model", model: { id: named, aliases, harness: known, ...present(optional) } }
}

/** The harness a name seems to belong to, for models that no table lists. */
export const harnessByName = (name: string): HarnessName | undefined => {
  if (name.startsWith("direct/")) return "direct"
  if (name.includes("/") || /^(opencode-|gemini-)/.test(name)) return "opencode"
  if (name.startsWith("claude-")) return "claude"
  return /^(gpt-|codex-|o[134](-|$))/.test(name) ? "codex" : undefined
}

const TEXT_KEYS = [
  "model_id",
  "id",
  "harness",
  "harness_model",
  "effort",
  "role",
  "strengths",
  "cost_tier",
] as const

const present = <T extends Readonly<Record<string, string | undefined>>>(
  fields: T,
): { readonly [Key in keyof T]?: string } =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same keys, without those that are undefined
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    readonly [Key in keyof T]?: string
  }
