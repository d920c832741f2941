/** System errors in words that a model can act on. */
import { systemCode } from "@meridian/protocol"

import { ToolError } from "../port/tool.ts"

const WORDS: { readonly [code: string]: string } = {
  ENOENT: "does not exist",
  ENOTDIR: "cannot exist: a part of its path is a file, not a directory",
  EISDIR: "is a directory",
  EACCES: "cannot be opened: permission denied by the system",
  EPERM: "cannot be changed: not permitted by the system",
  EROFS: "is on a read-only file system",
  ENOSPC: "cannot be written: the disk is full",
  EDQUOT: "cannot be written: the disk quota is used up",
  ELOOP: "is a link where a file was expected",
  ENAMETOOLONG: "has too long a name",
  EMFILE: "cannot be opened: too many open files",
  ENXIO: "is not a regular file",
  EEXIST: "exists already",
  ETXTBSY: "is a program that is running",
}

/** Turns any error into a ToolError, and returns a ToolError unchanged. `named`: what the model called the file. */
export const fileError = (error: unknown, named: string): ToolError => {
  if (error instanceof ToolError) return error
  const code = systemCode(error)
  const words = WORDS[code] ?? `failed with ${code === "" ? errorLine(error) : code}`
  return new ToolError(code === "ENOENT" ? "not-found" : "failed", `${JSON.stringify(named)} ${words}.`, {
    cause: error,
  })
}

/** The first line of an error's message: never a stack, never empty. */
export const errorLine = (error: unknown): string => {
  const message = error instanceof Error ? error.message : typeof error === "string" ? error : ""
  const line = message.split(/[\r\n]/).find((part) => part.trim() !== "") ?? "unknown error"
  return line.length > 1000 ? `${line.slice(0, 1000)}...` : line
}

export const throwIfAborted = (signal: AbortSignal): void => {
  if (signal.aborted) throw new ToolError("interrupted", "The call was interrupted.")
}
