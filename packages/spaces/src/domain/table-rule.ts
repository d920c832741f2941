/**
 * One key of a `config.toml` table whose names the user chooses: which values it takes, and how much of one may be
 * shown.
 */
import { isJsonObject } from "@meridian/protocol"

/** The file it is in: the user's own, the project's, or that of --config. */
export type FileSource = "user" | "file" | "user-config"

export type TableValue = boolean | string | number | readonly string[] | Readonly<Record<string, string>>

export type Rules = Readonly<Record<string, TableRule>>

export interface TableRule {
  /** What the value must be, if it is not that. */
  readonly problem: (value: unknown, source: FileSource) => string | undefined
  readonly shown: (value: unknown) => TableValue
  /** Turns a word of the command line into a value of the file. Undefined: it can only be written by hand. */
  readonly fromText: ((text: string) => boolean | string | number | readonly string[]) | undefined
  readonly secret?: true
}

/** Names of headers and variables whose values are private. */
export const SECRET_NAME = /authorization|key|token|secret|cookie|password/i

export const text = (value: unknown): TableValue => String(value)

export const rule = (holds: (value: unknown) => boolean, expected: string): TableRule => ({
  problem: (value) => (holds(value) ? undefined : expected),
  shown: text,
  fromText: (typed) => typed,
})

export const toNumber = (typed: string): number => (typed.trim() === "" ? Number.NaN : Number(typed))

export const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== ""

export const isHeader = ([name, value]: readonly [string, unknown]): boolean =>
  /^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name) && typeof value === "string" && /^[\t\x20-\x7E]*$/.test(value)

/** Whether this is a TOML table. A date is not one. */
export const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isJsonObject(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value))
