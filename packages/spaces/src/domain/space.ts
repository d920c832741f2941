/**
 * `space.json`: `{"schema_version":1,"id":"s3","name":"feature-auth","status":"active","started_at":"…Z","finished_at":null}`.
 * A space is closed exactly when `finished_at` is set; a file that says both is contradictory and `doctor` repairs it.
 */
import { isJsonObject, type SpaceId } from "@meridian/protocol"

import { asSpaceId } from "./identifier.ts"
import { choice, decodeJson, text, type Fields } from "./json-line.ts"

export type SpaceStatus = "active" | "closed"

export interface Space {
  readonly id: SpaceId
  readonly name: string | undefined
  readonly status: SpaceStatus
  readonly startedAt: string
  readonly finishedAt: string | undefined
  /** Fields of a newer writer, kept as they are. */
  readonly extra?: Fields
}

export type SpaceDocument =
  | { readonly tag: "space"; readonly space: Space }
  | { readonly tag: "damaged"; readonly reason: string }

const SCHEMA_VERSION = 1

const OWN_KEYS = new Set([
  "schema_version",
  "id",
  "name",
  "status",
  "started_at",
  "created_at",
  "finished_at",
])

export const decodeSpace = (content: string, id: SpaceId): SpaceDocument => {
  const fields = decodeJson(content)
  if (!isJsonObject(fields)) return { tag: "damaged", reason: "not a JSON object" }
  if (fields["schema_version"] !== SCHEMA_VERSION)
    return { tag: "damaged", reason: `schema_version is ${JSON.stringify(fields["schema_version"])}, not 1` }
  if (asSpaceId(text(fields, "id")) !== id) return { tag: "damaged", reason: `id is not ${id}` }
  const status = choice(fields, "status", ["active", "closed"] as const)
  if (status === undefined) return { tag: "damaged", reason: "status is neither active nor closed" }
  const startedAt = text(fields, "started_at") ?? text(fields, "created_at")
  if (startedAt === undefined) return { tag: "damaged", reason: "started_at is missing" }
  return {
    tag: "space",
    space: {
      id,
      name: text(fields, "name"),
      status,
      startedAt,
      finishedAt: text(fields, "finished_at"),
      extra: Object.fromEntries(Object.entries(fields).filter(([key]) => !OWN_KEYS.has(key))),
    },
  }
}

export const encodeSpace = (space: Space): string =>
  `${JSON.stringify({
    schema_version: SCHEMA_VERSION,
    id: space.id,
    name: space.name ?? null,
    status: space.status,
    started_at: space.startedAt,
    finished_at: space.finishedAt ?? null,
    ...space.extra,
  })}\n`

/** What `doctor` makes of a space whose file and locks contradict each other. Undefined if they agree. */
export const repairStatus = (
  space: Space,
  facts: { readonly alive: boolean; readonly now: string },
): Space | undefined => {
  if (facts.alive)
    return space.status === "active" && space.finishedAt === undefined
      ? undefined
      : { ...space, status: "active", finishedAt: undefined }
  const closed = space.status === "closed"
  if (closed === (space.finishedAt !== undefined)) return undefined
  return { ...space, status: "closed", finishedAt: space.finishedAt ?? facts.now }
}

/** `s3 ("feature-auth")`, or the id alone. */
export const spaceTitle = (space: { readonly id: string; readonly name?: string | undefined }): string =>
  space.name === undefined ? space.id : `${space.id} ("${space.name}")`
