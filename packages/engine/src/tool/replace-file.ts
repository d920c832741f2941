/**
 * Reads a file in order to change it, and replaces it completely or not at all (a temporary file beside it and a rename).
 * The mode is kept, and the file must still be what was read. There is no fsync: a power cut may bring back the old file,
 * never a torn one, and the session's log shows which call it was.
 */
import { randomBytes } from "node:crypto"
import { constants, fstatSync, type BigIntStats } from "node:fs"
import { access, link, lstat, open, rename, unlink } from "node:fs/promises"

import { systemCode } from "@meridian/protocol"

import { ToolError } from "../port/tool.ts"
import { fileError } from "./describe-error.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { openParent, openVerified } from "./open-verified.ts"
import { readAtMost } from "./read-at-most.ts"
import type { ResolvedPath } from "./resolve-path.ts"

/** A file as it was read. `replaceFile` compares with it before writing. */
export interface FileSnapshot {
  readonly bytes: Buffer
  readonly stats: BigIntStats
}

export const readSnapshot = async (path: ResolvedPath): Promise<FileSnapshot> => {
  await using opened = await openVerified(path)
  if (opened.stats.isDirectory())
    throw new ToolError("failed", `${JSON.stringify(path.named)} is a directory.`)
  if (opened.stats.size > BigInt(TOOL_LIMITS.editFileBytes)) throw tooLarge(path)
  const bytes = await readAtMost(opened.handle, TOOL_LIMITS.editFileBytes + 1)
  if (bytes.length > TOOL_LIMITS.editFileBytes) throw tooLarge(path)
  return { bytes, stats: opened.stats }
}

export type Expected =
  /** Refuses when the file is no longer what was read. */
  | { readonly type: "unchanged"; readonly snapshot: FileSnapshot }
  /** Refuses when the file exists now. */
  | { readonly type: "absent" }
  | { readonly type: "anything" }

/** Returns whether the file existed before. */
export const replaceFile = async (
  path: ResolvedPath,
  bytes: Uint8Array,
  expected: Expected,
): Promise<"created" | "replaced"> => {
  try {
    await using parent = await openParent(path, { create: expected.type !== "unchanged" })
    const target = parent.child(parent.name)
    const missing = (error: unknown): undefined => {
      if (systemCode(error) !== "ENOENT") throw error
    }
    const [current, readOnly] = await Promise.all([
      lstat(target, { bigint: true }).catch(missing),
      access(target, constants.W_OK).then(
        () => undefined,
        (error: unknown) => error,
      ),
    ])
    checkKind(path, current, expected)
    if (current !== undefined && readOnly !== undefined) throw readOnly
    const temporary = parent.child(temporaryName(parent.name))
    try {
      await writeTemporary(temporary, bytes, current)
      if (expected.type === "unchanged") await checkUnchanged(path, expected.snapshot)
      if (expected.type === "absent") await link(temporary, target)
      else await rename(temporary, target)
    } catch (error) {
      await unlink(temporary).catch(() => undefined)
      throw error
    }
    if (expected.type === "absent") await unlink(temporary)
    return current === undefined ? "created" : "replaced"
  } catch (error) {
    throw fileError(error, path.named)
  }
}

/** A hidden, unique name beside the file. */
export const temporaryName = (name: string): string =>
  `.${name.slice(0, 80)}.${randomBytes(6).toString("hex")}.tmp`

export const checkKind = (path: ResolvedPath, current: BigIntStats | undefined, expected: Expected): void => {
  const named = JSON.stringify(path.named)
  if (current === undefined) {
    if (expected.type === "unchanged") throw changed(path)
    return
  }
  if (current.isDirectory()) throw new ToolError("failed", `${named} is a directory.`)
  if (!current.isFile())
    throw new ToolError(
      "failed",
      `${named} is not a regular file: devices, pipes, sockets and links are refused.`,
    )
  if (expected.type === "absent")
    throw new ToolError("failed", `${named} exists already. Update it instead of adding it.`)
}

export const writeTemporary = async (
  temporary: string,
  bytes: Uint8Array,
  current: BigIntStats | undefined,
): Promise<void> => {
  const mode = current === undefined ? 0o666 : Number(current.mode & 0o7777n)
  await using file = await open(
    temporary,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    mode,
  )
  await file.writeFile(bytes)
  if (current === undefined) return
  const own = fstatSync(file.fd, { bigint: true })
  // Changing the owner needs rights we may not have. The content matters more than the owner.
  if (own.uid !== current.uid || own.gid !== current.gid)
    await file.chown(Number(current.uid), Number(current.gid)).catch(() => undefined)
  if (Number(own.mode & 0o7777n) !== mode) await file.chmod(mode)
}

export const checkUnchanged = async (path: ResolvedPath, snapshot: FileSnapshot): Promise<void> => {
  const now = await readSnapshot(path).catch((error: unknown) => {
    if (error instanceof ToolError && error.code === "not-found") throw changed(path)
    throw error
  })
  const same =
    now.stats.ino === snapshot.stats.ino &&
    now.stats.dev === snapshot.stats.dev &&
    now.stats.mode === snapshot.stats.mode &&
    now.bytes.equals(snapshot.bytes)
  if (!same) throw changed(path)
}

const changed = (path: ResolvedPath): ToolError =>
  new ToolError(
    "failed",
    `${JSON.stringify(path.named)} was changed by someone else in the meantime; nothing was written. Read it again and repeat the change.`,
  )

const tooLarge = (path: ResolvedPath): ToolError =>
  new ToolError(
    "failed",
    `${JSON.stringify(path.named)} is larger than ${TOOL_LIMITS.editFileBytes / 1024 / 1024} MiB; change it with bash.`,
  )
