/**
 * Which runs write into which checkout of a repository, over all projects and spaces of this user. Each run makes one
 * small file before it looks for others, so two that begin at the same moment see each other. A file whose process is
 * gone means nothing.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { decodeLine, encodeLine, text } from "../domain/json-line.ts"
import { readMark, writeMark, type ProcessMark } from "../domain/process-mark.ts"
import { isAlive } from "../store/process-table.ts"
import { readSmall } from "./find-repository.ts"
import { namesIn, type WorktreesPlace } from "./worktree-place.ts"

export interface Writer {
  /** The top of the checkout. */
  readonly top: string
  /** `s1 r2`, and the project that has this space and run. */
  readonly name: string
  readonly project: string
  readonly holder: ProcessMark | undefined
}

export interface Announced {
  readonly others: readonly Writer[]
  /** Replaces the name once a better one is known. */
  readonly rename: (name: string) => void
  readonly close: () => void
}

export const announceWriter = (place: WorktreesPlace, writer: Writer, uuid: () => string): Announced => {
  mkdirSync(place.writers, { recursive: true, mode: 0o700 })
  const own = uuid()
  const write = (name: string): void =>
    writeFileSync(
      join(place.writers, own),
      encodeLine({ top: writer.top, name, project: writer.project, ...writeMark("holder", writer.holder) }),
      { mode: 0o600 },
    )
  write(writer.name)
  return {
    others: readWriters(place, own).filter(({ top }) => top === writer.top),
    rename: write,
    close: () => rmSync(join(place.writers, own), { force: true }),
  }
}

const readWriters = (place: WorktreesPlace, own: string): readonly Writer[] =>
  namesIn(place.writers).flatMap((file): readonly Writer[] => {
    if (file === own) return []
    const path = join(place.writers, file)
    const fields = decodeLine(readSmall(path) ?? "")
    const [top, name, project] = ["top", "name", "project"].map((key) => text(fields ?? {}, key))
    const holder = fields === undefined ? undefined : readMark(fields, "holder")
    // A file still being written has no content yet; its writer looks later than we do.
    if (top === undefined || name === undefined || project === undefined || holder === undefined) return []
    if (isAlive(holder)) return [{ top, name, project, holder }]
    rmSync(path, { force: true })
    return []
  })
