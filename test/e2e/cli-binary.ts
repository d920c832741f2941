/** The shipped binary, run as a user runs it: in an empty folder, with a separate environment. */
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, realpathSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

export const BINARY = resolve("packages/cli/dist/meridian.js")

// oxlint-disable-next-line node/no-process-env -- the one thing a command cannot do without
export const SEARCH_PATH = process.env["PATH"] ?? ""

export interface Ran {
  readonly stdout: string
  readonly stderr: string
  readonly code: number | null
}

export interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  readonly binary?: string
  /** Kills a command that would hang for ever. Its code is then null. */
  readonly patienceMs?: number
}

export const emptyFolder = (name = "meridian cli "): string => realpathSync(mkdtempSync(join(tmpdir(), name)))

/** Of the developer's environment only PATH reaches the command. */
export const meridian = (args: readonly string[], options: RunOptions = {}): Promise<Ran> => {
  if (!existsSync(BINARY)) throw new Error("run 'npm run build' first")
  const cwd = options.cwd ?? emptyFolder()
  return new Promise((settle, fail) => {
    const child = spawn(process.execPath, [options.binary ?? BINARY, ...args], {
      cwd,
      // Dead runs stay dead unless a test wants them continued, because a supervisor would outlive its test.
      env: {
        PATH: SEARCH_PATH,
        HOME: cwd,
        MERIDIAN_REPO_ROOT: cwd,
        MERIDIAN_SUPERVISOR: "off",
        ...options.env,
      },
      ...(options.patienceMs === undefined
        ? {}
        : { timeout: options.patienceMs, killSignal: "SIGKILL" as const }),
    })
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
    child.on("error", fail)
    child.on("close", (code) => settle({ stdout, stderr, code }))
    child.stdin.on("error", () => {})
    child.stdin.end(options.input ?? "")
  })
}

/** stdout as the one JSON document that it must be. */
export const document = (ran: Ran): unknown => {
  const lines = ran.stdout.split("\n")
  if (lines.length !== 2 || lines[1] !== "") throw new Error(`not one document: ${JSON.stringify(ran)}`)
  return JSON.parse(lines[0] ?? "")
}
