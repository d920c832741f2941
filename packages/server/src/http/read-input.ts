/** Path, query and body -> the input of a route, checked against its shape. */
import type { IncomingMessage } from "node:http"

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
import type { HttpLimits } from "./limits.ts"

export type InputReader<Input> = (
  request: IncomingMessage,
  address: { readonly parameters: Readonly<Record<string, string>>; readonly query: string },
) => Promise<Input>

/** Made once for each route. */
export const makeInputReader = <Input>(
  route: Route & { readonly input: Shape<Input> },
  limits: HttpLimits,
): InputReader<Input> => {
  const hasBody = route.method === "POST"
  // Everything in a query is text.
  const decode = decoder(route.input, { loose: !hasBody })
  const limit = route.large === true ? limits.largeBodyBytes : limits.bodyBytes
  return async (request, { parameters, query }) => {
    const rest = hasBody ? await readBody(request, limit) : readQuery(query)
    const twice = Object.keys(parameters).find((name) => Object.hasOwn(rest, name))
    if (twice !== undefined) throw invalid(`\`${twice}\` is part of the address, not of the input`)
    const decoded = decode({ ...rest, ...parameters })
    if (decoded.tag === "problem") throw invalid(problemText(decoded.problem, "The input"))
    return decoded.value
  }
}

/** JSON of at most so many bytes; an empty body is an empty object. */
const readBody = async (request: IncomingMessage, limit: number): Promise<JsonObject> => {
  const bytes = await collect(request, limit)
  if (bytes.length === 0) return {}
  const type = request.headers["content-type"] ?? ""
  const encoding = request.headers["content-encoding"] ?? "identity"
  if (!/^application\/json\s*(;|$)/i.test(type) || encoding !== "identity")
    throw new Failure("MEDIA_TYPE_REFUSED")
  const value = parse(bytes)
  if (!isJsonObject(value)) throw invalid("The body must be a JSON object")
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
      // The rest is dropped as it comes, not refused: the client has to hear why.
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

const readQuery = (query: string): JsonObject => {
  const values = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(query)) {
    if (values.has(name)) throw invalid(`\`${name}\` is given twice`)
    values.set(name, value)
  }
  return Object.fromEntries(values)
}

const invalid = (what: string): Failure => new Failure("INVALID_INPUT", { what })
