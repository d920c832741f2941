/**
 * The bytes of a foreign session: read twice, in pieces, always the same ones. A harness may still be writing the
 * file, so its size is taken once. Input from a pipe is first kept in a temporary file.
 */
import { createHash } from "node:crypto"
import {
  createReadStream,
  createWriteStream,
  fstatSync,
  mkdtempSync,
  openSync,
  rmSync,
  closeSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Transform } from "node:stream"
import { pipeline } from "node:stream/promises"

import {
  asObject,
  Failure,
  listAt,
  objectAt,
  parseObject,
  systemCode,
  type JsonObject,
} from "@meridian/protocol"
import { lineSplitter } from "@meridian/spaces"

import { mangledLines, parseDocument } from "./document.ts"

export const IMPORT_LIMITS = {
  fileBytes: 8 * 1024 ** 3,
  /** A picture is a line of some megabytes. */
  lineBytes: 64 * 1024 ** 2,
  /** A document is parsed whole. */
  documentBytes: 256 * 1024 ** 2,
  /** Lines that are read to recognise the format. */
  linesToTell: 1_000,
} as const

export interface SourceFile extends Disposable {
  readonly start: () => Promise<string>
  readonly bytes: number
  /** Every line that is a JSON object. Problems of the others go to `onBad`. */
  readonly lines: (onBad: (kind: "damaged" | "long" | "mangled") => void) => AsyncIterable<JsonObject>
  /** The whole file as one document: `info`, then each of `messages`. */
  readonly document: (onBad: (kind: "damaged" | "mangled") => void) => AsyncIterable<JsonObject>
  readonly digest: () => Promise<string>
}

export const openSourceFile = async (path: string, signal: AbortSignal): Promise<SourceFile> => {
  const opened = path === "-" ? await spool(process.stdin, path, signal) : await openRegular(path, signal)
  const { descriptor, bytes } = opened
  if (bytes > IMPORT_LIMITS.fileBytes) {
    opened.close()
    throw new Failure("IMPORT_TOO_LARGE", { what: `more than ${IMPORT_LIMITS.fileBytes} bytes` })
  }

  const chunks = async function* (most = bytes): AsyncIterable<Buffer> {
    if (most === 0) return
    const stream = createReadStream("", {
      fd: descriptor,
      autoClose: false,
      start: 0,
      end: most - 1,
      highWaterMark: CHUNK,
    })
    try {
      for await (const chunk of stream) {
        signal.throwIfAborted()
        yield chunk
      }
    } catch (cause) {
      throw unreadable(path, cause)
    }
  }

  const lines: SourceFile["lines"] = async function* (onBad) {
    const splitter = lineSplitter({ lineBytes: IMPORT_LIMITS.lineBytes, cutBytes: 1 })
    const parse = (found: ReturnType<typeof splitter.feed>): readonly JsonObject[] =>
      found.flatMap((line) => {
        if (line.kind === "cut") {
          onBad("long")
          return []
        }
        if (line.isMangled === true) onBad("mangled")
        if (line.text.trim() === "") return []
        const entry = parseObject(line.text.replace(/^\uFEFF/, ""))
        if (entry === undefined) onBad("damaged")
        return entry === undefined ? [] : [entry]
      })
    for await (const chunk of chunks()) yield* parse(splitter.feed(chunk))
    yield* parse(splitter.end())
  }

  const whole = async (): Promise<Buffer> => {
    if (bytes > IMPORT_LIMITS.documentBytes)
      throw new Failure("IMPORT_TOO_LARGE", {
        what: `one document of more than ${IMPORT_LIMITS.documentBytes} bytes`,
      })
    const pieces: Buffer[] = []
    for await (const chunk of chunks()) pieces.push(Buffer.from(chunk))
    return Buffer.concat(pieces)
  }

  const document: SourceFile["document"] = async function* (onBad) {
    const content = await whole()
    for (let n = mangledLines(content); n > 0; n -= 1) onBad("mangled")
    const parsed = parseDocument(content.toString("utf8").replace(/^\uFEFF/, ""))
    if (typeof parsed === "string")
      throw new Failure("IMPORT_FORMAT_UNKNOWN", { file: nameOfSource(path), why: parsed })
    const info = objectAt(parsed, "info")
    if (info === undefined) return onBad("damaged")
    yield info
    for (const message of listAt(parsed, "messages")) {
      const entry = asObject(message)
      if (entry === undefined) onBad("damaged")
      else yield entry
    }
  }

  return {
    bytes,
    start: async () => {
      const pieces: Buffer[] = []
      for await (const chunk of chunks(Math.min(bytes, 4096))) pieces.push(Buffer.from(chunk))
      return Buffer.concat(pieces).toString("utf8")
    },
    lines,
    document,
    digest: async () => {
      const hash = createHash("sha256")
      for await (const chunk of chunks()) hash.update(chunk)
      return hash.digest("hex")
    },
    [Symbol.dispose]: opened.close,
  }
}

const CHUNK = 1024 * 1024

interface Opened {
  readonly descriptor: number
  readonly bytes: number
  readonly close: () => void
}

const openRegular = async (path: string, signal: AbortSignal): Promise<Opened> => {
  const descriptor = guarded(path, () => openSync(path, "r"))
  try {
    const stat = guarded(path, () => fstatSync(descriptor))
    if (stat.isFile()) return { descriptor, bytes: stat.size, close: () => closeSync(descriptor) }
    if (stat.isDirectory()) throw new Failure("IMPORT_UNREADABLE", { file: path, why: "it is a directory" })
    return await spool(createReadStream("", { fd: descriptor }), path, signal)
  } catch (cause) {
    closeSync(descriptor)
    throw cause
  }
}

/** A pipe can be read only once. */
const spool = async (from: NodeJS.ReadableStream, path: string, signal: AbortSignal): Promise<Opened> => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-import-"))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  const file = join(folder, "session")
  let bytes = 0
  const bounded = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      bytes += chunk.length
      if (bytes <= IMPORT_LIMITS.fileBytes) return done(null, chunk)
      done(new Failure("IMPORT_TOO_LARGE", { what: `more than ${IMPORT_LIMITS.fileBytes} bytes` }))
    },
  })
  try {
    await pipeline(from, bounded, createWriteStream(file, { mode: 0o600 }), { signal })
    const descriptor = openSync(file, "r")
    return {
      descriptor,
      bytes,
      close: () => {
        closeSync(descriptor)
        remove()
      },
    }
  } catch (cause) {
    remove()
    signal.throwIfAborted()
    throw unreadable(path, cause)
  }
}

const guarded = <A>(path: string, body: () => A): A => {
  try {
    return body()
  } catch (cause) {
    throw unreadable(path, cause)
  }
}

const unreadable = (path: string, cause: unknown): unknown => {
  if (cause instanceof Failure || !(cause instanceof Error) || systemCode(cause) === "") return cause
  const why = systemCode(cause) === "ENOENT" ? "it does not exist" : cause.message
  return new Failure("IMPORT_UNREADABLE", { file: nameOfSource(path), why }, { cause })
}

/** Its name in messages. */
export const nameOfSource = (path: string): string => (path === "-" ? "stdin" : path)
