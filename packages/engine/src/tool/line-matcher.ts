/**
 * Matches lines against a pattern from a model. Plain text is searched in this thread. A regular expression runs in a
 * worker thread, because one like `(a+)+$` can practically run forever. The worker is ended when time is up or the call is
 * interrupted, and the engine's own thread never waits for a match.
 */
import { Worker } from "node:worker_threads"

import { machineDeadline } from "../port/machine-time.ts"
import { ToolError } from "../port/tool.ts"
import { TOOL_LIMITS } from "./limits.ts"

export interface LineMatch {
  /** Counted from 1. */
  readonly line: number
  /** The line, or the part around the match when the line is long. */
  readonly text: string
}

export interface LinePattern {
  readonly pattern: string
  readonly literal: boolean
  readonly ignoreCase: boolean
}

export interface LineMatcher extends AsyncDisposable {
  /**
   * The matches of each file, at most `most` per file. The buffers are transferred and must not be used afterwards. Rejects
   * with ToolError "timeout" or "interrupted".
   */
  readonly match: (files: readonly Buffer[], most: number) => Promise<readonly (readonly LineMatch[])[]>
}

export type CompiledPattern =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "expression"; readonly source: string; readonly flags: string }

/** Throws ToolError for an invalid regular expression. Only matching needs a time limit, compiling does not. */
export const compilePattern = ({ pattern, literal, ignoreCase }: LinePattern): CompiledPattern => {
  const plain = literal || /^[^\\^$.*+?()[\]{}|]*$/.test(pattern)
  if (plain && !ignoreCase) return { type: "text", text: pattern }
  const inline = literal ? null : /^\(\?([im]+)\)/.exec(pattern)
  const body = literal
    ? pattern.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
    : pattern.slice(inline?.[0].length ?? 0)
  const flags = ignoreCase || inline?.[1]?.includes("i") === true ? "i" : ""
  let problem: unknown
  // Unicode mode first. Patterns for other engines (`\-`, `\/`) may be valid only without it.
  for (const mode of ["u", ""]) {
    try {
      return { type: "expression", source: new RegExp(body, flags + mode).source, flags: flags + mode }
    } catch (error) {
      problem = error
    }
  }
  const why = problem instanceof Error ? problem.message : "not a regular expression"
  throw new ToolError(
    "invalid-input",
    `\`pattern\` is refused: ${why}. Set literal to search for it as plain text.`,
  )
}

interface MatchBounds {
  readonly signal: AbortSignal
  readonly monotonic: () => number
  readonly deadline: number
}

export const openLineMatcher = (pattern: CompiledPattern, options: MatchBounds): LineMatcher => {
  if (pattern.type === "expression") return openWorker(pattern, options)
  const find = (line: string): number => line.indexOf(pattern.text)
  return {
    match: async (files, most) =>
      files.map((file) => matchLines(file, most, find, TOOL_LIMITS.grepLineCharacters)),
    [Symbol.asyncDispose]: async () => {},
  }
}

const openWorker = (
  { source, flags }: { readonly source: string; readonly flags: string },
  options: MatchBounds,
): LineMatcher => {
  const worker = new Worker(`(${workerMain.toString()})(${matchLines.toString()})`, {
    eval: true,
    workerData: { source, flags, width: TOOL_LIMITS.grepLineCharacters },
    env: {},
    execArgv: [],
    stdin: false,
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  })
  worker.unref()
  const match: LineMatcher["match"] = async (files, most) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly (readonly LineMatch[])[]>()
    const parcel = pack(files)
    const left = Math.max(0, options.deadline - options.monotonic())
    const slow = machineDeadline(left)
    const onSlow = (): void => reject(new ToolError("timeout", "The pattern took too long."))
    const onAbort = (): void => reject(new ToolError("interrupted", "The search was interrupted."))
    const onError = (error: unknown): void =>
      reject(new ToolError("failed", "The search failed.", { cause: error }))
    slow.addEventListener("abort", onSlow)
    options.signal.addEventListener("abort", onAbort)
    worker.on("message", resolve).on("error", onError)
    try {
      if (options.signal.aborted) onAbort()
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread, not a window
      else worker.postMessage({ files: parcel.files, most }, parcel.given)
      worker.ref()
      return await promise
    } finally {
      worker.unref()
      worker.off("message", resolve).off("error", onError)
      slow.removeEventListener("abort", onSlow)
      options.signal.removeEventListener("abort", onAbort)
    }
  }
  return {
    match,
    [Symbol.asyncDispose]: async () => {
      await worker.terminate()
    },
  }
}

/** Large buffers move to the worker instead of being copied. Small ones share memory with others and must not move. */
const pack = (
  files: readonly Buffer[],
): { readonly files: readonly Uint8Array[]; readonly given: readonly ArrayBuffer[] } => {
  const given: ArrayBuffer[] = []
  const packed = files.map((file) => {
    const { buffer, byteOffset, byteLength } = file
    if (byteLength <= Buffer.poolSize || !(buffer instanceof ArrayBuffer)) return new Uint8Array(file)
    given.push(buffer)
    return new Uint8Array(buffer, byteOffset, byteLength)
  })
  return { files: packed, given }
}

/**
 * Also runs inside the worker, which gets its source text, so it may not use anything from outside. That is why `width` is
 * a parameter.
 */
const matchLines = (
  file: Uint8Array,
  most: number,
  find: (line: string) => number,
  width: number,
): readonly LineMatch[] => {
  const lines = Buffer.from(file.buffer, file.byteOffset, file.byteLength).toString("utf8").split("\n")
  const matches: LineMatch[] = []
  for (let index = 0; index < lines.length && matches.length < most; index++) {
    let line = lines[index] ?? ""
    if (line.endsWith("\r")) line = line.slice(0, -1)
    if (index === lines.length - 1 && line === "") break
    const at = find(line)
    if (at === -1) continue
    const start =
      line.length <= width ? 0 : Math.max(0, Math.min(at - Math.floor(width / 4), line.length - width))
    const part = line.slice(start, start + width)
    matches.push({
      line: index + 1,
      text: `${start > 0 ? "..." : ""}${part}${start + width < line.length ? "..." : ""}`,
    })
  }
  return matches
}

/** The worker's program. The worker gets its source text, so it may not use anything from outside. */
const workerMain = (lineMatches: typeof matchLines): void => {
  const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads")
  const expression = new RegExp(workerData.source, workerData.flags)
  parentPort?.on(
    "message",
    ({ files, most }: { readonly files: readonly Uint8Array[]; readonly most: number }) => {
      const search = (line: string): number => line.search(expression)
      const found = files.map((file) => lineMatches(file, most, search, workerData.width))
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread, not a window
      parentPort.postMessage(found)
    },
  )
}
