/** Path, query and body -> the input of a route, checked against its shape. */
import type { IncomingMessage } from "node:http"

import { Validator } from "@cfworker/json-schema"
import { Failure, type Json, type JsonObject } from "@meridian/protocol"

import type { Route } from "./contract.ts"
import type { HttpLimits } from "./limits.ts"

export type InputReader = (
  request: IncomingMessage,
  address: { readonly parameters: Readonly<Record<string, string>>; readonly query: string },
) => Promise<JsonObject>

/** Made once per route: compiling a shape costs more than checking with it. */
export const makeInputReader = (route: Route, limits: HttpLimits): InputReader => {
  const validator = new Validator(clone(route.input.json), "2020-12")
  const types = queryTypes(route)
  const limit = route.large === true ? limits.largeBodyBytes : limits.bodyBytes
  return async (request, { parameters, query }) => {
    const rest = route.method === "POST" ? await readBody(request, limit) : readQuery(query, types)
    const twice = Object.keys(parameters).find((name) => Object.hasOwn(rest, name))
    if (twice !== undefined) throw invalid(`\`${twice}\` belongs into the address only`)
    const input = { ...rest, ...parameters }
    const { valid, errors } = validator.validate(input)
    if (!valid) throw invalid(describe(errors))
    return input
  }
}

/** Reads JSON of at most so many bytes; an empty body is an empty object. */
const readBody = async (request: IncomingMessage, limit: number): Promise<JsonObject> => {
  const bytes = await collect(request, limit)
  if (bytes.length === 0) return {}
  const type = request.headers["content-type"] ?? ""
  const encoding = request.headers["content-encoding"] ?? "identity"
  if (!/^application\/json\s*(;|$)/i.test(type) || encoding !== "identity")
    throw new Failure("MEDIA_TYPE_REFUSED")
  const value = parse(bytes)
  if (!isObject(value)) throw invalid("The body is a JSON object")
  return value
}

/** Listens instead of iterating: half the cost of a small request. */
const collect = (request: IncomingMessage, limit: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const tooLarge = (): void => reject(new Failure("BODY_TOO_LARGE", { limit }))
    if (Number(request.headers["content-length"] ?? 0) > limit) return tooLarge()
    const pieces: Buffer[] = []
    let size = 0
    request.on("data", (piece: Buffer) => {
      size += piece.length
      // The rest is thrown away as it comes, not refused: the client has to hear why.
      if (size <= limit) pieces.push(piece)
      else {
        pieces.length = 0
        tooLarge()
      }
    })
    request.once("end", () =>
      resolve(pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)),
    )
    request.once("error", reject)
    request.once("close", () => reject(new Failure("REQUEST_MALFORMED")))
  })

const UTF8 = new TextDecoder("utf-8", { fatal: true })

const parse = (bytes: Buffer): Json => {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what JSON.parse returns is JSON
    return JSON.parse(UTF8.decode(bytes)) as Json
  } catch {
    throw invalid("The body is not JSON in UTF-8")
  }
}

const readQuery = (query: string, types: ReadonlyMap<string, string>): JsonObject => {
  const values: Record<string, Json> = {}
  for (const [name, text] of new URLSearchParams(query)) {
    if (Object.hasOwn(values, name)) throw invalid(`\`${name}\` is given twice`)
    Object.defineProperty(values, name, { value: typed(text, types.get(name)), enumerable: true })
  }
  return values
}

/** Text that is no such value stays text: the shape then says what is wrong. */
const typed = (text: string, type: string | undefined): Json => {
  if (type === "integer" && /^-?\d{1,16}$/.test(text)) return Number(text)
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true"
  return text
}

const queryTypes = (route: Route): ReadonlyMap<string, string> => {
  const { properties } = route.input.json
  if (!isObject(properties)) return new Map()
  return new Map(
    Object.entries(properties).flatMap(([name, shape]) =>
      isObject(shape) && typeof shape["type"] === "string" ? [[name, shape["type"]]] : [],
    ),
  )
}

type Problem = {
  readonly keyword: string
  readonly instanceLocation: string
  readonly error: string
}

/** The last problem is the innermost one. */
const describe = (errors: readonly Problem[]): string => {
  const problem = errors.at(-1)
  if (problem === undefined) return "The input is not as described"
  const where = problem.instanceLocation.replace(/^#\/?/, "").replaceAll("/", ".")
  const what = problem.error
    .replace(/\.$/, "")
    .replace(/^Instance/, "the value")
    .slice(0, 300)
  if (problem.keyword === "false") return `\`${where}\` is not known here`
  return where === "" ? what.replace("the value", "The input") : `\`${where}\`: ${what}`
}

const invalid = (what: string): Failure => new Failure("INVALID_INPUT", { what })

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The library adds marks to the schema it is given. */
const clone = (schema: JsonObject): Record<string, Json> => structuredClone({ ...schema })
