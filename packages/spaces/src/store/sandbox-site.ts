/** Which places on this machine a sandbox leaves writable, keeps read-only and hides. Looks; makes only what mounting needs. */
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
  /** Id of the harness that is started; undefined for a command. */
  readonly harness: string | undefined
  /** Programs and folders that must be seen. */
  readonly programs: readonly string[]
  /** Folders that the user leaves writable. */
  readonly writable: readonly string[]
}

/** The checkout that is worked in, as git itself knows it. */
export interface GitSite {
  readonly top: string
  readonly gitDir: string
  readonly commonDir: string
  /** A worktree of a run: of its repository only what its own commits need is writable. */
  readonly isOurs: boolean
}

export const sandboxSite = (wish: SiteWish): SandboxSite => {
  const { env, git, project, stateRoot, directory } = wish
  const homes = homesOf(env)
  const isApart = git?.isOurs === true
  mkdirSync(stateRoot, { recursive: true })
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
    // What is worked in, or started, is not hidden with the folder around it.
    .filter((path) => !mounted.some((other) => isInside(path, other)))
    .map((path) => ({ path, isFolder: isFolder(path) }))
  return { readable, writable, kept, hidden, empty: emptyFile(env) }
}

/** Canonical, each once, what is around others before them: a mount hides what was mounted below it before. */
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

/** HOME may name another than the one that the user has. */
const homesOf = (env: Environment): readonly string[] =>
  there([env["HOME"] ?? "", userInfo().homedir].filter(isAbsolute))

/** Of a worktree of ours its commits and its branch, and no branch of the user's. */
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

/** What git obeys: whoever writes here has commands run outside, by the next git of the user. */
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
    // Whoever cannot write there need not be kept from it.
  }
}

/** Programs of others read these in the project and start what they name. In a worktree they are seen before they are applied. */
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

/** A link of the project leads where the project wants: only what lies in it is kept. */
const inPlace = (project: string): readonly string[] =>
  OBEYED.map((name) => join(project, name)).filter((path) => {
    const real = canonical(path)
    return real !== undefined && isInside(canonical(project) ?? project, real)
  })

const configurations = (stateRoot: string): readonly string[] =>
  ["config.toml", "models.toml", "agents", "skills"].map((name) => join(stateRoot, name))

/** Its own conversations and credentials: without them it does not work at all. */
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
  // Keys and clouds.
  ".ssh .gnupg .aws .azure .kube .docker .config/gcloud .config/gh .config/hub .config/op .terraform.d .vault-token",
  // Passwords and tokens of tools.
  ".config/git/credentials .git-credentials .password-store .local/share/keyrings .netrc .npmrc .yarnrc.yml .pypirc",
  ".cargo/credentials .cargo/credentials.toml .gem/credentials .pgpass .my.cnf",
  // Sockets of what starts containers.
  ".colima .lima .rd",
  // What was typed, and browsers.
  ".bash_history .zsh_history .python_history .node_repl_history .psql_history",
  ".mozilla .thunderbird .config/google-chrome .config/chromium .config/BraveSoftware",
].flatMap((line) => line.split(" "))

/** Readable for whoever is root outside. */
const SYSTEM_SECRETS = ["/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/gshadow-", "/etc/sudoers.d"]

const HARNESSES = ["claude", "codex", "opencode"]

const secretsOf = (homes: readonly string[], { env, harness }: SiteWish): readonly string[] => [
  ...homes.flatMap((home) => HOME_SECRETS.map((name) => join(home, name))),
  // The conversations and credentials of the others.
  ...HARNESSES.filter((other) => other !== harness).flatMap((other) => harnessPlaces(other, env)),
  // Whoever has the key of the trust book seals plans that are carried out outside.
  ...[trustFile(env), userStateFile(env, "http-token")].flatMap((path) => path ?? []),
  ...(hasCredential(userConfigFile(env)) ? [userConfigFile(env) ?? ""] : []),
]

const hasCredential = (file: string | undefined): boolean =>
  file !== undefined && existsSync(file) && /key|token|secret|password/i.test(readFileSync(file, "utf8"))

/** As a trust book it says that nothing is trusted. */
const emptyFile = (env: Environment): string => {
  const file = userStateFile(env, "empty")
  if (file === undefined) return "/dev/null"
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, "", { mode: 0o600 })
  return file
}
