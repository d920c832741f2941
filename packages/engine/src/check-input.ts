/** What callers send comes from outside: every field is looked at before anything happens. */
import { statSync } from "node:fs"
import { isAbsolute, resolve } from "node:path"

import {
  COUNT,
  Failure,
  integer,
  number,
  objectOf,
  reader,
  type Location,
  type Prompt,
} from "@meridian/protocol"

import type { ImportInput, InputsRange, PageInput } from "./api.ts"
import type { ImportRequest } from "./copy/index.ts"
import { cutText, LATEST_TIME } from "./domain/import-values.ts"
import { LIMITS } from "./domain/limits.ts"
import type { InputRange } from "./port/store.ts"
import type { PageRequest } from "./reading/index.ts"

export const invalid = (what: string): Failure => new Failure("INVALID_INPUT", { what })

export const checkId = (id: string | undefined): string | undefined => {
  if (id === undefined) return undefined
  if (typeof id !== "string" || !/^[\p{L}\p{N}_.:@/+-]{1,200}$/u.test(id))
    throw invalid("An id is 1 to 200 letters, digits or _ . : @ / + -")
  return id
}

export const checkImport = ({ id, location, title, source, began, history }: ImportInput): ImportRequest => {
  const { format, id: name, digest }: Readonly<Record<string, unknown>> = Object(source)
  if (typeof format !== "string" || !/^[a-z]{1,20}$/.test(format))
    throw invalid("The `source` has a `format` of 1 to 20 small letters")
  if (typeof name !== "string" || typeof digest !== "string" || name === "" || digest === "")
    throw invalid("The `source` has an `id` and a `digest`")
  if (title !== undefined && typeof title !== "string") throw invalid("A title is a text")
  if (began !== undefined && (!Number.isSafeInteger(began) || began < 0 || began > LATEST_TIME))
    throw invalid("`began` is a time in milliseconds since 1970, before the year 10000")
  const given: unknown = history
  if (
    typeof given !== "object" ||
    given === null ||
    !(Symbol.iterator in given || Symbol.asyncIterator in given)
  )
    throw invalid("`history` is a list of pieces, or reads them one by one")
  return {
    id: checkId(id),
    location: checkLocation(location),
    title,
    source: { format, id: cutText(name, 500), digest: cutText(digest, 500) },
    began,
    history,
  }
}

export const checkPrompt = (prompt: Prompt): void => {
  const text: unknown = prompt?.text
  if (typeof text !== "string") throw invalid("A prompt has a `text`")
  const files = checkFiles(prompt.files ?? [])
  if (text === "" && files.length === 0) throw invalid("A prompt is not empty")
  if (files.length > LIMITS.promptFiles) throw invalid(`A prompt has at most ${LIMITS.promptFiles} files`)
  const bytes = Buffer.byteLength(text) + files.reduce((sum, file) => sum + file.base64.length, 0)
  if (bytes > LIMITS.promptBytes)
    throw invalid(`A prompt is at most ${LIMITS.promptBytes} bytes, this one is ${bytes}`)
}

const checkFiles = (files: unknown): NonNullable<Prompt["files"]> => {
  if (!Array.isArray(files)) throw invalid("`files` is a list")
  for (const file of files) {
    const { mediaType, base64, name }: Readonly<Record<string, unknown>> = Object(file)
    if (
      typeof mediaType !== "string" ||
      typeof base64 !== "string" ||
      (name !== undefined && typeof name !== "string")
    )
      throw invalid("A file has a `mediaType`, its content as `base64` and maybe a `name`")
    // A provider would refuse it only when it has become part of the history.
    if (!MEDIA_TYPE.test(mediaType)) throw invalid("A `mediaType` is like image/png")
    if (!BASE64.test(base64)) throw invalid("The content of a file is `base64`")
  }
  return files
}

export const checkDelivery = (delivery: unknown): void => {
  if (delivery !== "steer" && delivery !== "queue")
    throw invalid(`Delivery is "steer" or "queue", not ${JSON.stringify(delivery)}`)
}

const REPLIES: ReadonlySet<unknown> = new Set(["once", "always", "session", "reject"])

export const checkReply = (reply: unknown): void => {
  if (!REPLIES.has(reply)) throw invalid('A reply is "once", "always", "session" or "reject"')
}

export const checkSequence = (after: unknown): void => {
  if (!Number.isSafeInteger(after) || Number(after) < 0)
    throw invalid("`after` is a sequence number, 0 or more")
}

const MEDIA_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

export const checkLocation = (location: Location): Location => {
  const directory: unknown = location?.directory
  if (typeof directory !== "string" || !isAbsolute(directory) || directory.includes("\0"))
    throw invalid("A location is an absolute directory")
  const resolved = resolve(directory)
  if (statSync(resolved, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new Failure("LOCATION_NOT_FOUND", { directory: resolved })
  return { directory: resolved }
}

/** As it is shown in lists: one line that says something. */
export const checkTitle = (title: string): void => {
  if (title.trim() === "" || title.length > LIMITS.titleCharacters)
    throw invalid(`A title has 1 to ${LIMITS.titleCharacters} characters`)
}

const readInputsRange = reader(
  objectOf({}, { after: COUNT, limit: integer(1, 1_000), bytes: number({ above: 0 }) }),
  { what: "The range of inputs" },
)

export const checkInputsRange = (range: InputsRange | undefined): InputRange | undefined => {
  if (range === undefined) return undefined
  const { after = 0, limit = 1_000, bytes = Number.MAX_VALUE } = readInputsRange(range)
  return { after, limit, bytes }
}

export const checkPage = (input: PageInput, most: number): PageRequest => {
  const { cursor, limit = LIMITS.messagesPerPageByDefault, order = "asc", bytes } = input
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > most)
    throw invalid(`A page has 1 to ${most} items`)
  if (order !== "asc" && order !== "desc") throw invalid('Order is "asc" or "desc"')
  if (cursor !== undefined && typeof cursor !== "string") throw new Failure("INVALID_CURSOR")
  if (bytes !== undefined && !(typeof bytes === "number" && bytes > 0))
    throw invalid("`bytes` is a number above 0")
  return {
    limit,
    order,
    ...(cursor === undefined ? {} : { cursor }),
    ...(bytes === undefined ? {} : { bytes }),
  }
}
