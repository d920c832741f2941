/** A scene (`spaces.ts`) whose project is a real repository, with helpers for it. */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { setTimeout as rest } from "node:timers/promises"

import type { ServeHttpOptions } from "@meridian/server"
import { onTestFinished } from "vitest"

import { openScene, type Answer, type CallOptions, type Document, type Scene } from "./spaces.ts"

/** What `meridian serve --http` gives a server over the scene's project. */
export const serveWorld = ({ env, project }: RepositoryScene): ServeHttpOptions["world"] => ({
  env,
  cwd: project,
  clock: {
    now: () => Date.now(),
    sleep: (ms, signal) => rest(ms, undefined, { signal, ref: false }).catch(() => undefined),
  },
  uuid: () => crypto.randomUUID(),
  configPath: undefined,
  program: [process.execPath, "--conditions=meridian-source", join(import.meta.dirname, "spaces.entry.ts")],
})

export interface RepositoryScene extends Scene {
  /** Runs git in the project, as the user. Returns the output without its last line break. */
  readonly git: (...words: readonly string[]) => string
  readonly gitIn: (folder: string, ...words: readonly string[]) => string
  /** Writes files, relative to the project, and commits them. */
  readonly commit: (files: Readonly<Record<string, string>>, message?: string) => string
  readonly write: (files: Readonly<Record<string, string>>) => void
  readonly read: (path: string) => string | undefined
  /** A run in a worktree whose harness writes these files. */
  readonly work: (
    files: Readonly<Record<string, string>>,
    values?: Document,
    options?: CallOptions,
    does?: string,
  ) => Promise<Answer>
  /** A digest of the checkout without git's objects and logs: equal when nothing changed. */
  readonly checkout: () => string
}

export const openRepositoryScene = (
  files: Readonly<Record<string, string>> = { "a.txt": "one\n" },
): RepositoryScene => {
  const scene = openScene()
  onTestFinished(scene.close)
  const gitIn = (folder: string, ...words: readonly string[]): string =>
    execFileSync("git", words, {
      cwd: folder,
      encoding: "utf8",
      env: { ...scene.env },
      stdio: ["ignore", "pipe", "pipe"],
    }).replace(/\n$/, "")
  const git = (...words: readonly string[]): string => gitIn(scene.project, ...words)
  const write = (some: Readonly<Record<string, string>>): void => {
    for (const [path, content] of Object.entries(some)) {
      mkdirSync(dirname(join(scene.project, path)), { recursive: true })
      writeFileSync(join(scene.project, path), content)
    }
  }
  rmSync(join(scene.project, ".git"), { recursive: true })
  git("init", "--quiet", "--initial-branch=main")
  git("config", "user.name", "Somebody")
  git("config", "user.email", "somebody@example.org")
  // Meridian's state in the project is not part of the work.
  writeFileSync(join(scene.project, ".git/info/exclude"), ".meridian/\n")
  const commit = (some: Readonly<Record<string, string>>, message = "more"): string => {
    write(some)
    git("add", "--all")
    git("commit", "--quiet", "--allow-empty", "-m", message)
    return git("rev-parse", "HEAD")
  }
  commit(files, "first")
  return {
    ...scene,
    git,
    gitIn,
    commit,
    write,
    read: (path) => readIfThere(join(scene.project, path)),
    work: (writes, values = {}, options = {}, does = ":") => {
      scene.harness("claude", { answer: "done", writes, does })
      return scene.call(
        "run.spawn",
        { prompt: "do it", harness: "claude", permission: "workspace-write", worktree: true, ...values },
        options,
      )
    },
    checkout: () => digestOf(scene.project),
  }
}

const readIfThere = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}

/**
 * The user's part of git's folder: HEAD, index and branches. What Meridian keeps there (its refs, worktrees) may change.
 */
const digestOf = (project: string): string => {
  const hash = createHash("sha256")
  const visit = (path: string): void => {
    const full = join(project, path)
    const stats = lstatSync(full)
    if (path !== "" && isOurs(path)) return
    hash.update(`${path}\0${stats.isDirectory() ? "" : stats.mode.toString(8)}\0`)
    if (stats.isSymbolicLink()) hash.update(readlinkSync(full))
    else if (stats.isDirectory()) for (const name of readdirSync(full).toSorted()) visit(join(path, name))
    else hash.update(readFileSync(full))
  }
  visit("")
  return hash.digest("hex")
}

const isOurs = (path: string): boolean =>
  path === ".meridian" ||
  /^\.git\/(?:meridian-|(?:objects|worktrees|logs|refs\/heads\/meridian|refs\/meridian|packed-refs)(?:\/|$))/.test(
    path,
  )
