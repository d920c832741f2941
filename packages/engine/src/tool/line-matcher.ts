/**
 * Matching lines against a pattern a model wrote. A plain text is searched right here; a regular expression runs in a
 * worker thread, because one like `(a+)+$` can take longer than the universe has: the worker is ended when time is up or
 * the call is interrupted, and the engine's own thread never waits for a match.
 */
import { Worker } from "node:worker_threads"

import { ToolError } from "../port/tool.ts"
import { TOOL_LIMITS } from "./limits.ts"

export interface LineMatch {
  /** Counted from 1. */
  readonly line: number
  /** The line, or the part of it around the match when it is long. */
  readonly text: string
}

export interface LinePattern {
  readonly pattern: string
  readonly literal: boolean
  readonly ignoreCase: boolean
}

export interface LineMatcher extends AsyncDisposable {
  /** The matches of each file, at most `most` a file. Rejects with ToolError "timeout" or "interrupted". */
  readonly match: (files: readonly Buffer[], most: number) => Promise<readonly (readonly LineMatch[])[]>
}

export const openLineMatcher = (
  pattern: LinePattern,
  options: { readonly signal: AbortSignal; readonly deadline: number },
): LineMatcher => {
  const plain = pattern.literal || /^[^\\^$.*+?()[\]{}|]*$/.test(pattern.pattern)
  if (plain && !pattern.ignoreCase) {
    const find = (line: string): number => line.indexOf(pattern.pattern)
    return {
      match: async (files, most) =>
        files.map((file) => matchLines(file, most, find, TOOL_LIMITS.grepLineCharacters)),
      [Symbol.asyncDispose]: async () => {},
    }
  }
  return openWorker(toExpression(pattern), options)
}

interface Expression {
  readonly source: string
  readonly flags: string
}

/** Unicode mode first; patterns written for other engines (`\-`, `\/`) may only be valid without it. */
const toExpression = ({ pattern, literal, ignoreCase }: LinePattern): Expression => {
  const inline = /^\(\?([im]+)\)/.exec(pattern)
  const body = literal
    ? pattern.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
    : pattern.slice(inline?.[0].length ?? 0)
  const flags = ignoreCase || inline?.[1]?.includes("i") === true ? "i" : ""
  let problem: unknown
  for (const mode of ["u", ""]) {
    try {
      return { source: new RegExp(body, flags + mode).source, flags: flags + mode }
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

const openWorker = (
  expression: Expression,
  options: { readonly signal: AbortSignal; readonly deadline: number },
): LineMatcher => {
  const worker = new Worker(`(${workerMain.toString()})(${matchLines.toString()})`, {
    eval: true,
    workerData: { ...expression, width: TOOL_LIMITS.grepLineCharacters },
    env: {},
    execArgv: [],
    stdin: false,
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  })
  worker.unref()
  const match: LineMatcher["match"] = async (files, most) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly (readonly LineMatch[])[]>()
    const left = Math.max(0, options.deadline - performance.now())
    const slow = AbortSignal.timeout(Math.ceil(left))
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
      else worker.postMessage({ files: files.map((file) => new Uint8Array(file)), most })
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

/**
 * Also runs inside the worker, sent there as its own text: it may use nothing from outside itself. `width` is handed in
 * for that reason.
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

/** The worker's program, sent as its own text: it may use nothing from outside itself. */
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
