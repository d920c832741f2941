/** What a shell can complete, read from the same table as help: everything help offers completes here. */
import { flagName, type Field, type OperationMeta } from "@meridian/spaces"

import type { NAME_KINDS } from "../command/complete.meta.ts"
import { GLOBAL_FLAGS } from "../global-flags.ts"

/** The names a shell requests from `meridian complete`. */
export type NameKind = (typeof NAME_KINDS)[number]

/** What a value can be: one of these words, an existing name, or a file. Without any: free text. */
export interface Value {
  readonly choices: readonly string[]
  readonly kind: NameKind | "file" | undefined
}

export interface Flag {
  readonly name: string
  readonly description: string
  /** Undefined: it takes no value. */
  readonly value: Value | undefined
}

export interface Command {
  /** `run list`, `start`. */
  readonly name: string
  readonly summary: string
  readonly flags: readonly Flag[]
  /** The kinds of its first words. Later words have the last kind. */
  readonly values: readonly Value[]
}

/** `run`: its commands by their second word. A command with the group's own name may exist beside them (`schedule`). */
export interface Group {
  readonly name: string
  readonly members: readonly { readonly word: string; readonly summary: string }[]
}

export interface Grammar {
  readonly commands: readonly Command[]
  readonly groups: readonly Group[]
  /** First words with their meaning, without duplicates. */
  readonly heads: readonly { readonly word: string; readonly summary: string }[]
  readonly globalFlags: readonly Flag[]
}

export const readGrammar = (metas: readonly OperationMeta[]): Grammar => {
  const groups = groupsOf(metas)
  const singles = metas.filter(({ name }) => !name.includes("."))
  const own = new Set(singles.map(({ name }) => name))
  return {
    commands: metas.map(commandOf),
    groups,
    heads: [
      ...singles.map(({ name, summary }) => ({ word: name, summary })),
      ...groups
        .filter(({ name }) => !own.has(name))
        .map(({ name, members }) => ({ word: name, summary: members.map(({ word }) => word).join(", ") })),
    ],
    globalFlags: globalFlags(),
  }
}

const groupsOf = (metas: readonly OperationMeta[]): readonly Group[] => {
  const members = new Map<string, Group["members"][number][]>()
  for (const { name, summary } of metas) {
    const [group = "", word] = name.split(".")
    if (word !== undefined) members.set(group, [...(members.get(group) ?? []), { word, summary }])
  }
  return [...members].map(([name, list]) => ({ name, members: list }))
}

const commandOf = ({ name, summary, fields }: OperationMeta): Command => {
  const all = Object.entries<Field>(fields).filter(
    ([, field]) => field.hidden !== true && field.only !== "tool",
  )
  return {
    name: name.replace(".", " "),
    summary,
    flags: [
      ...all.flatMap(([key, field]) => (field.positional === undefined ? flagsOf(key, field) : [])),
      ...globalFlags(),
    ],
    values: all.flatMap(([, field]) =>
      field.positional === undefined || field.positional === "dashes" ? [] : [valueOf(field)],
    ),
  }
}

const globalFlags = (): readonly Flag[] =>
  Object.entries<Field>(GLOBAL_FLAGS).flatMap(([key, field]) =>
    field.hidden === true ? [] : flagsOf(key, field),
  )

const flagsOf = (key: string, field: Field): readonly Flag[] => {
  const { description, short } = field
  const value = field.type === "boolean" ? undefined : valueOf(field)
  return [
    { name: `--${flagName(key, field)}`, description, value },
    ...(short === undefined ? [] : [{ name: `-${short}`, description, value }]),
  ]
}

const valueOf = ({ choices = [], value = "" }: Field): Value => ({ choices, kind: KINDS[value] })

/** The placeholder of a value in help tells its kind. */
const KINDS: Readonly<Record<string, Value["kind"]>> = {
  SPACE: "space",
  RUN: "run",
  CHAT: "chat",
  "CHAT|SESSION": "continuable",
  "[HARNESS:]SESSION": "any-session",
  MODEL: "model",
  SESSION: "session",
  SCHEDULE: "schedule",
  FILE: "file",
  PATH: "file",
  DIR: "file",
  DIRECTORY: "file",
  DATABASE: "file",
}
