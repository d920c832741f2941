/** What each key of a `[providers.NAME]` or `[models."provider/model"]` table may say, and how much of it may be shown. */

import { HOSTED, VARIANTS } from "./engine-table-rules.ts"
import { fullAddress, publicAddress } from "./provider-address.ts"
import { PROVIDER_KINDS } from "./provider-preset.ts"
import {
  isHeader,
  isTable,
  isText,
  rule,
  SECRET_NAME,
  text,
  toNumber,
  type Rules,
  type TableRule,
} from "./table-rule.ts"

const HIDDEN = "<hidden>"

const COUNT: TableRule = {
  problem: (value) =>
    Number.isSafeInteger(value) && Number(value) > 0 ? undefined : "a whole number of tokens above 0",
  shown: Number,
  fromText: toNumber,
}

const MILLISECONDS: TableRule = {
  problem: (value) =>
    Number.isSafeInteger(value) && Number(value) > 0 ? undefined : "a whole number of milliseconds above 0",
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
    // If a user mistakes this for the key itself, an error must not show it.
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
      return source === "file" && Object.keys(value).some((name) => SECRET_NAME.test(name))
        ? "without credentials in a file of the project: name the key's variable with api_key_env"
        : undefined
    },
    shown: (value) =>
      Object.fromEntries(
        Object.entries(isTable(value) ? value : {}).map(([name, content]) => [
          name,
          SECRET_NAME.test(name) ? HIDDEN : String(content),
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
  idle_ms: MILLISECONDS,
  variants: VARIANTS,
  hosted: HOSTED,
  input_price: PRICE,
  output_price: PRICE,
  cache_read_price: PRICE,
  cache_write_price: PRICE,
}
