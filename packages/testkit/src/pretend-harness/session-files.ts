/** What an interactive CLI leaves behind for its session, in the same places as the real one. */
import { appendFileSync, mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

import type { PretendName } from "./behaviour.ts"

interface Left {
  readonly session: string
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** The answer of a hook. */
  readonly heard?: string
}

export const leaveSession = (name: PretendName, left: Left): void => LEAVERS[name](left)

/** `opencode session list --format json`. */
export const listSessions = (env: NodeJS.ProcessEnv): string => {
  using database = new DatabaseSync(openDatabase(env))
  database.exec(SCHEMA)
  const rows = database
    .prepare("SELECT id, title, directory, time_created AS created, time_updated AS updated FROM session")
    .all()
  return JSON.stringify(rows)
}

const home = (env: NodeJS.ProcessEnv): string => env["HOME"] ?? "."

const contextIn = (heard: string): unknown =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our hook prints
  (JSON.parse(heard) as { hookSpecificOutput: { additionalContext: string } }).hookSpecificOutput
    .additionalContext

const claude = ({ session, cwd, env, heard }: Left): void => {
  const folder = join(
    env["CLAUDE_CONFIG_DIR"] ?? join(home(env), ".claude"),
    "projects",
    cwd.replace(/[^A-Za-z0-9]/g, "-"),
  )
  mkdirSync(folder, { recursive: true })
  appendFileSync(
    join(folder, `${session}.jsonl`),
    `${JSON.stringify(heard === undefined ? { type: "user", sessionId: session, cwd } : { type: "attachment", sessionId: session, timestamp: new Date().toISOString(), content: contextIn(heard) })}\n`,
  )
}

const codex = ({ session, cwd, env }: Left): void => {
  const now = new Date().toISOString()
  const [year = "", month = "", day = ""] = now.slice(0, 10).split("-")
  const folder = join(env["CODEX_HOME"] ?? join(home(env), ".codex"), "sessions", year, month, day)
  mkdirSync(folder, { recursive: true })
  const name = `rollout-${now.slice(0, 19).replaceAll(":", "-")}-${session}.jsonl`
  // A continued thread continues in its file.
  const file = join(folder, readdirSync(folder).find((known) => known.endsWith(`-${session}.jsonl`)) ?? name)
  const meta = {
    timestamp: now,
    type: "session_meta",
    payload: { id: session, cwd, source: "cli", timestamp: now },
  }
  appendFileSync(file, `${JSON.stringify(meta)}\n`)
}

const SCHEMA = `CREATE TABLE IF NOT EXISTS session (
  id TEXT PRIMARY KEY, parent_id TEXT, title TEXT NOT NULL, directory TEXT NOT NULL,
  time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL)`

const openDatabase = (env: NodeJS.ProcessEnv): string => {
  const folder = join(env["XDG_DATA_HOME"] ?? join(home(env), ".local", "share"), "opencode")
  mkdirSync(folder, { recursive: true })
  return join(folder, "opencode.db")
}

const opencode = ({ session, cwd, env }: Left): void => {
  using database = new DatabaseSync(openDatabase(env), { timeout: 5000 })
  database.exec(SCHEMA)
  const now = Date.now()
  database
    .prepare("INSERT OR IGNORE INTO session VALUES (?, NULL, ?, ?, ?, ?)")
    .run(session, "pretend", env["PWD"] ?? cwd, now, now)
}

const LEAVERS: Readonly<Record<PretendName, (left: Left) => void>> = { claude, codex, opencode }
