/** A project with commits, files and a run in progress, a private home, and a scripted provider as the only model. */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"

import type { ScriptStep } from "@meridian/engine/script"
import { startScriptedProvider } from "@meridian/testkit"

import { HARNESS_PATH } from "../../test/live/install-harnesses.ts"
import type { AfterCompaction } from "./host.ts"
import { AGENT, COMMITS, PROJECT } from "./tale.ts"

const MERIDIAN = resolve(import.meta.dirname, "../../packages/cli/dist/meridian.js")

export interface Scene {
  readonly project: string
  readonly home: string
  readonly url: string
  readonly run: (program: string, args: readonly string[], options?: RunOptions) => Promise<string>
  readonly meridian: (...args: readonly string[]) => Promise<string>
  /** Writes the record that Meridian keeps for a conversation it launched. */
  readonly recordLaunch: (harnessSessionId: string) => void
  /** The first request after each compaction, by the labels of the script. */
  readonly after: (round: number, ms?: number) => AfterCompaction | undefined
  readonly close: () => Promise<void>
}

export interface RunOptions {
  readonly input?: string
  readonly environment?: Readonly<Record<string, string>>
  /** Called with everything written to stdout so far. */
  readonly onOutput?: (stdout: string) => void
}

export const openScene = async (
  script: readonly ScriptStep[],
  files: Readonly<Record<string, string>>,
): Promise<Scene> => {
  const provider = await startScriptedProvider({ script })
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "meridian-hosts-")))
  const project = join(folder, "project")
  const home = join(folder, "home")
  mkdirSync(home)
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    writeFileSync(join(project, path), text)
  }
  for (const [path, text] of Object.entries({ ...PROJECT, ...files, ...runTable() })) write(path, text)
  commit(project)

  const run: Scene["run"] = async (program, args, options = {}) => {
    const child = spawn(program, [...args], {
      cwd: project,
      env: {
        PATH: HARNESS_PATH,
        HOME: home,
        PWD: project,
        XDG_STATE_HOME: join(home, "state"),
        MERIDIAN_SPACE_ID: "s1",
        MERIDIAN_STATE_ROOT: join(project, ".meridian"),
        ...options.environment,
      },
      timeout: 180_000,
      killSignal: "SIGKILL",
    })
    let stdout = ""
    let stderr = ""
    child.stdout.on("data", (piece: Buffer) => {
      stdout += piece.toString("utf8")
      options.onOutput?.(stdout)
    })
    child.stderr.on("data", (piece: Buffer) => (stderr += piece.toString("utf8")))
    child.stdin.end(options.input ?? "")
    await once(child, "close")
    if (child.exitCode !== 0)
      throw new Error(
        `${program} ${args.join(" ")} ended with ${child.exitCode}: ${stderr.slice(-2000)}\n${stdout.slice(-2000)}`,
      )
    return stdout
  }
  return {
    project,
    home,
    url: provider.url,
    run,
    meridian: (...args) => run(process.execPath, [MERIDIAN, ...args]),
    recordLaunch: (harnessSessionId) => {
      const record = {
        v: 1,
        event: "start",
        chat_id: "c1",
        harness_session_id: harnessSessionId,
        started_at: "2026-03-10T09:00:00Z",
        agent: AGENT,
      }
      write(".meridian/.spaces/s1/sessions.jsonl", `${JSON.stringify(record)}\n`)
    },
    after: (round, ms) => {
      const texts = (label: string): readonly string[] | undefined => {
        const request = provider.requests.find(({ turn }) => turn === label)
        return request === undefined ? undefined : textsIn(request.body)
      }
      const first = texts(`after ${round}`)
      const wasSummarised = provider.requests.filter(({ turn }) => turn === "summary").length >= round
      if (first === undefined || !wasSummarised) return undefined
      return { texts: first, later: texts(`later ${round}`) ?? [], ms }
    },
    close: async () => {
      await provider.close()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}

const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === "string") return [value]
  if (typeof value !== "object" || value === null) return []
  return Object.values(value).flatMap(textsIn)
}

/** A run carried by this process, so it counts as alive. */
const runTable = (): Readonly<Record<string, string>> => ({
  ".meridian/.spaces/s1/space.json": `${JSON.stringify({
    schema_version: 1,
    id: "s1",
    name: "hosts",
    status: "active",
    started_at: new Date().toISOString(),
    finished_at: null,
  })}\n`,
  ".meridian/.spaces/s1/runs.jsonl": `${JSON.stringify({
    v: 1,
    event: "start",
    id: "r7",
    status: "running",
    harness: "claude",
    started_at: new Date().toISOString(),
    worker_pid: process.pid,
    worker_started: startedAt(),
  })}\n`,
  ".meridian/.spaces/s1/runs/r7/prompt.md": "review the heron-5 module\n",
})

const startedAt = (): string => {
  const stat = readFileSync("/proc/self/stat", "latin1")
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? ""
}

const commit = (project: string): void => {
  const git = (...args: readonly string[]): void => {
    const { status, stderr } = spawnSync("git", [...args], { cwd: project, encoding: "utf8" })
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`)
  }
  git("init", "--quiet")
  git("config", "user.name", "bench")
  git("config", "user.email", "bench@example.invalid")
  for (const subject of COMMITS) git("commit", "--quiet", "--allow-empty", "-m", subject)
}
