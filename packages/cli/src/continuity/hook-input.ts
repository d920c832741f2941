/**
 * What a host tells its hook on stdin: one JSON object. A person who runs the command has a terminal there, and a
 * script perhaps a silent pipe. We wait for neither longer than a moment.
 */
import { fstatSync } from "node:fs"

import { parseObject, textAt, type JsonObject } from "@meridian/protocol"

export interface HookInput {
  /** `SessionStart`, `PostCompact`, ... */
  readonly event: string
  readonly session: string
  readonly transcript: string | undefined
  readonly cwd: string | undefined
  /** Why the session starts: `compact`, `startup`, ... */
  readonly source: string | undefined
  readonly model: string | undefined
  /** The summary of the compaction, if the host reports it. */
  readonly summary: string | undefined
}

export const HOOK_INPUT_LIMITS = { bytes: 8 * 1024 * 1024, firstByteMs: 400, allMs: 1_500 } as const

/** Undefined if nothing came, or if it is not the input of a hook. */
export const readHookInput = async (): Promise<HookInput | undefined> => {
  const text = mayHaveInput() ? await readBriefly(process.stdin) : ""
  const found = text === "" ? undefined : parseObject(text)
  return found === undefined ? undefined : hookInputOf(found)
}

export const hookInputOf = (value: JsonObject): HookInput | undefined => {
  const event = textAt(value, "hook_event_name")
  const session = textAt(value, "session_id")
  if (event === undefined || session === undefined) return undefined
  return {
    event,
    session,
    transcript: textAt(value, "transcript_path"),
    cwd: textAt(value, "cwd"),
    source: textAt(value, "source"),
    model: textAt(value, "model"),
    summary: textAt(value, "compact_summary"),
  }
}

/** A terminal or /dev/null has nothing to say. */
const mayHaveInput = (): boolean => {
  try {
    return !fstatSync(0).isCharacterDevice()
  } catch {
    return false
  }
}

const readBriefly = (stream: NodeJS.ReadStream): Promise<string> =>
  new Promise((resolve) => {
    const pieces: Buffer[] = []
    let bytes = 0
    const finish = (): void => {
      clearTimeout(first)
      clearTimeout(all)
      stream.destroy()
      resolve(bytes > HOOK_INPUT_LIMITS.bytes ? "" : Buffer.concat(pieces).toString("utf8"))
    }
    const first = setTimeout(() => {
      if (bytes === 0) finish()
    }, HOOK_INPUT_LIMITS.firstByteMs)
    const all = setTimeout(finish, HOOK_INPUT_LIMITS.allMs)
    stream.on("data", (piece: Buffer) => {
      bytes += piece.length
      if (bytes <= HOOK_INPUT_LIMITS.bytes) pieces.push(piece)
      else finish()
    })
    stream.once("end", finish)
    stream.once("error", finish)
  })
