/** The words after a command -> raw values by wire name, and the values of the global flags. */
import { parseArgs, type ParseArgsOptionDescriptor } from "node:util"

import { Failure, nearest } from "@meridian/protocol"
import { flagName, wireName, type Field, type OperationMeta, type Passthrough } from "@meridian/spaces"

import { GLOBAL_FLAGS } from "./global-flags.ts"

export interface ParsedFlags {
  readonly values: Readonly<Record<string, unknown>>
  readonly globals: Globals
  readonly passthrough: Passthrough["passthrough"]
}

export interface Globals {
  readonly json: boolean
  readonly format: string | undefined
  readonly config: string | undefined
  readonly yes: boolean
  readonly allowForeign: boolean
  readonly human: boolean
  readonly help: boolean
  readonly version: boolean
}

type Shape = Pick<OperationMeta, "name" | "fields" | "passthrough">

export const parseFlags = (shape: Shape, words: readonly string[]): ParsedFlags => {
  const help = `run 'meridian ${shape.name === "" ? "" : `${shape.name.replaceAll(".", " ")} `}--help'.`
  const refuse = (problem: string): Failure => new Failure("USAGE", { problem, next: help })
  const flags = flagsOf(shape)
  const { own, passthrough } = takePassthrough(shape, words, flags)
  const { tokens } = parseArgs({
    args: spellOutOptionalValues(own, flags),
    options: Object.fromEntries([...flags].map(([flag, target]) => [flag, optionOf(target)])),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const values: Record<string, unknown> = {}
  const globals: Record<string, unknown> = {}
  const positionals: string[] = []
  const afterDashes: string[] = []
  let dashed = false
  for (const token of tokens) {
    if (token.kind === "option-terminator") {
      dashed = true
      continue
    }
    if (token.kind === "positional") {
      ;(dashed ? afterDashes : positionals).push(token.value)
      continue
    }
    const target =
      token.rawName === `--${token.name}` && token.name.length === 1 ? undefined : flags.get(token.name)
    if (target === undefined) throw refuse(unknownFlag(token.rawName, flags))
    const text = checkValue(token, target, flags)
    if (text.tag === "wrong") throw refuse(text.problem)
    store(target.tag === "global" ? globals : values, target, text.value ?? true)
  }
  const left = placePositionals(shape, positionals, afterDashes, values)
  if (left !== undefined) throw refuse(`Unexpected argument '${left}'.`)
  return { values, passthrough, globals: globalsOf(globals) }
}

interface Target {
  readonly tag: "field" | "global"
  readonly name: string
  readonly field: Field
}

/** Long and short flag names without dashes -> where their value goes. */
const flagsOf = (shape: Shape): ReadonlyMap<string, Target> => {
  const flags = new Map<string, Target>()
  const add = (tag: "field" | "global", fields: Readonly<Record<string, Field>>): void => {
    for (const [key, field] of Object.entries(fields)) {
      if (field.positional !== undefined || field.only === "tool") continue
      const target = { tag, name: tag === "global" ? key : wireName(key), field } as const
      const short = field.short === undefined ? [] : [field.short]
      for (const flag of [flagName(key, field), ...(field.aliases ?? []), ...short]) flags.set(flag, target)
    }
  }
  add("global", GLOBAL_FLAGS)
  add("field", shape.fields)
  return flags
}

const takesValue = (target: Target): boolean => target.field.type !== "boolean"

const optionOf = (target: Target): ParseArgsOptionDescriptor => ({
  type: takesValue(target) ? "string" : "boolean",
  multiple: true,
  ...(target.field.short === undefined ? {} : { short: target.field.short }),
})

/** Sets flags of harnesses aside, with their words, before our own are read. Our own flag of a name takes precedence. */
const takePassthrough = (
  shape: Shape,
  words: readonly string[],
  flags: ReadonlyMap<string, Target>,
): { readonly own: readonly string[]; readonly passthrough: readonly string[] } => {
  const known = new Map((shape.passthrough ?? []).map(({ flag, values }) => [flag, values]))
  const own: string[] = []
  const passthrough: string[] = []
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? ""
    if (word === "--") return { own: [...own, ...words.slice(index)], passthrough }
    const [name = word] = word.split("=", 1)
    const target = flags.get(name.replace(/^--?/, ""))
    const values = target === undefined ? known.get(name) : undefined
    if (values === undefined) {
      own.push(word)
      // The word after our flag is its value, whatever it looks like.
      const next = words[index + 1]
      if (
        target !== undefined &&
        word.startsWith("-") &&
        takesValue(target) &&
        name === word &&
        next !== undefined
      ) {
        if (target.field.optionalValue !== true || !next.startsWith("-")) {
          own.push(next)
          index += 1
        }
      }
      continue
    }
    passthrough.push(word)
    if (name !== word || values === "none") continue
    const most = values === "many" ? words.length : 1
    for (let taken = 0; taken < most; taken += 1) {
      const next = words[index + 1]
      if (next === undefined || (next.startsWith("-") && (values !== "one" || next === "--"))) break
      passthrough.push(next)
      index += 1
    }
  }
  return { own, passthrough }
}

/** `--continue` before another flag or the end becomes `--continue=`. */
const spellOutOptionalValues = (
  words: readonly string[],
  flags: ReadonlyMap<string, Target>,
): readonly string[] => {
  const end = words.indexOf("--")
  return words.map((word, index) => {
    if (end !== -1 && index >= end) return word
    const target = word.startsWith("--") ? flags.get(word.slice(2)) : undefined
    if (target?.field.optionalValue !== true) return word
    const next = words[index + 1]
    return next === undefined || next.startsWith("-") ? `${word}=` : word
  })
}

type Checked =
  | { readonly tag: "value"; readonly value: string | undefined }
  | { readonly tag: "wrong"; readonly problem: string }

const checkValue = (
  token: {
    readonly rawName: string
    readonly value?: string | undefined
    readonly inlineValue?: boolean | undefined
  },
  target: Target,
  flags: ReadonlyMap<string, Target>,
): Checked => {
  if (!takesValue(target))
    return token.value === undefined
      ? { tag: "value", value: undefined }
      : { tag: "wrong", problem: `${token.rawName} takes no value.` }
  if (token.value === undefined) return { tag: "wrong", problem: `${token.rawName} needs a value.` }
  const swallowed =
    token.inlineValue !== true && token.value.startsWith("--") && flags.has(token.value.slice(2))
  return swallowed
    ? { tag: "wrong", problem: `${token.rawName} needs a value, got the flag ${token.value}.` }
    : { tag: "value", value: token.value }
}

const store = (into: Record<string, unknown>, target: Target, value: string | true): void => {
  const before = into[target.name]
  into[target.name] =
    target.field.type === "strings" ? [...(Array.isArray(before) ? before : []), value] : value
}

/** Returns the first word without a place. */
const placePositionals = (
  shape: Shape,
  positionals: readonly string[],
  afterDashes: readonly string[],
  values: Record<string, unknown>,
): string | undefined => {
  const places = Object.entries<Field>(shape.fields).filter(([, field]) => field.positional !== undefined)
  const takesDashes = places.find(([, field]) => field.positional === "dashes")
  let left = takesDashes === undefined ? [...positionals, ...afterDashes] : [...positionals]
  if (takesDashes !== undefined && afterDashes.length > 0) values[wireName(takesDashes[0])] = [...afterDashes]
  for (const [key, field] of places) {
    if (field.positional === "dashes" || left.length === 0) continue
    values[wireName(key)] = field.positional === "rest" ? left : left[0]
    left = field.positional === "rest" ? [] : left.slice(1)
  }
  return left[0]
}

const unknownFlag = (rawName: string, flags: ReadonlyMap<string, Target>): string => {
  const visible = [...flags].filter(([flag, target]) => flag.length > 1 && target.field.hidden !== true)
  const meant = rawName.startsWith("--")
    ? nearest(
        rawName.slice(2),
        visible.map(([flag]) => flag),
      )
    : undefined
  return `Unknown flag '${rawName}'${meant === undefined ? "." : `, did you mean --${meant}?`}`
}

const globalsOf = (raw: Readonly<Record<string, unknown>>): Globals => ({
  json: raw["json"] === true,
  format: typeof raw["format"] === "string" ? raw["format"] : undefined,
  config: typeof raw["config"] === "string" ? raw["config"] : undefined,
  yes: raw["yes"] === true,
  allowForeign: raw["allowForeign"] === true,
  human: raw["human"] === true,
  help: raw["help"] === true,
  version: raw["version"] === true,
})
