/**
 * Runs git once in a repository of ours. Its own folder holds all settings, so no setting, hook or filter of the user's
 * repository has any effect; the user's own settings are switched off by name.
 */
import { spawn } from "node:child_process"

import { ownGitEnvironment, reasonIn, systemCode } from "@meridian/protocol"

import { FilesProblem } from "../port/file-trees.ts"
import { FILE_LIMITS } from "./limits.ts"

type Environment = Readonly<Record<string, string | undefined>>

export interface GitFolder {
  readonly cwd: string
  readonly env: Environment
}

export interface GitCall {
  readonly input?: string
  readonly env?: Environment
  /** Exit codes besides 0 that are valid answers. */
  readonly answers?: readonly number[]
}

export interface GitAnswer {
  readonly code: number
  readonly text: string
  readonly bytes: Buffer
}

export const gitEnvironment = (env: Environment): Environment => ({
  ...ownGitEnvironment(env, { hasIdentity: true }),
  GIT_ATTR_NOSYSTEM: "1",
})

/** Rejects with FilesProblem. */
export const callGit = async (
  place: GitFolder,
  args: readonly string[],
  { input = "", env = {}, answers = [] }: GitCall = {},
): Promise<GitAnswer> => {
  const child = spawn("git", ["--literal-pathspecs", ...args], {
    cwd: place.cwd,
    env: { ...place.env, ...env },
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
    timeout: FILE_LIMITS.callMs,
    killSignal: "SIGKILL",
  })
  const stop = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
    } catch {
      // The process has already ended on its own.
    }
  }
  let why: string | undefined
  const chunks: Buffer[] = []
  let bytes = 0
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= FILE_LIMITS.answerBytes) return void chunks.push(chunk)
    why = `it said more than ${FILE_LIMITS.answerBytes / 1024 / 1024} MiB`
    stop()
  })
  let errors = ""
  child.stderr.on("data", (chunk: Buffer) => {
    errors = `${errors}${chunk.toString("utf8")}`.slice(-FILE_LIMITS.errorCharacters)
  })
  child.stdin.on("error", () => undefined)
  child.stdin.end(input)
  try {
    const code = await new Promise<number | undefined>((done, fail) => {
      child.once("error", fail)
      child.once("close", (exit) => done(exit ?? undefined))
    })
    if (why === undefined && code !== undefined && (code === 0 || answers.includes(code)))
      return answerOf(code, Buffer.concat(chunks))
    throw new FilesProblem(
      `git ${args[0]} failed: ${why ?? reasonIn(errors) ?? (code === undefined ? `it was killed, after ${FILE_LIMITS.callMs / 1000} s at most` : `exit code ${code}`)}`,
    )
  } catch (error) {
    if (error instanceof FilesProblem) throw error
    throw new FilesProblem(isMissing(error) ? "git is not installed" : "git could not be started", {
      cause: error,
    })
  }
}

const answerOf = (code: number, bytes: Buffer): GitAnswer => ({ code, bytes, text: bytes.toString("utf8") })

const isMissing = (error: unknown): boolean => systemCode(error) === "ENOENT"
