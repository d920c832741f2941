/** Turns path, query and body into the input of a route, checked against its shape. */
import type { ServerResponse } from "node:http"

import {
  decoder,
  Failure,
  isJsonObject,
  problemText,
  type Json,
  type JsonObject,
  type Shape,
} from "@meridian/protocol"

import type { Route } from "../contract/contract.ts"
import type { Incoming } from "./incoming.ts"
import type { HttpLimits } from "./limits.ts"

/** Takes the response: its request is read, and when it ends the body is released. */
export type InputReader<Input> = (
  response: ServerResponse,
  address: { readonly parameters: Readonly<Record<string, string>>; readonly query: string },
) => Promise<Input>

/** Made once per route. */
export const makeInputReader = <Input>(
  route: Route & { readonly input: Shape<Input> },
  limits: HttpLimits,
  incoming: Incoming,
): InputReader<Input> => {
  const hasBody = route.method === "POST"
  // Everything in a query is text.
  const decode = decoder(route.input, { loose: !hasBody })
  const limit = route.large === true ? limits.largeBodyBytes : limits.bodyBytes
  return async (response, { parameters, query }) => {
    const rest = hasBody ? await readBody(response, limit, incoming) : readQuery(query)
    const twice = Object.keys(parameters).find((name) => Object.hasOwn(rest, name))
    if (twice !== undefined) throw invalid(`\`${twice}\` is part of the address, not of the input`)
    const decoded = decode({ ...rest, ...parameters })
    if (decoded.tag === "problem") throw invalid(problemText(decoded.problem, "The input"))
    return decoded.value
  }
}

/** Reads JSON of at most `limit` bytes. An empty body is an empty object. */
const readBody = async (response: ServerResponse, limit: number, incoming: Incoming): Promise<JsonObject> => {
  const bytes = await collect(response, limit, incoming)
  if (bytes.length === 0) return {}
  const { req: request } = response
  const type = request.headers["content-type"] ?? ""
  const encoding = request.headers["content-encoding"] ?? "identity"
  if (!/^application\/json\s*(;|$)/i.test(type) || encoding !== "identity")
    throw new Failure("MEDIA_TYPE_REFUSED")
  const value = parse(bytes)
  if (!isJsonObject(value)) throw invalid("The body must be a JSON object")
  return value
}

/** Uses listeners instead of iteration, which halves the cost of a small request. */
const collect = (response: ServerResponse, limit: number, incoming: Incoming): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const { req: request } = response
    let pieces: Buffer[] | undefined = []
    let size = 0
    // Further data is discarded instead of cutting the connection, because the client must get the reason.
    const refuse = (failure: Failure): void => {
      pieces = undefined
      reject(failure)
    }
    if (Number(request.headers["content-length"] ?? 0) > limit)
      return refuse(new Failure("BODY_TOO_LARGE", { limit }))
    request.on("data", (piece: Buffer) => {
      if (pieces === undefined) return
      if (size + piece.length > limit) return refuse(new Failure("BODY_TOO_LARGE", { limit }))
      if (!incoming.take(piece.length)) return refuse(new Failure("SERVER_BUSY"))
      size += piece.length
      pieces.push(piece)
    })
    request.once("end", () => {
      if (pieces === undefined) return
      const [first] = pieces
      resolve(pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces))
      pieces = undefined
    })
    request.once("error", reject)
    response.once("close", () => incoming.give(size))
    request.once("close", () => {
      if (pieces !== undefined) refuse(new Failure("REQUEST_MALFORMED"))
    })
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

const readQuery = (query: string): JsonObject => {
  const values = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(query)) {
    if (values.has(name)) throw invalid(`\`${name}\` is given twice`)
    values.set(name, value)
  }
  return Object.fromEntries(values)
}

const invalid = (what: string): Failure => new Failure("INVALID_INPUT", { what })
