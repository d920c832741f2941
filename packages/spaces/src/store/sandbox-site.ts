/**
 * Which places on this machine a sandbox leaves writable, keeps read-only and hides. It makes only what mounting
 * needs, and otherwise just looks.
 */
import { existsSync, mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs"
import { userInfo } from "node:os"
import { delimiter, dirname, isAbsolute, join, sep } from "node:path"

import { isInside } from "@meridian/continuity/files"

import { EMPTIED, type SandboxSite } from "../domain/sandbox.ts"
import { trustFile, userConfigFile, userStateFile } from "./user-place.ts"

type Environment = Readonly<Record<string, string | undefined>>

export interface SiteWish {
  readonly env: Environment
  readonly project: string
  readonly stateRoot: string
  readonly directory: string
  readonly git: GitSite | undefined
  /** Id of the harness to start. Undefined for a command. */
  readonly harness: string | undefined
  /** Programs and folders that must be visible. */
  readonly programs: readonly string[]
  /** Folders the user leaves writable. */
  readonly writable: readonly string[]
}

/** The checkout being worked in, as git itself knows it. */
export interface GitSite {
  readonly top: string
  readonly gitDir: string
  readonly commonDir: string
  /** It is a run's worktree: in its repository only the places its own commits need are writable. */
  readonly isOurs: boolean
}

export const sandboxSite = (wish: SiteWish): SandboxSite => {
  const { env, git, project, stateRoot, directory } = wish
  const homes = homesOf(env)
  const isApart = git?.isOurs === true
  mkdirSync(stateRoot, { recursive: true })
  // On first use its folders are missing, and it cannot make them in a home that is read-only.
  for (const path of harnessPlaces(wish.harness, env)) if (!path.endsWith(".claude.json")) makeFolder(path)
  const writable = there([
    ...(isApart ? [git.top] : [project, directory]),
    stateRoot,
    ...(git === undefined ? [] : gitWritable(git)),
    ...harnessPlaces(wish.harness, env),
    ...wish.writable.map((path) => path.replace(/^~(?=\/|$)/, env["HOME"] ?? "~")).filter(isAbsolute),
  ])
  const kept = there([
    ...(git === undefined ? [] : gitKept(git)),
    ...(isApart ? [] : inPlace(project)),
    ...configurations(stateRoot),
  ])
  const programs = [...wish.programs, ...(env["PATH"] ?? "").split(delimiter)].filter(isAbsolute)
  const readable = there([
    ...homes,
    ...programs.map((path) => (isFolder(path) ? path : dirname(path))),
    project,
    directory,
    "/run/current-system",
    "/run/systemd/resolve",
  ]).filter((path) => EMPTIED.some((emptied) => isInside(emptied, path)))
  const mounted = [...readable, ...writable, ...kept]
  const hidden = there([...secretsOf(homes, wish), ...SYSTEM_SECRETS, join(stateRoot, "http-token")])
    // The working folder and the programs stay visible, even if a folder around them is hidden.
    .filter((path) => !mounted.some((other) => isInside(path, other)))
    .map((path) => ({ path, isFolder: isFolder(path) }))
  return { readable, writable, kept, hidden, empty: emptyFile(env) }
}

/** Canonical paths without duplicates, parents first: a mount hides what was mounted below it earlier. */
const there = (paths: readonly string[]): readonly string[] =>
  [...new Set(paths.flatMap((path) => canonical(path) ?? []))]
    .filter((path) => path !== sep)
    .toSorted((left, right) => left.length - right.length || (left < right ? -1 : 1))

const canonical = (path: string): string | undefined => {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** HOME may differ from the user's real home. */
const homesOf = (env: Environment): readonly string[] =>
  there([env["HOME"] ?? "", userInfo().homedir].filter(isAbsolute))

/** For one of our worktrees: its commits and its branch, but no branch of the user's. */
const gitWritable = ({ gitDir, commonDir, isOurs }: GitSite): readonly string[] =>
  isOurs
    ? [
        gitDir,
        join(commonDir, "objects"),
        join(commonDir, "refs/heads/meridian"),
        join(commonDir, "logs/refs/heads/meridian"),
        join(commonDir, "reftable"),
      ]
    : [commonDir]

/** Files that git obeys: a program that writes here makes the user's next git run commands outside the sandbox. */
const gitKept = ({ top, gitDir, commonDir, isOurs }: GitSite): readonly string[] => {
  if (!isOurs) makeFolder(join(commonDir, "hooks"))
  const text = existsSync(join(commonDir, "config")) ? readFileSync(join(commonDir, "config"), "utf8") : ""
  const folders = [...new Set([gitDir, commonDir])]
  if (/worktreeconfig/i.test(text))
    for (const folder of folders) writeFileSync(join(folder, "config.worktree"), "", { flag: "a" })
  const links = gitDir === commonDir ? [] : ["commondir", "gitdir"].map((name) => join(gitDir, name))
  const pointer = isFolder(join(top, ".git")) ? [] : [join(top, ".git")]
  return [
    ...folders.flatMap((folder) => ["config", "config.worktree"].map((name) => join(folder, name))),
    ...["hooks", "info", "modules"].map((name) => join(commonDir, name)),
    ...links,
    ...pointer,
  ]
}

const makeFolder = (path: string): void => {
  try {
    mkdirSync(path, { recursive: true })
  } catch {
    // Where this user cannot write, nothing needs protection, and the harness says what it lacks.
  }
}

/**
 * Other programs read these in the project and start what they name. In a worktree the user sees them before they are
 * applied.
 */
const OBEYED = [
  ".husky",
  ".githooks",
  ".envrc",
  ".mcp.json",
  ".claude",
  ".codex",
  ".opencode",
  "opencode.json",
  "opencode.jsonc",
  ".cursor",
  ".gemini",
  ".vscode",
  ".idea",
]

/** A link in the project may point anywhere, so only entries inside the project are protected. */
const inPlace = (project: string): readonly string[] =>
  OBEYED.map((name) => join(project, name)).filter((path) => {
    const real = canonical(path)
    return real !== undefined && isInside(canonical(project) ?? project, real)
  })

const configurations = (stateRoot: string): readonly string[] =>
  ["config.toml", "models.toml", "agents", "skills"].map((name) => join(stateRoot, name))

/** The harness's own conversations and credentials. It does not work without them. */
const harnessPlaces = (harness: string | undefined, env: Environment): readonly string[] => {
  const home = env["HOME"] ?? ""
  const base = (name: string, fallback: string): string => env[name] || join(home, fallback)
  if (harness === "claude")
    return [env["CLAUDE_CONFIG_DIR"] || join(home, ".claude"), join(home, ".claude.json")]
  if (harness === "codex") return [env["CODEX_HOME"] || join(home, ".codex")]
  if (harness !== "opencode") return []
  return [
    base("XDG_DATA_HOME", ".local/share"),
    base("XDG_CONFIG_HOME", ".config"),
    base("XDG_STATE_HOME", ".local/state"),
    base("XDG_CACHE_HOME", ".cache"),
  ].map((folder) => join(folder, "opencode"))
}

const HOME_SECRETS = [
  // Keys and cloud credentials.
  ".ssh .gnupg .aws .azure .kube .docker .config/gcloud .config/gh .config/hub .config/op .terraform.d .vault-token",
  // Passwords and tokens of tools.
  ".config/git/credentials .git-credentials .password-store .local/share/keyrings .netrc .npmrc .yarnrc.yml .pypirc",
  ".cargo/credentials .cargo/credentials.toml .gem/credentials .pgpass .my.cnf",
  // Sockets of container runtimes.
  ".colima .lima .rd",
  // Shell histories and browsers.
  ".bash_history .zsh_history .python_history .node_repl_history .psql_history",
  ".mozilla .thunderbird .config/google-chrome .config/chromium .config/BraveSoftware",
].flatMap((line) => line.split(" "))

/** Readable for a process that is root outside. */
const SYSTEM_SECRETS = ["/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/gshadow-", "/etc/sudoers.d"]

const HARNESSES = ["claude", "codex", "opencode"]

const secretsOf = (homes: readonly string[], { env, harness }: SiteWish): readonly string[] => [
  ...homes.flatMap((home) => HOME_SECRETS.map((name) => join(home, name))),
  // The conversations and credentials of the other harnesses.
  ...HARNESSES.filter((other) => other !== harness).flatMap((other) => harnessPlaces(other, env)),
  // With the key of the trust book, a program could seal plans that are carried out outside.
  ...[trustFile(env), userStateFile(env, "http-token")].flatMap((path) => path ?? []),
  ...(hasCredential(userConfigFile(env)) ? [userConfigFile(env) ?? ""] : []),
]

const hasCredential = (file: string | undefined): boolean =>
  file !== undefined && existsSync(file) && /key|token|secret|password/i.test(readFileSync(file, "utf8"))

/** Read as a trust book, it trusts nothing. */
const emptyFile = (env: Environment): string => {
  const file = userStateFile(env, "empty")
  if (file === undefined) return "/dev/null"
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, "", { mode: 0o600 })
  return file
}
