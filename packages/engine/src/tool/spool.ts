/**
 * Text that arrives in pieces and may be endless. Short text stays in memory. Long text goes to a file, and only its
 * beginning and end are kept for the preview. A failing disk costs the rest of the text, never the call.
 */
import { randomBytes } from "node:crypto"
import { constants, fstatSync } from "node:fs"
import { lstat, mkdir, open, readdir, unlink, type FileHandle } from "node:fs/promises"
import { basename, join } from "node:path"

import { systemCode } from "@meridian/protocol"

import { TOOL_LIMITS } from "./limits.ts"

export interface SpoolBounds {
  readonly lines: number
  readonly bytes: number
  readonly fileBytes: number
}

export interface Spooled {
  /** Everything, or head, marker and tail. */
  readonly text: string
  readonly cut: boolean
  readonly outputPath?: string
}

export interface Spool {
  /** Await each call before the next; that bounds the memory. Never throws. */
  readonly push: (piece: Buffer) => Promise<void>
  /** `keepAbove`: a longer text is kept in a file even if it needs no preview. */
  readonly finish: (options?: { readonly keepAbove?: number }) => Promise<Spooled>
}

const DEFAULT_BOUNDS: SpoolBounds = {
  lines: TOOL_LIMITS.outputLines,
  bytes: TOOL_LIMITS.outputBytes,
  fileBytes: TOOL_LIMITS.outputFileBytes,
}

/** Removes credentials from a text in pieces. It may hold back the end of a piece until the next. */
export interface PieceFilter {
  readonly push: (piece: string) => string
  readonly end: () => string
}

/** A spool that never sees what the filter removes. Other bytes are passed on unchanged. */
export const withFilter = (spool: Spool, filter: PieceFilter | undefined): Spool =>
  filter === undefined
    ? spool
    : {
        push: (piece) => spool.push(Buffer.from(filter.push(piece.toString("latin1")), "latin1")),
        finish: async (options) => {
          await spool.push(Buffer.from(filter.end(), "latin1"))
          return spool.finish(options)
        },
      }

export const openSpool = (directory: string, bounds: SpoolBounds = DEFAULT_BOUNDS): Spool => {
  const head: Buffer[] = []
  let headBytes = 0
  const tail = openTail(bounds.bytes)
  let bytes = 0
  let lineBreaks = 0
  let file: KeptFile | undefined

  const push = async (piece: Buffer): Promise<void> => {
    const headBefore = headBytes
    if (headBytes <= bounds.bytes) {
      const part = Buffer.from(piece.subarray(0, bounds.bytes + 1 - headBytes))
      head.push(part)
      headBytes += part.length
    }
    bytes += piece.length
    lineBreaks += countLineBreaks(piece)
    tail.push(piece)
    if (file === undefined) {
      if (bytes <= bounds.bytes && lineBreaks <= bounds.lines) return
      file = await openKeptFile(directory, bounds.fileBytes)
      // Until this piece everything fitted, so everything is in `head`.
      await file.write(Buffer.concat(head).subarray(0, headBefore))
    }
    await file.write(piece)
  }

  const finish: Spool["finish"] = async ({ keepAbove = Infinity } = {}) => {
    if (file === undefined) {
      const whole = Buffer.concat(head)
      const path = whole.length > keepAbove ? await keepWhole(directory, whole) : undefined
      return { text: decode(whole), cut: false, ...(path === undefined ? {} : { outputPath: path }) }
    }
    const lost = await file.close()
    const first = firstLines(Buffer.concat(head), bounds)
    const last = lastLines(tail.bytes(), bounds)
    const hidden = bytes - first.length - last.length
    const marker = describeCut({ hidden, lines: lineBreaks, path: file.path, lost })
    return {
      text: `${trimEnd(decodeHead(first, bounds))}\n\n${marker}\n\n${decodeTail(last, bounds)}`,
      cut: true,
      ...(file.path === undefined ? {} : { outputPath: file.path }),
    }
  }

  return { push, finish }
}

/** The last `most` bytes of everything pushed, in one buffer that is never replaced. */
const openTail = (most: number): { readonly push: (piece: Buffer) => void; readonly bytes: () => Buffer } => {
  const buffer = Buffer.allocUnsafe(most * 2)
  let filled = 0
  return {
    push: (piece) => {
      const part = piece.length > most ? piece.subarray(piece.length - most) : piece
      if (filled + part.length > buffer.length) {
        const kept = Math.max(0, most - part.length)
        buffer.copyWithin(0, filled - kept, filled)
        filled = kept
      }
      filled += part.copy(buffer, filled)
    },
    bytes: () => buffer.subarray(Math.max(0, filled - most), filled),
  }
}

interface KeptFile {
  readonly path: string | undefined
  readonly write: (piece: Buffer) => Promise<void>
  /** Returns why part of the text is not in the file, if so. */
  readonly close: () => Promise<string | undefined>
}

const openKeptFile = async (directory: string, most: number): Promise<KeptFile> => {
  let lost: string | undefined
  let written = 0
  let handle: FileHandle | undefined
  const path = join(directory, `tool_${randomBytes(12).toString("hex")}.txt`)
  const loses = (error: unknown): void => {
    const code = systemCode(error)
    lost ??=
      code === "ENOSPC" || code === "EDQUOT" ? "the disk is full" : `the file could not be written (${code})`
  }
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    handle = await open(
      path,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      0o600,
    )
  } catch (error) {
    loses(error)
  }
  if (handle !== undefined) await removeOld(directory, handle)
  return {
    path: handle === undefined ? undefined : path,
    write: async (piece) => {
      if (handle === undefined || lost !== undefined || piece.length === 0) return
      const fits = piece.subarray(0, most - written)
      try {
        await handle.writeFile(fits)
        written += fits.length
        if (fits.length < piece.length) lost = `a file holds at most ${most} bytes`
      } catch (error) {
        loses(error)
      }
    },
    close: async () => {
      await handle?.close().catch(loses)
      return lost
    },
  }
}

/** The time of the new file is the current time. A file that cannot be removed is left for the next attempt. */
const removeOld = async (directory: string, newest: FileHandle): Promise<void> => {
  const now = fstatSync(newest.fd).mtimeMs
  const names = await readdir(directory).catch(() => [])
  const kept = names.filter((name) => KEPT_NAME.test(name)).slice(0, TOOL_LIMITS.outputSweepFiles)
  const old = await Promise.all(
    kept.map(async (name) => {
      const stats = await lstat(join(directory, name)).catch(() => undefined)
      return stats !== undefined && now - stats.mtimeMs > TOOL_LIMITS.outputKeptMs ? [name] : []
    }),
  )
  await Promise.all(old.flat().map((name) => unlink(join(directory, name)).catch(() => undefined)))
}

/** The name pattern of a kept file. */
export const KEPT_NAME = /^tool_[0-9a-f]{24}\.txt$/

const keepWhole = async (directory: string, whole: Buffer): Promise<string | undefined> => {
  const file = await openKeptFile(directory, whole.length)
  await file.write(whole)
  return (await file.close()) === undefined ? file.path : undefined
}

const describeCut = (cut: {
  readonly hidden: number
  readonly lines: number
  readonly path: string | undefined
  readonly lost: string | undefined
}): string => {
  const size = `${cut.hidden} bytes of ${cut.lines + 1} lines in all`
  if (cut.path === undefined) return `[... ${size} left out here and lost: ${cut.lost} ...]`
  const rest = cut.lost === undefined ? "" : `; its end was lost: ${cut.lost}`
  return `[... ${size} left out here; the full text is in ${cut.path}${rest}. Page it with read: reference "output", path "${basename(cut.path)}" ...]`
}

const firstLines = (bytes: Buffer, bounds: SpoolBounds): Buffer => {
  const most = Math.floor(bounds.bytes * (1 - TOOL_LIMITS.outputTailShare))
  const lines = Math.floor(bounds.lines * (1 - TOOL_LIMITS.outputTailShare))
  let end = 0
  for (let line = 0; line < lines; line++) {
    const next = bytes.indexOf(10, end)
    if (next === -1 || next + 1 > most) {
      end = end === 0 || next === -1 ? characterStart(bytes, Math.min(most, bytes.length)) : end
      break
    }
    end = next + 1
  }
  return bytes.subarray(0, end)
}

const lastLines = (bytes: Buffer, bounds: SpoolBounds): Buffer => {
  const least = Math.max(0, bytes.length - Math.floor(bounds.bytes * TOOL_LIMITS.outputTailShare))
  const lines = Math.floor(bounds.lines * TOOL_LIMITS.outputTailShare)
  let start = bytes.length
  for (let line = 0; line < lines && start > 0; line++) {
    const before = start < 2 ? -1 : bytes.lastIndexOf(10, start - 2)
    if (before + 1 < least) {
      start = start === bytes.length ? characterStart(bytes, least) : start
      break
    }
    start = before + 1
  }
  return bytes.subarray(start)
}

/** The next position at or after `at` that does not split a UTF-8 character. */
const characterStart = (bytes: Buffer, at: number): number => {
  let start = at
  while (start < bytes.length && start < at + 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  return start
}

const countLineBreaks = (piece: Buffer): number => {
  let count = 0
  for (let at = piece.indexOf(10); at !== -1; at = piece.indexOf(10, at + 1)) count++
  return count
}

/** Bytes that are not UTF-8, and NUL, which some providers refuse, become the replacement character. */
const decode = (bytes: Buffer): string => bytes.toString("utf8").replaceAll("\0", "\uFFFD")

/** A replacement character is longer than the byte it replaces, so a cut text is measured again. */
const decodeHead = (bytes: Buffer, bounds: SpoolBounds): string => {
  const text = Buffer.from(decode(bytes))
  const most = Math.floor(bounds.bytes * (1 - TOOL_LIMITS.outputTailShare)) + 3
  return text.subarray(0, text.length > most ? characterStart(text, most - 3) : text.length).toString("utf8")
}

const decodeTail = (bytes: Buffer, bounds: SpoolBounds): string => {
  const text = Buffer.from(decode(bytes))
  const least = text.length - Math.floor(bounds.bytes * TOOL_LIMITS.outputTailShare)
  return text.subarray(least > 0 ? characterStart(text, least) : 0).toString("utf8")
}

const trimEnd = (value: string): string => (value.endsWith("\n") ? value.slice(0, -1) : value)
