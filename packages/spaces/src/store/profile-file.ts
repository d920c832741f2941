/**
 * One agent profile or skill on disk, read under the rules for files we did not write: a regular file inside its
 * root, at most 1 MiB, with a bounded front matter.
 */
import { basename, dirname } from "node:path"

import { readWhole } from "@meridian/continuity/files"
import { Failure, isJsonObject } from "@meridian/protocol"

import { readAgentProfile, type AgentProfile } from "../domain/agent-profile.ts"
import { splitFrontMatter } from "../domain/front-matter.ts"
import { LIMIT } from "../domain/limit.ts"
import { readSkill, type Skill } from "../domain/skill-file.ts"

export interface ProfilePath {
  readonly path: string
  /** A link is followed if it ends in here. */
  readonly root: string
}

/** What a scan of many files may cost in total. Reading spends it, and nothing gives it back. */
export interface ReadingBudget {
  bytes: number
  frontMatterBytes: number
}

export const openReadingBudget = (): ReadingBudget => ({
  bytes: LIMIT.profileScanBytes,
  frontMatterBytes: LIMIT.frontMatterScanBytes,
})

/** Undefined if the file does not exist. Throws PROFILE_INVALID for one that cannot be used. */
export const readAgentFile = async (
  place: ProfilePath,
  budget?: ReadingBudget,
): Promise<AgentProfile | undefined> => {
  const file = await readProfileFile(place, budget)
  if (file === undefined) return undefined
  const { path } = place
  const { body, fields } = file
  const read = readAgentProfile({ path, stem: basename(path, ".md"), fields, body })
  if (read.tag === "wrong") throw new Failure("PROFILE_INVALID", { path, problem: read.problem })
  return read.profile
}

/** The same for a SKILL.md. */
export const readSkillFile = async (
  place: ProfilePath,
  budget?: ReadingBudget,
): Promise<Skill | undefined> => {
  const file = await readProfileFile(place, budget)
  return file === undefined
    ? undefined
    : readSkill({ path: place.path, folder: basename(dirname(place.path)), ...file })
}

const readProfileFile = async (
  { path, root }: ProfilePath,
  budget: ReadingBudget = openReadingBudget(),
): Promise<
  | {
      readonly content: string
      readonly body: string
      readonly fields: Readonly<Record<string, unknown>>
    }
  | undefined
> => {
  const found = readWhole(root, path, Math.min(LIMIT.documentBytes, budget.bytes))
  if (found.kind === "absent") return undefined
  if (found.kind === "refused") throw invalid(path, problemOf(found.reason, root))
  const { text: content } = found
  budget.bytes -= Buffer.byteLength(content)
  const { yaml, body } = splitFrontMatter(content)
  if (yaml === undefined) return { content, body, fields: {} }
  if (yaml.length > LIMIT.frontMatterBytes)
    throw invalid(path, `its front matter is larger than ${LIMIT.frontMatterBytes} bytes`)
  budget.frontMatterBytes -= yaml.length
  if (budget.frontMatterBytes < 0)
    throw invalid(path, `there are more than ${LIMIT.frontMatterScanBytes} bytes of front matter in all`)
  return { content, body, fields: await parseYaml(path, yaml) }
}

const problemOf = (reason: string, root: string): string =>
  reason === "outside of the root" ? `it is a link that leads out of ${root}` : reason

const invalid = (path: string, problem: string): Failure => new Failure("PROFILE_INVALID", { path, problem })

/** The first file with a front matter loads the parser. Without its check for duplicate keys it is linear. */
const parseYaml = async (path: string, source: string): Promise<Readonly<Record<string, unknown>>> => {
  const { parse, YAMLParseError } = await import("yaml")
  try {
    const value: unknown = parse(source, { maxAliasCount: 100, logLevel: "error", uniqueKeys: false })
    return isJsonObject(value) ? value : {}
  } catch (error) {
    const line = error instanceof YAMLParseError ? error.linePos?.[0].line : undefined
    const message = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)
    const problem = `front matter is not valid YAML${line === undefined ? "" : ` (line ${line + 1})`}: ${message.replace(/ at line \d+, column \d+:?$/, "")}`
    throw new Failure("PROFILE_INVALID", { path, problem }, { cause: error })
  }
}
