/**
 * How we run git ourselves. A repository's own configuration can name programs: hooks, a file system monitor, filters,
 * merge and diff drivers, transports. Agents can write there, and a folder may come from elsewhere, so our git commands
 * start none of them. Drivers in the user's own files outside the repository (such as Git LFS) work as always, and so does
 * a repository driver that the user trusts with exactly its current command.
 */
import { lookingSettings } from "./permission/look-only-git.ts"

export interface GitConfiguration {
  /** The programs that the repository's own files name, such as `filter.lfs.smudge`, with their commands. */
  readonly programs: ReadonlyMap<string, string>
  /** Whether git knows an author for commits. */
  readonly hasIdentity: boolean
  readonly isBare: boolean
  /** The user has set this themselves. */
  readonly hasWorkers: boolean
}

/** Lists scope, key and value of every setting. */
export const CONFIGURATION_QUERY = ["config", "--list", "--show-scope", "--null"] as const

export const readConfiguration = (answer: string): GitConfiguration => {
  const programs = new Map<string, string>()
  const set = new Map<string, string>()
  const parts = answer.split("\0")
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const [scope = "", setting = ""] = [parts[index], parts[index + 1]]
    const line = setting.indexOf("\n")
    const key = line === -1 ? setting : setting.slice(0, line)
    const value = line === -1 ? "true" : setting.slice(line + 1)
    set.set(key, value)
    if (driverOf(key) !== undefined && REPOSITORY_SCOPES.has(scope)) programs.set(key, value)
  }
  return {
    programs,
    hasIdentity: (set.get("user.email") ?? "") !== "",
    isBare: set.get("core.bare") === "true",
    hasWorkers: set.has("checkout.workers"),
  }
}

/** `filter.lfs` for `filter.lfs.smudge`; undefined for a setting that belongs to no driver. */
export const driverOf = (key: string): string | undefined =>
  /^((?:filter|diff|merge)\..+)\.[^.]+$/s.exec(key)?.[1]

const REPOSITORY_SCOPES: ReadonlySet<string> = new Set(["local", "worktree"])

type Settings = readonly (readonly [key: string, value: string])[]

/** `strange`: untrusted drivers of the repository. */
export const ownGitSettings = (strange: readonly string[]): Settings => {
  const isMerge = (driver: string): boolean => driver.startsWith("merge.")
  return [
    ...ALWAYS,
    ...lookingSettings(strange.filter((driver) => !isMerge(driver))).filter(
      ([key]) => driverOf(key) !== undefined,
    ),
    ...strange.filter(isMerge).map((driver) => [`${driver}.driver`, PLAIN_MERGE] as const),
  ]
}

/** Hooks never run: see decision 0091. */
const ALWAYS: Settings = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.pager", "cat"],
  ["core.editor", "false"],
  ["commit.gpgSign", "false"],
  ["submodule.recurse", "false"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["rerere.enabled", "false"],
  // Never completes a partial clone: the repository names the transports, too.
  ["core.sshCommand", "false"],
  ["core.alternateRefsCommand", "false"],
  ["protocol.allow", "never"],
]

/** Git's own merge of text, used without a driver. */
const PLAIN_MERGE = "git merge-file --marker-size=%L %A %O %B"

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Variables that bind git to one repository, as a hook or an alias sets them (`git rev-parse --local-env-vars`), and some
 * more.
 */
const UNSET = [
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_CONFIG",
  "GIT_CONFIG_PARAMETERS",
  "GIT_CONFIG_COUNT",
  "GIT_OBJECT_DIRECTORY",
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_IMPLICIT_WORK_TREE",
  "GIT_GRAFT_FILE",
  "GIT_INDEX_FILE",
  "GIT_NO_REPLACE_OBJECTS",
  "GIT_REPLACE_REF_BASE",
  "GIT_PREFIX",
  "GIT_SHALLOW_FILE",
  "GIT_COMMON_DIR",
  "GIT_NAMESPACE",
  "GIT_EXTERNAL_DIFF",
  "GIT_LITERAL_PATHSPECS",
  "GIT_GLOB_PATHSPECS",
  "GIT_TRACE",
] as const

export const ownGitEnvironment = (
  env: Environment,
  { hasIdentity }: Pick<GitConfiguration, "hasIdentity">,
): Environment => ({
  ...env,
  ...Object.fromEntries(UNSET.map((name) => [name, undefined])),
  // Output that we parse must not depend on the locale.
  LC_ALL: "C",
  GIT_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  // Reading must not write the user's index.
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_LAZY_FETCH: "1",
  ...(hasIdentity ? {} : nobody(env)),
})

/** A user who never gave git a name can still apply work. */
const nobody = (env: Environment): Environment =>
  Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((role) => [
      [`GIT_${role}_NAME`, filled(env[`GIT_${role}_NAME`]) ?? "Meridian"],
      [`GIT_${role}_EMAIL`, filled(env[`GIT_${role}_EMAIL`]) ?? filled(env["EMAIL"]) ?? "meridian@localhost"],
    ]),
  )

const filled = (text: string | undefined): string | undefined => (text === "" ? undefined : text)

/** The last line of git's standard error that gives the reason, without git's own prefix. */
export const reasonIn = (stderr: string): string | undefined => {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "")
  const told = lines.findLast((line) => /^(?:fatal|error): /.test(line)) ?? lines.at(-1)
  return told?.replace(/^(?:fatal|error): /, "").replace(/\.$/, "")
}
