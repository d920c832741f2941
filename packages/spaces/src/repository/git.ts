/**
 * One call of git: hardened (`git-settings.ts` of the protocol), out of reach of the terminal, with bounded output. A
 * call that changes something inherits the lock it happens under, so the lock stays held while git works, even if we
 * are killed.
 */
import { spawn } from "node:child_process"

import { Failure, reasonIn, systemCode } from "@meridian/protocol"

import { LIMIT } from "../domain/limit.ts"

export interface GitPlace {
  /** Where git starts. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly settings: readonly (readonly [key: string, value: string])[]
  /** Inherited by every call. */
  readonly lock?: { readonly descriptor: number } | undefined
}

export interface GitCall {
  readonly input?: string | Uint8Array
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Inherited by git while it works. */
  readonly lock?: { readonly descriptor: number } | undefined
  /** Ends the call. Absent if git must not be stopped half-way. */
  readonly signal?: AbortSignal | undefined
  readonly maxBytes?: number
}

export interface GitAnswer {
  readonly code: number
  readonly stdout: Buffer
  readonly stderr: string
  /** Git printed more than we keep. */
  readonly isCut: boolean
}

/** Answers with any exit code. Throws GIT_MISSING. */
export const callGit = async (
  place: GitPlace,
  args: readonly string[],
  call: GitCall = {},
): Promise<GitAnswer> => {
  const { lock = place.lock, signal, maxBytes = LIMIT.gitAnswerBytes } = call
  const child = spawn(
    "git",
    [...place.settings.flatMap(([key, value]) => ["-c", `${key}=${value}`]), ...args],
    {
      cwd: place.cwd,
      env: { ...place.env, ...call.env },
      detached: true,
      stdio: ["pipe", "pipe", "pipe", ...(lock === undefined ? [] : [lock.descriptor])],
    },
  )
  const stop = (): void => {
    if (child.pid !== undefined) signalQuietly(-child.pid)
  }
  signal?.addEventListener("abort", stop, { once: true })
  if (signal?.aborted === true) stop()
  const kept = keep(maxBytes)
  const errors = keep(LIMIT.stderrTailBytes)
  child.stdout?.on("data", kept.push)
  child.stderr?.on("data", errors.push)
  child.stdin?.on("error", () => undefined)
  child.stdin?.end(call.input ?? "")
  try {
    const code = await new Promise<number>((done, fail) => {
      child.once("error", fail)
      child.once("close", (exit) => done(exit ?? KILLED))
    })
    return { code, stdout: kept.bytes(), stderr: errors.bytes().toString("utf8"), isCut: kept.isCut() }
  } catch (error) {
    if (isMissing(error)) throw new Failure("GIT_MISSING", {}, { cause: error })
    throw error
  } finally {
    signal?.removeEventListener("abort", stop)
  }
}

/** Returns git's output. Throws GIT_FAILED unless git succeeded. */
export const git = async (place: GitPlace, args: readonly string[], call: GitCall = {}): Promise<string> => {
  const answer = await callGit(place, args, call)
  if (answer.code !== 0) throw gitFailed(args, answer)
  return answer.stdout.toString("utf8").trimEnd()
}

export const gitFailed = (args: readonly string[], { code, stderr }: GitAnswer): Failure =>
  new Failure("GIT_FAILED", {
    command: args[0] === "worktree" ? `worktree ${args[1]}` : (args[0] ?? ""),
    reason: reasonIn(stderr) ?? (code === KILLED ? "it was killed" : `exit code ${code}`),
  })

const KILLED = 137

const signalQuietly = (pid: number): void => {
  try {
    process.kill(pid, "SIGTERM")
  } catch {
    // It has already ended.
  }
}

const isMissing = (error: unknown): boolean => systemCode(error) === "ENOENT"

interface Kept {
  readonly push: (chunk: Buffer) => void
  readonly bytes: () => Buffer
  readonly isCut: () => boolean
}

const keep = (limit: number): Kept => {
  const chunks: Buffer[] = []
  let length = 0
  let isCut = false
  return {
    push: (chunk) => {
      const room = limit - length
      if (chunk.length > room) isCut = true
      if (room <= 0) return
      chunks.push(chunk.subarray(0, room))
      length += Math.min(chunk.length, room)
    },
    bytes: () => Buffer.concat(chunks),
    isCut: () => isCut,
  }
}
