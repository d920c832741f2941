/** Checks what callers send: every field before anything happens. Unknown fields are refused. */
import { statSync } from "node:fs"
import { isAbsolute, normalize, resolve } from "node:path"

import {
  anyOf,
  BOOLEAN,
  CAP_FIELDS,
  CAPS,
  COUNT,
  DELIVERY,
  Failure,
  integer,
  isJsonObject,
  listOf,
  number,
  objectOf,
  oneOf,
  OVERRIDES_FIELDS,
  PERMISSION_REPLY,
  reader,
  RECOVERY,
  something,
  STRING,
  text,
  type Delivery,
  type Location,
  type Overrides,
  type Prompt,
  type Shape,
} from "@meridian/protocol"

import type { ImportInput, InputsRange, PageInput, Place } from "./api.ts"
import type { ImportRequest } from "./copy/index.ts"
import { cutText, LATEST_TIME } from "./domain/import-values.ts"
import { LIMITS } from "./domain/limits.ts"
import { checkOverrides, overridesOf } from "./domain/overrides.ts"
import type { Places } from "./domain/workspaces.ts"
import type { InputRange } from "./port/store.ts"
import type { PageRequest } from "./reading/index.ts"

const invalid = (what: string): Failure => new Failure("INVALID_INPUT", { what })

/** An undefined key counts as absent. */
export const present = (request: unknown): unknown => {
  if (!isJsonObject(request)) return request
  const entries = Object.entries<unknown>(request)
  return entries.every(([, value]) => value !== undefined)
    ? request
    : Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

const NAME = text({ least: 1 })
const SESSION = { sessionID: NAME }
const ID = text({
  pattern: /^[\p{L}\p{N}_.:@/+-]{1,200}$/u,
  like: "1 to 200 letters, digits or _ . : @ / + -",
})
const PLACE = objectOf(
  {
    directory: something<string>(
      "an absolute path",
      (value) => typeof value === "string" && value !== "" && !value.includes("\0"),
    ),
  },
  { workspace: ID, workspaceID: ID },
)

const FILE = objectOf(
  {
    // Checked here, because a provider would refuse it only after it has become part of the history.
    mediaType: text({ pattern: /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/, like: "a media type such as image/png" }),
    base64: text({ pattern: /^[A-Za-z0-9+/]*={0,2}$/, like: "base64" }),
  },
  { name: STRING },
)

const PIECES: Shape<ImportInput["history"]> = something(
  "a list of pieces, or something that reads them one by one",
  (value) =>
    typeof value === "object" &&
    value !== null &&
    (Symbol.iterator in value || Symbol.asyncIterator in value),
)

const SEQUENCE = something<number>(
  "a sequence number of 0 or more",
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
)

const PAGE = { cursor: STRING, order: oneOf("asc", "desc"), bytes: number({ above: 0 }) }

const what = "The request"

export const readSessionId = reader(NAME, { what: "A session id" })

export const readCreate = reader(
  objectOf(
    { location: PLACE },
    { id: ID, agent: NAME, model: NAME, title: STRING, recovery: RECOVERY, budget: CAPS },
  ),
  { what },
)
const AT = anyOf(NAME, integer(1, 1_000_000_000))
export const readFork = reader(objectOf(SESSION, { id: ID, at: AT, files: BOOLEAN, overwrite: BOOLEAN }), {
  what,
})
export const readUndo = reader(
  objectOf(SESSION, {
    count: integer(1, 1_000_000_000),
    conversation: BOOLEAN,
    files: BOOLEAN,
    overwrite: BOOLEAN,
  }),
  { what },
)
export const readRedo = reader(objectOf(SESSION, { overwrite: BOOLEAN }), { what })
export const readFiles = reader(objectOf(SESSION, { at: AT, diff: oneOf("patch", "stat", "names") }), {
  what,
})
export const readMove = reader(objectOf({ ...SESSION, location: PLACE }), { what })
export const readNamed = reader(objectOf({ ...SESSION, id: NAME }), { what })
export const readModelSwitch = reader(objectOf({ ...SESSION, model: NAME }), { what })
export const readAgentSwitch = reader(objectOf({ ...SESSION, agent: NAME }), { what })
export const readRestore = reader(objectOf(SESSION, { compactionID: STRING }), { what })
export const readTail = reader(objectOf(SESSION, { after: SEQUENCE, follow: BOOLEAN }), { what })
export const readAbout = reader(objectOf({}, SESSION), { what })
export const readRename = reader(
  objectOf({
    ...SESSION,
    /** The title for lists: one line that is not blank. */
    title: text({
      most: LIMITS.titleCharacters,
      pattern: /\S/,
      like: `a title of 1 to ${LIMITS.titleCharacters} characters`,
    }),
  }),
  { what },
)
export interface SyntheticRequest {
  readonly sessionID: string
  readonly text: string
  readonly id?: string
}
export const readSynthetic = reader(
  objectOf(
    {
      ...SESSION,
      text: text({
        most: LIMITS.syntheticCharacters,
        pattern: /\S/u,
        like: `a text of 1 to ${LIMITS.syntheticCharacters} characters`,
      }),
    },
    { id: ID },
  ),
  { what },
)
export const readSearch = reader(
  objectOf({ ...SESSION, words: text({ least: 1, most: 1_000, pattern: /\S/u, like: "some words" }) }),
  { what },
)
export const readArchive = reader(objectOf({ ...SESSION, archived: BOOLEAN }), { what })
export const readBudget = reader(objectOf(SESSION, CAP_FIELDS), { what })
export const readRevoke = reader(objectOf({ id: STRING }), { what })
export const readReply = reader(
  objectOf({ requestID: STRING, reply: PERMISSION_REPLY }, { message: STRING }),
  { what },
)

export const readAnswer = reader(
  objectOf({ requestID: STRING, answer: anyOf(STRING, listOf(STRING, LIMITS.questionChoices)) }),
  { what },
)

/** In the format of W3C Trace Context. */
const TRACE = text({
  pattern: /^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/,
  like: "a traceparent such as 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
})

const readPromptForm = reader(
  objectOf(
    { ...SESSION, prompt: objectOf({ text: STRING }, { files: listOf(FILE, LIMITS.promptFiles) }) },
    { id: ID, delivery: DELIVERY, resume: BOOLEAN, expand: BOOLEAN, trace: TRACE, ...OVERRIDES_FIELDS },
  ),
  { what },
)

export interface PromptRequest {
  readonly sessionID: string
  readonly prompt: Prompt
  readonly id: string | undefined
  readonly delivery: Delivery
  readonly resume: boolean
  readonly expand: boolean
  readonly overrides: Overrides
  readonly trace?: string | undefined
}

export const readPrompt = (input: unknown): PromptRequest => {
  const request = readPromptForm(input)
  const bytes = bytesOf(request.prompt)
  if (bytes === 0) throw invalid("A prompt is not empty")
  if (bytes > LIMITS.promptBytes)
    throw invalid(`A prompt is at most ${LIMITS.promptBytes} bytes, this one is ${bytes}`)
  const { sessionID, prompt, id, delivery = "steer", resume = true, expand = false } = request
  const overrides = checkOverrides(overridesOf(request))
  return { sessionID, prompt, id, delivery, resume, expand, overrides, trace: request.trace }
}

const bytesOf = ({ text: words, files = [] }: Prompt): number =>
  Buffer.byteLength(words) + files.reduce((sum, file) => sum + Math.max(1, file.base64.length), 0)

export { bytesOf as promptBytes }

const readImportForm = reader(
  objectOf(
    {
      location: PLACE,
      source: objectOf({
        format: text({ pattern: /^[a-z]{1,20}$/, like: "1 to 20 small letters" }),
        id: NAME,
        digest: NAME,
      }),
      history: PIECES,
    },
    { id: ID, title: STRING, began: integer(0, LATEST_TIME) },
  ),
  { what },
)

export const readImport = (input: unknown, places: Places): ImportRequest => {
  const { id, location, title, source, began, history } = readImportForm(input)
  return {
    id,
    location: findLocation(location, places),
    title,
    source: { format: source.format, id: cutText(source.id, 500), digest: cutText(source.digest, 500) },
    began,
    history,
  }
}

/**
 * The location in its stored form, or a failure when the place does not exist. A place in a workspace that this engine
 * lacks is left for other nodes to check.
 */
export const findLocation = (given: Place, places: Places): Location => {
  const { directory, workspace: workspaceID = given.workspaceID } = given
  if (given.workspaceID !== undefined && given.workspaceID !== workspaceID)
    throw invalid("A location has one workspace: workspace and workspaceID are the same")
  if (!isAbsolute(directory) && workspaceID === undefined)
    throw invalid(
      "`location.directory` must be an absolute path, not text that only a named workspace could place",
    )
  const location: Location = {
    directory: isAbsolute(directory) ? resolve(directory) : normalize(directory),
    ...(workspaceID === undefined ? {} : { workspaceID }),
  }
  if (!places.has(location)) return location
  const here = places.directoryOf(location)
  if (!isAbsolute(here))
    throw invalid("`location.directory` must be an absolute path: this workspace has no folder here")
  if (statSync(here, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new Failure("LOCATION_NOT_FOUND", { directory: here })
  return places.written(location)
}

const readRange = reader(
  objectOf({}, { after: COUNT, limit: integer(1, 1_000), bytes: number({ above: 0 }) }),
  { what: "The range of inputs" },
)

export const readInputsRange = (range: InputsRange | undefined): InputRange | undefined => {
  if (range === undefined) return undefined
  const { after = 0, limit = 1_000, bytes = Number.MAX_VALUE } = readRange(range)
  return { after, limit, bytes }
}

const withDefaults = ({
  limit = LIMITS.messagesPerPageByDefault,
  order = "asc",
  cursor,
  bytes,
}: PageInput): PageRequest => ({
  limit,
  order,
  ...(cursor === undefined ? {} : { cursor }),
  ...(bytes === undefined ? {} : { bytes }),
})

const readSessionPage = reader(objectOf({}, { ...PAGE, limit: integer(1, LIMITS.sessionsPerPage) }), { what })
const readMessagePage = reader(objectOf(SESSION, { ...PAGE, limit: integer(1, LIMITS.messagesPerPage) }), {
  what,
})

export const readSessionsPage = (input: unknown): PageRequest => withDefaults(readSessionPage(input))

export const readMessagesPage = (
  input: unknown,
): { readonly sessionID: string; readonly page: PageRequest } => {
  const { sessionID, ...page } = readMessagePage(input)
  return { sessionID, page: withDefaults(page) }
}
