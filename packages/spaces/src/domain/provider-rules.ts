/** What each key of a `[providers.NAME]` or `[models."provider/model"]` table may say, and how much of it may be shown. */

import type { ConfigFile } from "./config-layer.ts"
import { fullAddress, publicAddress } from "./provider-address.ts"
import { PROVIDER_KINDS } from "./provider-preset.ts"

export type TableValue = string | number | readonly string[] | Readonly<Record<string, string>>

export type Rules = Readonly<Record<string, TableRule>>

export interface TableRule {
  /** What it must be, when it is not. */
  readonly problem: (value: unknown, source: ConfigFile["source"]) => string | undefined
  readonly shown: (value: unknown) => TableValue
  /** A word of the command line as a value of the file; undefined: only written by hand. */
  readonly fromText: ((text: string) => string | number | readonly string[]) | undefined
  readonly secret?: true
}

const HIDDEN = "<hidden>"
const SECRET_HEADER = /authorization|key|token|secret|cookie/i

const text = (value: unknown): TableValue => String(value)

const rule = (holds: (value: unknown) => boolean, expected: string): TableRule => ({
  problem: (value) => (holds(value) ? undefined : expected),
  shown: text,
  fromText: (typed) => typed,
})

const toNumber = (typed: string): number => (typed.trim() === "" ? Number.NaN : Number(typed))

const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== ""

const COUNT: TableRule = {
  problem: (value) =>
    Number.isSafeInteger(value) && Number(value) > 0 ? undefined : "a whole number of tokens above 0",
  shown: Number,
  fromText: toNumber,
}

const PRICE: TableRule = {
  problem: (value) =>
    typeof value === "number" && Number.isFinite(value) && value >= 0
      ? undefined
      : "a number of dollars per million tokens, 0 or more",
  shown: Number,
  fromText: toNumber,
}

export const PROVIDER_RULES: Rules = {
  kind: rule((value) => PROVIDER_KINDS.some((kind) => kind === value), `one of ${PROVIDER_KINDS.join(", ")}`),
  base_url: {
    problem: (value) =>
      isText(value) && fullAddress(value, "openai-compatible") !== undefined
        ? undefined
        : "an http or https address",
    shown: (value) => publicAddress(String(value)),
    fromText: (typed) => typed,
  },
  api_key_env: {
    problem: (value) =>
      isText(value) && /^[A-Z_][A-Z0-9_]{0,99}$/.test(value)
        ? undefined
        : "the name of an environment variable, in capitals",
    shown: text,
    fromText: (typed) => typed,
    // Who mistakes it for the key itself must not find it in an error.
    secret: true,
  },
  api_key: {
    problem: (value, source) => {
      if (source === "file") return "in no file of the project: name its variable with api_key_env"
      return isText(value) ? undefined : "a text that is not empty"
    },
    shown: () => HIDDEN,
    fromText: (typed) => typed,
    secret: true,
  },
  headers: {
    problem: (value, source) => {
      if (!isTable(value) || !Object.entries(value).every(isHeader))
        return "a table of header names and texts"
      return source === "file" && Object.keys(value).some((name) => SECRET_HEADER.test(name))
        ? "without credentials in a file of the project: name the key's variable with api_key_env"
        : undefined
    },
    shown: (value) =>
      Object.fromEntries(
        Object.entries(isTable(value) ? value : {}).map(([name, content]) => [
          name,
          SECRET_HEADER.test(name) ? HIDDEN : String(content),
        ]),
      ),
    fromText: undefined,
    secret: true,
  },
  models: {
    problem: (value) => (Array.isArray(value) && value.every(isText) ? undefined : "a list of model names"),
    shown: (value) => (Array.isArray(value) ? value.map(String) : []),
    fromText: (typed) => typed.split(",").map((name) => name.trim()),
  },
}

export const MODEL_RULES: Rules = {
  context_window: COUNT,
  max_output: COUNT,
  model: rule(isText, "the provider's name of the model"),
  input_price: PRICE,
  output_price: PRICE,
  cache_read_price: PRICE,
  cache_write_price: PRICE,
}

const isHeader = ([name, value]: readonly [string, unknown]): boolean =>
  /^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name) && typeof value === "string" && /^[\t\x20-\x7E]*$/.test(value)

/** A table of TOML: a date is none. */
export const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  [Object.prototype, null].includes(Object.getPrototypeOf(value))
