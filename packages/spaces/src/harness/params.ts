/**
 * `params`: the words a person gave for the harness itself. They are recorded with the chat, and a continuation
 * starts from the recorded ones. Pure functions over lists of words.
 */
import type { Harness, HarnessId, PlanWarning } from "../port/harness.ts"
import { type Flag, flagOf, harnessesWith } from "./flags.ts"

/** One flag with its values, or one word that belongs to no flag. */
export interface ParamGroup {
  readonly flag?: string
  readonly words: readonly string[]
  /** Known only to other harnesses. */
  readonly foreign: boolean
}

export interface FittedParams {
  readonly args: readonly string[]
  readonly groups: readonly ParamGroup[]
  readonly warnings: readonly PlanWarning[]
}

/**
 * The params this harness can take. A flag that only another harness knows is left out with its values, and warned
 * about.
 */
export const fitParams = (harness: Pick<Harness, "id" | "name">, params: readonly string[]): FittedParams => {
  const groups = groupParams(harness.id, params)
  const own = groups.filter((group) => !group.foreign)
  const foreign = new Set(groups.filter((group) => group.foreign).map((group) => group.flag ?? ""))
  return {
    args: own.flatMap((group) => group.words),
    groups: own,
    warnings: [...foreign].map((flag) => ({
      code: "UNSUPPORTED_FLAG",
      facts: { flag, harness: harness.name },
    })),
  }
}

/**
 * Recorded params are defaults: an explicit flag replaces the recorded one of the same name, and other flags are
 * added. Recorded words without a flag are dropped: they were the first message, which the conversation already has.
 */
export const mergeParams = (
  harness: HarnessId,
  recorded: readonly string[],
  explicit: readonly string[],
): readonly string[] => {
  const given = groupParams(harness, explicit)
  const replaced = new Set(given.map((group) => identity(harness, group)))
  const kept = groupParams(harness, recorded)
    .filter((group) => group.flag !== undefined)
    .filter((group) => !replaced.has(identity(harness, group)))
  return [...kept, ...given].flatMap((group) => group.words)
}

/** The value of a flag among fitted params. The last one counts. */
export const valueOf = (groups: readonly ParamGroup[], ...names: readonly string[]): string | undefined => {
  const group = groups.findLast(({ flag }) => flag !== undefined && names.includes(flag))
  const [first = "", second] = group?.words ?? []
  const equals = first.indexOf("=")
  return equals === -1 ? second : first.slice(equals + 1)
}

export const without = (groups: readonly ParamGroup[], ...names: readonly string[]): readonly ParamGroup[] =>
  groups.filter(({ flag }) => flag === undefined || !names.includes(flag))

export const groupParams = (harness: HarnessId, params: readonly string[]): readonly ParamGroup[] => {
  const groups: ParamGroup[] = []
  for (let at = 0; at < params.length;) {
    const word = params[at] ?? ""
    if (word === "--") {
      groups.push({ words: params.slice(at), foreign: false })
      break
    }
    const name = /^--?[A-Za-z][^=]*/.exec(word)?.[0]
    const own = name === undefined ? undefined : flagOf(harness, name)
    const [elsewhere] = name === undefined || own !== undefined ? [] : harnessesWith(name)
    const flag = own ?? (elsewhere === undefined || name === undefined ? undefined : flagOf(elsewhere, name))
    const size = 1 + valuesAfter(flag ?? (name === undefined ? NO_FLAG : UNKNOWN_FLAG), params, at)
    groups.push({
      ...(name === undefined ? {} : { flag: own?.name ?? name }),
      words: params.slice(at, at + size),
      foreign: own === undefined && flag !== undefined,
    })
    at += size
  }
  return groups
}

const NO_FLAG: Flag = { name: "", values: "none" }
/** For a flag that no harness knows: the word after it is more likely its value than a message. */
const UNKNOWN_FLAG: Flag = { name: "", values: "optional" }

const valuesAfter = (flag: Flag, params: readonly string[], at: number): number => {
  if ((params[at] ?? "").includes("=") || flag.values === "none") return 0
  const next = params[at + 1]
  if (next === undefined) return 0
  if (flag.values === "one") return 1
  if (flag.values === "optional") return next.startsWith("-") ? 0 : 1
  const end = params.findIndex((word, index) => index > at && word.startsWith("-"))
  return (end === -1 ? params.length : end) - at - 1
}

/**
 * Codex takes `-c key=value` many times, and each key is a separate setting. The same holds for directories and
 * images.
 */
const identity = (harness: HarnessId, group: ParamGroup): string => {
  if (group.flag === undefined) return `word ${group.words.join(" ")}`
  if (harness === "codex" && group.flag === "--config") return `config ${settingKey(group.words)}`
  return ADDING.has(group.flag) ? `word ${group.words.join(" ")}` : group.flag
}

const settingKey = ([flag = "", value = ""]: readonly string[]): string =>
  (flag.includes("=") ? flag.slice(flag.indexOf("=") + 1) : value).split("=")[0] ?? ""

const ADDING = new Set(["--add-dir", "--image", "--enable", "--disable", "--file", "--plugin-dir", "--cors"])
