/** Help as text, from metas alone. An agent sees a filtered part of the same table. Pure. */
import {
  flagName,
  offers,
  wireName,
  type Field,
  type OperationMeta,
  type Registration,
} from "@meridian/spaces"

import { GLOBAL_FLAGS } from "./global-flags.ts"
import { VERSION } from "./version.ts"

export type Audience = "human" | "agent"

export const offeredTo = (commands: readonly Registration[], audience: Audience): readonly OperationMeta[] =>
  commands
    .map((command) => command.meta)
    .filter((meta) => meta.hidden !== true && (audience === "human" || meta.audience === "agent"))

export const rootHelp = (commands: readonly Registration[], audience: Audience): string => {
  const offered = offeredTo(commands, audience)
  const sections = SECTIONS.flatMap(({ title, heads }) => {
    const members = offered.filter((meta) => heads.includes(headOf(meta)))
    return members.length === 0 ? [] : [`${title}\n${table(members.map(commandRow))}`]
  })
  const placed = new Set(SECTIONS.flatMap((section) => section.heads))
  const others = offered.filter((meta) => !placed.has(headOf(meta)))
  return [
    `meridian ${VERSION}: keeps coding agents on their task`,
    "Usage: meridian <command> [flags]",
    ...sections,
    ...(others.length === 0 ? [] : [`Other\n${table(others.map(commandRow))}`]),
    globalSection(audience),
    "Run 'meridian <command> --help' for the flags of a command.",
    ...(audience === "human" ? [TIP] : []),
  ].join("\n\n")
}

export const groupHelp = (group: string, commands: readonly Registration[], audience: Audience): string => {
  const offered = offeredTo(commands, audience).filter((meta) => headOf(meta) === group)
  // An agent that names a hidden group is shown it as a person is.
  const members =
    offered.length > 0 ? offered : offeredTo(commands, "human").filter((meta) => headOf(meta) === group)
  return [
    `Usage: meridian ${group} <command> [flags]`,
    `Commands\n${table(members.map(commandRow))}`,
    globalSection(audience),
    `Run 'meridian ${group} <command> --help' for the flags of a command.`,
  ].join("\n\n")
}

export const commandHelp = (meta: OperationMeta, audience: Audience): string => {
  const fields = Object.entries<Field>(meta.fields).filter(
    ([, field]) => field.hidden !== true && field.only !== "tool",
  )
  const positionals = fields.filter(([, field]) => field.positional !== undefined)
  const flags = fields.filter(([, field]) => field.positional === undefined)
  const section = (title: string, rows: readonly Row[]): readonly string[] =>
    rows.length === 0 ? [] : [`${title}\n${table(rows)}`]
  return [
    `Usage: ${usage(meta)}`,
    meta.summary,
    ...section("Arguments", positionals.map(positionalRow)),
    ...section("Flags", flags.map(flagRow)),
    globalSection(audience),
    ...(meta.details === undefined ? [] : [meta.details]),
    ...(meta.examples === undefined
      ? []
      : [`Examples\n${meta.examples.map((example) => `  meridian ${example}`).join("\n")}`]),
  ].join("\n\n")
}

/** `meridian run show RUN [--report] …`, as one line. */
export const usage = (meta: OperationMeta): string => {
  const words = Object.entries<Field>(meta.fields).flatMap(([key, field]) => {
    if (field.positional === undefined) return []
    const name = placeholder(key, field)
    const shown =
      field.positional === "rest" ? `${name}...` : field.positional === "dashes" ? `-- ${name}...` : name
    return [field.required === true ? shown : `[${shown}]`]
  })
  const dashes = words.filter((word) => word.includes("-- "))
  const others = words.filter((word) => !word.includes("-- "))
  return ["meridian", ...meta.name.split("."), ...others, "[flags]", ...dashes].join(" ")
}

/** `--timeout TIME`, with its short form in front. */
export const flagLabel = (key: string, field: Field): string => {
  const short = field.short === undefined ? "" : `-${field.short}, `
  const value = field.type === "boolean" ? "" : ` ${placeholder(key, field)}`
  const shown = field.optionalValue === true ? ` [${value.trim()}]` : value
  return `${short}--${flagName(key, field)}${shown}`
}

export const placeholder = (key: string, field: Field): string =>
  field.value ?? (field.choices === undefined ? wireName(key).toUpperCase() : field.choices.join("|"))

export const explain = (field: Field): string => {
  const notes = [
    ...(field.choices === undefined ? [] : [`one of ${offers(field).join(", ")}`]),
    ...(field.stdin === true ? ["'-' reads stdin"] : []),
    ...(field.type === "strings" && field.positional === undefined ? ["repeatable"] : []),
    ...(field.default === undefined || field.default === false ? [] : [`default ${field.default}`]),
    ...(field.required === true && field.positional === undefined ? ["required"] : []),
  ]
  return notes.length === 0 ? field.description : `${field.description} (${notes.join("; ")})`
}

type Row = readonly [label: string, text: string]

const SECTIONS: readonly { readonly title: string; readonly heads: readonly string[] }[] = [
  { title: "Conversations", heads: ["start", "space"] },
  { title: "Runs", heads: ["run", "schedule", "up"] },
  { title: "Sessions", heads: ["session", "search", "recall", "expand", "questions"] },
  { title: "Agents, skills and models", heads: ["skills", "models"] },
  {
    title: "Set up and look after",
    heads: ["init", "trust", "untrust", "permissions", "config", "doctor", "brief", "database", "cluster"],
  },
  { title: "Connect", heads: ["serve", "acp", "completion"] },
]

const TIP =
  "Tip: inside a space (MERIDIAN_SPACE_ID set) agents are shown only the commands made for them, with JSON output; --human gives this full help there."

const headOf = (meta: OperationMeta): string => meta.name.split(".")[0] ?? meta.name

const commandRow = (meta: OperationMeta): Row => [meta.name.replaceAll(".", " "), meta.summary]

const positionalRow = ([key, field]: readonly [string, Field]): Row => [
  placeholder(key, field),
  explain(field),
]

const flagRow = ([key, field]: readonly [string, Field]): Row => [
  field.short === undefined ? `    ${flagLabel(key, field)}` : flagLabel(key, field),
  explain(field),
]

/** Global flags of no use to an agent: its user owns the configuration, and it is never asked questions. */
const FOR_PEOPLE: ReadonlySet<string> = new Set(["config", "yes", "allowForeign"])

const globalSection = (audience: Audience): string => {
  const shown = Object.entries<Field>(GLOBAL_FLAGS).filter(
    ([key, field]) => field.hidden !== true && (audience === "human" || !FOR_PEOPLE.has(key)),
  )
  return `Global flags\n${table(shown.map(flagRow))}`
}

const WIDEST = 34

const table = (rows: readonly Row[]): string => {
  const width = Math.min(WIDEST, Math.max(...rows.map(([label]) => label.length)))
  return rows
    .map(([label, text]) =>
      label.length > width
        ? `  ${label}\n  ${" ".repeat(width)}  ${text}`
        : `  ${label.padEnd(width)}  ${text}`,
    )
    .join("\n")
}
