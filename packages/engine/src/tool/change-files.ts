/**
 * Several changes of files as one: all are made, or none. First each change is prepared beside its file, where a full disk
 * or missing rights show before anything is visible. Then one rename each puts them in place. When one of those fails, or
 * the call is interrupted, the earlier ones are undone, newest first.
 *
 * If the process is killed between two renames, the first one stays. The session's log shows which call it was.
 */
import { constants, type BigIntStats } from "node:fs"
import { access, link, lstat, rename, rmdir, unlink } from "node:fs/promises"
import { dirname } from "node:path"

import { systemCode } from "@meridian/protocol"

import { unreachable } from "../domain/assert.ts"
import { ToolError } from "../port/tool.ts"
import { fileError, throwIfAborted } from "./describe-error.ts"
import { openParent } from "./open-verified.ts"
import {
  checkKind,
  checkUnchanged,
  temporaryName,
  writeTemporary,
  type FileSnapshot,
} from "./replace-file.ts"
import type { ResolvedPath } from "./resolve-path.ts"

export type FileChange = { readonly path: ResolvedPath } &
  /** `like`: the file whose mode it copies. */
  (
    | { readonly type: "add"; readonly bytes: Uint8Array; readonly like?: FileSnapshot }
    | { readonly type: "update"; readonly bytes: Uint8Array; readonly snapshot: FileSnapshot }
    | { readonly type: "delete"; readonly snapshot: FileSnapshot }
  )

export type ChangedFiles =
  | { readonly kind: "changed" }
  /** Nothing is changed, except the files in `left`: somebody else touched them before they could be restored. */
  | {
      readonly kind: "failed"
      readonly change: FileChange
      readonly error: ToolError
      readonly left: readonly FileChange[]
    }

export const changeFiles = async (
  changes: readonly FileChange[],
  signal: AbortSignal,
): Promise<ChangedFiles> => {
  const prepared: Prepared[] = []
  const made: Prepared[] = []
  try {
    for (const change of changes) {
      const failure = await attempt(change, signal, async () => {
        prepared.push(await prepare(change))
      })
      if (failure !== undefined) return { ...failure, left: [] }
    }
    for (const one of prepared) {
      const failure = await attempt(one.change, signal, one.put)
      if (failure !== undefined) return { ...failure, left: await takeBack(made) }
      made.push(one)
    }
    return { kind: "changed" }
  } finally {
    for (const one of prepared.toReversed()) await one.clean({ stays: made.length === changes.length })
  }
}

const attempt = async (change: FileChange, signal: AbortSignal, act: () => Promise<void>) => {
  try {
    throwIfAborted(signal)
    await act()
    return undefined
  } catch (error) {
    return { kind: "failed", change, error: fileError(error, change.path.named) } as const
  }
}

const takeBack = async (made: readonly Prepared[]): Promise<readonly FileChange[]> => {
  const left: FileChange[] = []
  for (const one of made.toReversed())
    await one.takeBack().catch(() => {
      left.unshift(one.change)
    })
  return left
}

interface Prepared {
  readonly change: FileChange
  readonly put: () => Promise<void>
  /** Undoes the change. Rejects when the file is no longer what we put there. */
  readonly takeBack: () => Promise<void>
  /** Removes temporary files. Never rejects. */
  readonly clean: (outcome: { readonly stays: boolean }) => Promise<void>
}

const prepare = async (change: FileChange): Promise<Prepared> => {
  const { path } = change
  const missing = change.type === "add" ? await missingDirectories(path.absolute) : []
  const dropDirectories = async (): Promise<void> => {
    for (const directory of missing) await rmdir(directory).catch(() => undefined)
  }
  const parent = await openParent(path, { create: change.type === "add" }).catch(async (error: unknown) => {
    await dropDirectories()
    throw error
  })
  const names: Names = {
    target: parent.child(parent.name),
    fresh: parent.child(temporaryName(parent.name)),
    old: parent.child(temporaryName(parent.name)),
  }
  const clean: Prepared["clean"] = async ({ stays }) => {
    for (const name of [names.fresh, names.old]) await unlink(name).catch(() => undefined)
    await parent[Symbol.asyncDispose]()
    if (!stays) await dropDirectories()
  }
  try {
    if (change.type !== "delete") await writeFresh(change, names)
    return { change, clean, ...stepsOf(change, names) }
  } catch (error) {
    await clean({ stays: false })
    throw error
  }
}

interface Names {
  readonly target: string
  /** The temporary file with the new content. */
  readonly fresh: string
  /** The temporary file with the old content. */
  readonly old: string
}

const writeFresh = async (
  change: Exclude<FileChange, { readonly type: "delete" }>,
  { target, fresh }: Names,
): Promise<void> => {
  const current = await lstat(target, { bigint: true }).catch(orMissing)
  checkKind(
    change.path,
    current,
    change.type === "add" ? { type: "absent" } : { type: "unchanged", snapshot: change.snapshot },
  )
  if (current !== undefined) await access(target, constants.W_OK)
  await writeTemporary(fresh, change.bytes, change.type === "add" ? change.like?.stats : current)
}

const stepsOf = (change: FileChange, { target, fresh, old }: Names): Pick<Prepared, "put" | "takeBack"> => {
  let placed: BigIntStats | undefined
  const mustBeOurs = async (): Promise<void> => {
    const now = await lstat(target, { bigint: true })
    if (now.ino !== placed?.ino || now.dev !== placed.dev || now.mtimeNs !== placed.mtimeNs)
      throw new ToolError("failed", "Somebody else has changed the file since.")
  }
  switch (change.type) {
    case "add":
      return {
        put: async () => {
          placed = await lstat(fresh, { bigint: true })
          await link(fresh, target)
        },
        takeBack: async () => {
          await mustBeOurs()
          await unlink(target)
        },
      }
    case "update":
      return {
        put: async () => {
          await checkUnchanged(change.path, change.snapshot)
          await link(target, old)
          placed = await lstat(fresh, { bigint: true })
          await rename(fresh, target)
        },
        takeBack: async () => {
          await mustBeOurs()
          await rename(old, target)
        },
      }
    case "delete":
      return {
        put: async () => {
          await checkUnchanged(change.path, change.snapshot)
          await rename(target, old)
        },
        // Does not overwrite a file that somebody has created there since.
        takeBack: () => link(old, target),
      }
    default:
      return unreachable(change)
  }
}

/** Missing directories that an added file needs, innermost first. */
const missingDirectories = async (absolute: string): Promise<readonly string[]> => {
  const missing: string[] = []
  for (let at = dirname(absolute); at !== dirname(at); at = dirname(at)) {
    if ((await lstat(at).catch(orMissing)) !== undefined) return missing
    missing.push(at)
  }
  return missing
}

const orMissing = (error: unknown): undefined => {
  if (systemCode(error) !== "ENOENT") throw error
}
