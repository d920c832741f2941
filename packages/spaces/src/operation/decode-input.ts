/** Outside data (words of a command line, JSON of an MCP call) -> the typed input of an operation. */
import { Failure, nearest } from "@meridian/protocol"

import { parseSeconds } from "../domain/duration.ts"
import { flagName, offers, wireName, type Field, type Fields, type InputOf } from "./field.ts"
import type { OperationMeta, Passthrough } from "./operation.ts"

export interface RawInput {
  /** By wire name (`run_id`). A command passes text, MCP passes JSON. */
  readonly values: Readonly<Record<string, unknown>>
  readonly face: "command" | "tool"
  readonly passthrough?: Passthrough["passthrough"]
}

/** Throws USAGE with the field and the expectation. Fills in defaults. */
export const decodeInput = <F extends Fields>(
  meta: Pick<OperationMeta<F>, "name" | "fields" | "tool">,
  raw: RawInput,
): InputOf<F> & Passthrough => {
  const refuse = (problem: string): Failure => new Failure("USAGE", { problem, next: wayOut(meta, raw.face) })
  const fields = Object.entries<Field>(meta.fields).filter(
    ([, field]) => field.only === undefined || field.only === raw.face,
  )
  const known = fields.map(([key]) => wireName(key))
  const stranger = Object.keys(raw.values).find((name) => !known.includes(name))
  if (stranger !== undefined) {
    const meant = nearest(stranger, known)
    throw refuse(`Unknown argument '${stranger}'${meant === undefined ? "." : `, did you mean '${meant}'?`}`)
  }
  const given = new Set<string>()
  const input: Record<string, unknown> = {}
  for (const [key, field] of Object.entries<Field>(meta.fields)) {
    const value = raw.values[wireName(key)]
    const label = raw.face === "tool" ? `'${wireName(key)}'` : commandLabel(key, field)
    if (value === undefined || value === null) {
      if (field.required === true) throw refuse(`${label} is required.`)
      input[key] = emptyValue(field)
      continue
    }
    given.add(key)
    const decoded = decodeValue(offeredOn(raw.face, field), value)
    if (decoded.tag === "wrong")
      throw refuse(`${label} must be ${decoded.expected}, got ${JSON.stringify(value)}.`)
    input[key] = decoded.value
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a codec: every field was checked above against its declared type
  return { ...input, passthrough: raw.passthrough ?? [], given } as unknown as InputOf<F> & Passthrough
}

const offeredOn = (face: RawInput["face"], field: Field): Field =>
  face === "tool" && field.toolChoices !== undefined ? { ...field, choices: field.toolChoices } : field

type Decoded =
  | { readonly tag: "value"; readonly value: unknown }
  | { readonly tag: "wrong"; readonly expected: string }

const decodeValue = (field: Field, value: unknown): Decoded => {
  switch (field.type) {
    case "string":
      if (typeof value !== "string") return wrong("text")
      if (!isOffered(field, value)) return wrong(`one of ${offers(field).join(", ")}`)
      return right(value)
    case "strings":
      return decodeStrings(field, value)
    case "boolean":
      return typeof value === "boolean" ? right(value) : wrong("true or false")
    case "seconds": {
      const seconds = typeof value === "string" ? parseSeconds(value) : value
      return typeof seconds === "number" && Number.isFinite(seconds) && seconds > 0
        ? right(seconds)
        : wrong("a time above zero such as 90, 90s, 5m or 2h")
    }
    case "integer":
    case "number": {
      const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value
      const minimum = field.minimum ?? Number.NEGATIVE_INFINITY
      const fits = typeof number === "number" && Number.isFinite(number) && number >= minimum
      const kind = field.type === "integer" ? "a whole number" : "a number"
      const expected = field.minimum === undefined ? kind : `${kind} of at least ${field.minimum}`
      return fits && (field.type === "number" || Number.isSafeInteger(number))
        ? right(number)
        : wrong(expected)
    }
  }
}

const isOffered = ({ choices, openChoice }: Field, value: string): boolean =>
  choices === undefined ||
  choices.includes(value) ||
  (openChoice !== undefined && value.startsWith(openChoice) && value.length > openChoice.length)

const decodeStrings = (field: Field, value: unknown): Decoded => {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (!items.every((item) => typeof item === "string")) return wrong("a list of texts")
  const values =
    field.split === true
      ? items.flatMap((item) =>
          item
            .split(",")
            .map((part) => part.trim())
            .filter((part) => part !== ""),
        )
      : items
  const stranger =
    field.choices === undefined ? undefined : values.find((item) => !field.choices?.includes(item))
  return stranger === undefined ? right(values) : wrong(`of ${field.choices?.join(", ")}`)
}

const right = (value: unknown): Decoded => ({ tag: "value", value })
const wrong = (expected: string): Decoded => ({ tag: "wrong", expected })

const emptyValue = (field: Field): unknown => {
  if (field.default !== undefined) return field.default
  if (field.type === "boolean") return false
  return field.type === "strings" ? [] : undefined
}

const commandLabel = (key: string, field: Field): string =>
  field.positional === undefined ? `--${flagName(key, field)}` : (field.value ?? wireName(key).toUpperCase())

const wayOut = (meta: Pick<OperationMeta, "name" | "tool">, face: RawInput["face"]): string =>
  face === "tool"
    ? `correct the arguments of ${meta.tool ?? meta.name} and call it again.`
    : `run 'meridian ${meta.name.replaceAll(".", " ")} --help'.`
