/**
 * The trust book: which folders this user trusts, with which values and up to which tier. It is one JSON document
 * among the user's own files, never in a folder it is about (`store/trust-store.ts`):
 *
 *   {"version":1,"folders":[{"path":"/home/me/app","owner":1000,"id":"<random>","tier":"read-only",
 *     "values":{"harness.claude":"\"./bin/claude\""},"at":"2026-11-16T08:00:00.000Z"}]}
 *
 * `path` is the canonical path of the project, `owner` the user id it belonged to. `id` is random. The folder's
 * engine database carries it too, so that a database someone else put there is not taken for ours. An entry without
 * `tier` is known but not trusted; `refused` is what a person said no to. A database outside a state folder has its
 * own entry, under its own path.
 */
import { isJsonObject } from "@meridian/protocol"

import { MOST_CLAIMS, type Claim } from "./claim.ts"
import { decodeJson, number, text, type Fields } from "./json-line.ts"
import { asFileTier, type FileTier } from "./tier.ts"

export interface TrustEntry {
  readonly path: string
  readonly owner: number
  readonly id: string
  readonly tier?: FileTier
  /** Key of a claim -> JSON text of the value that the user saw. */
  readonly values: Readonly<Record<string, string>>
  readonly refused?: string
  /** Which engine database is this user's own; see `operation/database-trust.ts`. */
  readonly database?: string
  /** ISO time. */
  readonly at: string
}

export interface TrustBook {
  readonly entries: readonly TrustEntry[]
  /** The key that seals records of chats; see `operation/seal.ts`. */
  readonly key?: string
}

export const EMPTY_BOOK: TrustBook = { entries: [] }

/** Above this, the oldest entries that trust nothing make room first. */
export const MOST_FOLDERS = 2_000

export const findEntry = (
  { entries }: TrustBook,
  folder: { readonly path: string; readonly owner: number },
): TrustEntry | undefined =>
  // A folder that changed hands is a different folder.
  entries.find(({ path, owner }) => path === folder.path && owner === folder.owner)

/** Undefined if the book is full of trusted folders. */
export const putEntry = (book: TrustBook, entry: TrustEntry): TrustBook | undefined => {
  const others = book.entries.filter(({ path }) => path !== entry.path)
  if (others.length < MOST_FOLDERS) return { ...book, entries: [...others, entry] }
  const idle = others.findIndex(({ tier }) => tier === undefined)
  return idle === -1 ? undefined : { ...book, entries: [...others.toSpliced(idle, 1), entry] }
}

export const withoutEntry = (book: TrustBook, path: string): TrustBook => ({
  ...book,
  entries: book.entries.filter((entry) => entry.path !== path),
})

/** Whether the user trusted the folder with exactly this value. */
export const isCovered = (claim: Claim, entry: TrustEntry | undefined): boolean =>
  entry?.tier !== undefined &&
  Object.hasOwn(entry.values, claim.key) &&
  entry.values[claim.key] === claim.value

export const valuesOf = (claims: readonly Claim[]): TrustEntry["values"] =>
  Object.fromEntries(claims.slice(0, MOST_CLAIMS).map(({ key, value }) => [key, value]))

export const encodeBook = ({ entries, key }: TrustBook): string =>
  `${JSON.stringify({ version: 1, key, folders: entries }, undefined, 1)}\n`

/** Returns the reason as text if it is not a trust book. An unreadable entry is left out: it trusts nothing. */
export const decodeBook = (content: string): TrustBook | string => {
  const fields = decodeJson(content)
  if (!isJsonObject(fields)) return "it is not a JSON object"
  if (fields["version"] !== 1) return `its version is ${JSON.stringify(fields["version"])}, not 1`
  const folders = fields["folders"]
  if (!Array.isArray(folders)) return "it has no list of folders"
  const key = text(fields, "key")
  return {
    entries: folders.flatMap((entry: unknown) => (isJsonObject(entry) ? (readEntry(entry) ?? []) : [])),
    ...(key === undefined ? {} : { key }),
  }
}

const readEntry = (fields: Fields): TrustEntry | undefined => {
  const [path, id] = [text(fields, "path"), text(fields, "id")]
  const owner = number(fields, "owner")
  if (path === undefined || id === undefined || owner === undefined) return undefined
  const tier = asFileTier(fields["tier"])
  const refused = text(fields, "refused")
  const database = text(fields, "database")
  const values = Object.entries(isJsonObject(fields["values"]) ? fields["values"] : {}).flatMap(
    ([key, value]) => (typeof value === "string" ? [[key, value] as const] : []),
  )
  return {
    path,
    owner,
    id,
    values: Object.fromEntries(values),
    at: text(fields, "at") ?? "",
    ...(tier === undefined ? {} : { tier }),
    ...(refused === undefined ? {} : { refused }),
    ...(database === undefined ? {} : { database }),
  }
}
