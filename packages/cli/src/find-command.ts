/** Finds the command that the words of a command line mean, and the words left for its own flags. Pure. */
import { nearest } from "@meridian/protocol"
import { flagName, type Field, type Registration } from "@meridian/spaces"

import { GLOBAL_FLAGS } from "./global-flags.ts"

export type Found =
  | { readonly tag: "none"; readonly rest: readonly string[] }
  | { readonly tag: "group"; readonly group: string; readonly rest: readonly string[] }
  | { readonly tag: "command"; readonly command: Registration; readonly rest: readonly string[] }
  | { readonly tag: "unknown"; readonly words: string; readonly suggestion: string | undefined }

export const findCommand = (words: readonly string[], commands: readonly Registration[]): Found => {
  const first = nextWord(words, 0)
  if (first === undefined) return { tag: "none", rest: words }
  const [verb = ""] = words.slice(first)
  const single = commands.find((command) => command.meta.name === verb)
  const members = commands.filter((command) => command.meta.name.startsWith(`${verb}.`))
  if (single !== undefined) {
    // `trust list` is a separate command beside `trust DIR`.
    const next = nextWord(words, first + 1)
    const action = next === undefined ? undefined : words[next]
    const member = members.find((candidate) => candidate.meta.name === `${verb}.${action}`)
    return member === undefined || next === undefined
      ? { tag: "command", command: single, rest: without(words, [first]) }
      : { tag: "command", command: member, rest: without(words, [first, next]) }
  }
  if (members.length === 0)
    return { tag: "unknown", words: verb, suggestion: suggest(verb, commands, undefined) }
  const second = nextWord(words, first + 1)
  const rest = without(words, [first])
  if (second === undefined) {
    const spawn = members.find((command) => command.meta.name === DEFAULT_OF_GROUP[verb])
    return spawn === undefined || !hasOwnFlag(rest)
      ? { tag: "group", group: verb, rest }
      : { tag: "command", command: spawn, rest }
  }
  const [action = ""] = words.slice(second)
  const command = members.find((member) => member.meta.name === `${verb}.${action}`)
  return command === undefined
    ? { tag: "unknown", words: `${verb} ${action}`, suggestion: suggest(action, commands, verb) }
    : { tag: "command", command, rest: without(words, [first, second]) }
}

/** `meridian run -p TEXT` is `meridian run spawn -p TEXT`. */
const DEFAULT_OF_GROUP: Readonly<Record<string, string>> = { run: "run.spawn" }

/** By flag, with dashes. */
const GLOBALS = ((): ReadonlyMap<string, Field> => {
  const flags = new Map<string, Field>()
  for (const [key, field] of Object.entries<Field>(GLOBAL_FLAGS)) {
    flags.set(`--${flagName(key, field)}`, field)
    if (field.short !== undefined) flags.set(`-${field.short}`, field)
  }
  return flags
})()

/** The index of the next word that is not a global flag or its value. Undefined if another flag comes first. */
const nextWord = (words: readonly string[], from: number): number | undefined => {
  for (let index = from; index < words.length; index += 1) {
    const word = words[index] ?? ""
    if (!word.startsWith("-")) return index
    const global = GLOBALS.get(word.split("=", 1)[0] ?? "")
    if (global === undefined) return undefined
    if (global.type === "string" && !word.includes("=")) index += 1
  }
  return undefined
}

const hasOwnFlag = (words: readonly string[]): boolean =>
  words.some((word) => word.startsWith("-") && !GLOBALS.has(word.split("=", 1)[0] ?? "")) &&
  !words.includes("--help") &&
  !words.includes("-h")

const without = (words: readonly string[], places: readonly number[]): readonly string[] =>
  words.filter((_, index) => !places.includes(index))

/** The nearest whole command. A bare action (`spawn`) finds its group. */
const suggest = (
  typed: string,
  commands: readonly Registration[],
  group: string | undefined,
): string | undefined => {
  const names = commands.filter((command) => command.meta.hidden !== true).map((command) => command.meta.name)
  const within = group === undefined ? names : names.filter((name) => name.startsWith(`${group}.`))
  const byLast = new Map(within.toReversed().map((name) => [name.split(".").at(-1) ?? name, name]))
  const byFirst = new Map(group === undefined ? names.map((name) => [name.split(".")[0] ?? name, name]) : [])
  const exact = byLast.get(typed)
  if (exact !== undefined) return exact.replace(".", " ")
  const first = nearest(typed, byFirst.keys())
  if (first !== undefined) return first
  const last = nearest(typed, byLast.keys())
  return last === undefined ? undefined : byLast.get(last)?.replace(".", " ")
}
