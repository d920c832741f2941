/** Spaces on disk: made in one step, listed by directory, changed under their lock. */
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { Failure, systemCode, type SpaceId } from "@meridian/protocol"

import { asSpaceId, byNumber, nextSpaceId } from "../domain/identifier.ts"
import { decodeSpace, encodeSpace, type Space } from "../domain/space.ts"
import { readDocument, replaceFile, syncDirectory } from "./document.ts"
import { ensureGitignore } from "./gitignore.ts"
import { withLock } from "./lock.ts"
import { isMissing } from "./open-file.ts"
import { spacePlace, spacePlaceIn, type StatePlace } from "./place.ts"

export type FoundSpace =
  | { readonly tag: "space"; readonly id: SpaceId; readonly space: Space }
  | { readonly tag: "damaged"; readonly id: SpaceId; readonly reason: string }

/** The name of a space still being made. A crash leaves it under this name, and it does not count as a space. */
const UNBORN = ".new-"

/** Makes everything a space has in a directory that gets the space's id only when it is whole. */
export const createSpace = (
  place: StatePlace,
  options: { readonly name: string | undefined; readonly now: string },
): Promise<Space> =>
  withLock(place.spacesLock, () => {
    ensureGitignore(place)
    for (const name of readdirSync(place.spaces))
      if (name.startsWith(UNBORN)) rmSync(join(place.spaces, name), { recursive: true, force: true })
    const id = nextSpaceId(readdirSync(place.spaces))
    const space: Space = {
      id,
      name: options.name,
      status: "active",
      startedAt: options.now,
      finishedAt: undefined,
    }
    const unborn = spacePlaceIn(join(place.spaces, `${UNBORN}${id}`), id)
    for (const directory of [unborn.directory, unborn.chats, unborn.runs, unborn.fs])
      mkdirSync(directory, { mode: 0o700 })
    for (const empty of [unborn.lock, unborn.runsLock, unborn.chatsLock, unborn.chatsLog])
      writeFileSync(empty, "", { mode: 0o600 })
    replaceFile(unborn.document, encodeSpace(space))
    renameSync(unborn.directory, spacePlace(place, id).directory)
    syncDirectory(place.spaces)
    return space
  })

/** `start` ensures it for old spaces too. */
export const keepGitignore = (place: StatePlace): Promise<void> =>
  withLock(place.spacesLock, () => ensureGitignore(place))

/** By number. */
export const listSpaces = (place: StatePlace): readonly FoundSpace[] =>
  directoryNames(place.spaces)
    .flatMap((name) => asSpaceId(name) ?? [])
    .toSorted(byNumber)
    .map((id) => readSpace(place, id))

export const readSpace = (place: StatePlace, id: SpaceId): FoundSpace => {
  const content = readIfAllowed(spacePlace(place, id).document)
  if (content instanceof Failure)
    return {
      tag: "damaged",
      id,
      reason: `space.json: ${systemCode(content.cause) || "it is not a plain file"}`,
    }
  if (content instanceof Error) return { tag: "damaged", id, reason: `space.json: ${content.message}` }
  if (content === undefined) return { tag: "damaged", id, reason: "space.json is missing" }
  const decoded = decodeSpace(content, id)
  return decoded.tag === "space"
    ? { ...decoded, id }
    : { tag: "damaged", id, reason: `space.json: ${decoded.reason}` }
}

/** An unreadable file is the trouble of its own space. The others still work. */
const readIfAllowed = (path: string): ReturnType<typeof readDocument> | Error => {
  try {
    return readDocument(path)
  } catch (error) {
    if (error instanceof Failure || (error instanceof Error && "syscall" in error)) return error
    throw error
  }
}

/** The space that a user named. Its file must be sound. */
export const findSpace = (place: StatePlace, reference: string): Space => {
  const id = asSpaceId(reference)
  if (id === undefined || !directoryNames(place.spaces).includes(id))
    throw new Failure("SPACE_NOT_FOUND", { space: reference })
  const found = readSpace(place, id)
  if (found.tag === "damaged")
    throw new Failure("SPACE_DAMAGED", {
      space: id,
      reason: found.reason,
      file: spacePlace(place, id).document,
    })
  return found.space
}

/** Reads, changes and replaces `space.json` in one critical section. Writes nothing if nothing changed. */
export const changeSpace = (
  place: StatePlace,
  id: SpaceId,
  change: (space: Space) => Space,
): Promise<Space> =>
  withLock(spacePlace(place, id).lock, () => {
    const before = findSpace(place, id)
    const after = change(before)
    if (after !== before) replaceFile(spacePlace(place, id).document, encodeSpace(after))
    return after
  })

export const directoryNames = (directory: string): readonly string[] => {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
