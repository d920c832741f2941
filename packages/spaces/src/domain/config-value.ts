import { optionOf, type Option, type OptionKey, type OptionType, type OptionValue } from "./config-option.ts"
/** Checks values of options from a TOML file, the command line or a variable. */
import { parseSeconds } from "./duration.ts"
import { isPermissionRules, PERMISSION_RULES_EXPECTED, readPermissionRules } from "./engine-table-rules.ts"

export type ValueCheck =
  | { readonly tag: "value"; readonly value: OptionValue }
  | { readonly tag: "wrong"; readonly expected: string }

/** Checks a value of a TOML file against its option. */
export const checkOptionValue = (key: OptionKey, value: unknown): ValueCheck => {
  const option = optionOf(key)
  const expected = expectationOf(option)
  const wrong: ValueCheck = { tag: "wrong", expected }
  switch (option.type) {
    case "boolean":
      return typeof value === "boolean" ? { tag: "value", value } : wrong
    case "string":
      if (typeof value !== "string" || value === "") return wrong
      return option.choices === undefined || option.choices.includes(value) ? { tag: "value", value } : wrong
    case "time": {
      const told = typeof value === "number" || typeof value === "bigint" ? String(value) : value
      return typeof told === "string" && parseSeconds(told) !== undefined
        ? { tag: "value", value: told }
        : wrong
    }
    case "strings":
      return Array.isArray(value) && value.every((item) => typeof item === "string")
        ? { tag: "value", value }
        : wrong
    case "rules":
      return isPermissionRules(value) ? { tag: "value", value } : wrong
    case "integer":
    case "number": {
      const number = typeof value === "bigint" ? Number(value) : value
      if (typeof number !== "number" || !Number.isFinite(number)) return wrong
      if (option.type === "integer" && !Number.isSafeInteger(number)) return wrong
      if (number < (option.minimum ?? number) || number > (option.maximum ?? number)) return wrong
      return { tag: "value", value: number }
    }
  }
}

/** Reads a word of the command line or of a variable as its option's value. Commas separate the items of a list. */
export const readOptionText = (key: OptionKey, text: string): ValueCheck => {
  const option = optionOf(key)
  switch (option.type) {
    case "boolean": {
      const word = text.trim().toLowerCase()
      if (["true", "1", "yes", "on"].includes(word)) return { tag: "value", value: true }
      if (["false", "0", "no", "off"].includes(word)) return { tag: "value", value: false }
      return { tag: "wrong", expected: expectationOf(option) }
    }
    case "string":
    case "time":
      return checkOptionValue(key, text)
    case "strings": {
      const items = text
        .replace(/^\s*\[(.*)\]\s*$/s, "$1")
        .split(",")
        .map((item) => item.trim().replace(/^(["'])(.*)\1$/, "$2"))
      return checkOptionValue(
        key,
        items.filter((item) => item !== ""),
      )
    }
    case "rules": {
      const rules = readPermissionRules(text)
      return rules === undefined
        ? { tag: "wrong", expected: "rules such as 'allow bash git *, deny edit secrets/*'" }
        : { tag: "value", value: rules }
    }
    case "integer":
    case "number":
      return /^\s*[+-]?(\d+\.?\d*|\.\d+)\s*$/.test(text)
        ? checkOptionValue(key, Number(text))
        : { tag: "wrong", expected: expectationOf(option) }
  }
}

const KINDS: Readonly<Record<OptionType, string>> = {
  boolean: "true or false",
  integer: "a whole number",
  number: "a number",
  string: "a text that is not empty",
  strings: "a list of texts",
  time: "a time such as 90s, 30m or 24h",
  rules: PERMISSION_RULES_EXPECTED,
}

const expectationOf = (option: Option): string => {
  if (option.choices !== undefined) return `one of ${option.choices.join(", ")}`
  if (option.minimum === undefined || option.maximum === undefined) return KINDS[option.type]
  return `${KINDS[option.type]} from ${option.minimum} to ${option.maximum}`
}
