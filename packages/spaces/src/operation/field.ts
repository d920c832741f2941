/**
 * The input of an operation, described once: a flag or positional of the command, a property of the MCP tool, a row
 * of the reference page. Keys are camelCase in TypeScript; `wireName` and `flagName` derive the outside names.
 */
export type FieldType = "string" | "strings" | "integer" | "number" | "boolean" | "seconds"

export interface Field {
  readonly type: FieldType
  readonly description: string
  /** Long flag without dashes, if it is not the key in kebab-case (`timeoutSecs` with flag `timeout`). */
  readonly flag?: string
  /** Long flags that mean the same and are not shown (`timeout-secs`, `space-id`). */
  readonly aliases?: readonly string[]
  readonly short?: string
  /** Takes its value from the words after the command; `"rest"` takes all that follow, `"dashes"` what follows `--`. */
  readonly positional?: true | "rest" | "dashes"
  readonly required?: true
  /** Required in the schema of the tool. For the command, the operation checks it itself, with its own code. */
  readonly toolRequired?: true
  readonly default?: string | number | boolean
  readonly choices?: readonly string[]
  /** Beside the choices, any value with this prefix, shown as `acp:NAME`. */
  readonly openChoice?: `${string}:`
  /** The choices over MCP, if a tool may use fewer. */
  readonly toolChoices?: readonly string[]
  /** A comma inside one value separates values (`-s plan,review`). */
  readonly split?: true
  /** The flag may have no value and then means "" (`--continue`). */
  readonly optionalValue?: true
  /** On the command line `-` means all of stdin: an argument cannot carry more than 128 KiB. */
  readonly stdin?: true
  /** The placeholder of the value in help: `MODEL`. */
  readonly value?: string
  /** Only on one face: a flag that makes no sense over MCP, or the reverse. */
  readonly only?: "command" | "tool"
  /** Works, but help does not show it. */
  readonly hidden?: true
  /** Least value of a number. */
  readonly minimum?: number
}

export type Fields = Readonly<Record<string, Field>>

/** The input of `run`. Lists and booleans are always present; the rest may be undefined unless required or defaulted. */
export type InputOf<F extends Fields> = {
  readonly [Key in keyof F]: F[Key] extends { readonly type: "boolean" | "strings" }
    ? ValueOf<F[Key]>
    : F[Key] extends { readonly required: true } | { readonly default: string | number | boolean }
      ? ValueOf<F[Key]>
      : ValueOf<F[Key]> | undefined
}

type ValueOf<F extends Field> = F["type"] extends "boolean"
  ? boolean
  : F["type"] extends "strings"
    ? readonly string[]
    : F["type"] extends "string"
      ? F extends { readonly choices: readonly (infer Choice)[] }
        ?
            | Choice
            | (F extends { readonly openChoice: infer Prefix extends string } ? `${Prefix}${string}` : never)
        : string
      : number

/** The choices as they are shown. */
export const offers = ({ choices = [], openChoice }: Field): readonly string[] =>
  openChoice === undefined ? choices : [...choices, `${openChoice}NAME`]

/** `runId` -> `run_id`, for JSON of the command and of MCP. */
export const wireName = (key: string): string =>
  key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** `runId` -> `run-id`, unless the field names its flag. */
export const flagName = (key: string, field: Field): string =>
  field.flag ?? key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
