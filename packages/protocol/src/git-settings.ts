/**
 * How we run git ourselves. A repository's own configuration can name programs: hooks, a file system monitor, filters, merge
 * and diff drivers, transports. Agents can write there, and a folder may have come from somewhere else, so none of that is
 * started by a command of ours. Drivers that the user's own files outside of the repository name (Git LFS, say) work as
 * always, and so does one of the repository that the user trusts with exactly what it says.
 */
import { lookingSettings } from "./permission/look-only-git.ts"

export interface GitConfiguration {
  /** What the repository's own files name: `filter.lfs.smudge` and its command. */
  readonly programs: ReadonlyMap<string, string>
  /** Whether commits have somebody to be from. */
  readonly hasIdentity: boolean
  readonly isBare: boolean
  /** The user has a wish of their own. */
  readonly hasWorkers: boolean
}

/** Scope, key and value of every setting. */
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

/** `filter.lfs` of `filter.lfs.smudge`; undefined for a setting of no driver. */
export const driverOf = (key: string): string | undefined =>
  /^((?:filter|diff|merge)\..+)\.[^.]+$/s.exec(key)?.[1]

const REPOSITORY_SCOPES: ReadonlySet<string> = new Set(["local", "worktree"])

type Settings = readonly (readonly [key: string, value: string])[]

/** `strange`: drivers of the repository that nobody trusts. */
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
  // A partial clone is not completed behind the user's back: transports are named by the repository, too.
  ["core.sshCommand", "false"],
  ["core.alternateRefsCommand", "false"],
  ["protocol.allow", "never"],
]

/** What git does itself with a text that no driver is named for. */
const PLAIN_MERGE = "git merge-file --marker-size=%L %A %O %B"

type Environment = Readonly<Record<string, string | undefined>>

/** Variables that bind git to one repository, as a hook or an alias sets them (`git rev-parse --local-env-vars`), and more. */
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
  // Words that we read are the same everywhere.
  LC_ALL: "C",
  GIT_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  // Looking never writes into an index of the user.
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_LAZY_FETCH: "1",
  ...(hasIdentity ? {} : nobody(env)),
})

/** Somebody who never told git a name can take work over all the same. */
const nobody = (env: Environment): Environment =>
  Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((role) => [
      [`GIT_${role}_NAME`, filled(env[`GIT_${role}_NAME`]) ?? "Meridian"],
      [`GIT_${role}_EMAIL`, filled(env[`GIT_${role}_EMAIL`]) ?? filled(env["EMAIL"]) ?? "meridian@localhost"],
    ]),
  )

const filled = (text: string | undefined): string | undefined => (text === "" ? undefined : text)

/** The last line of git's standard error that says what was wrong, without git's own word before it. */
export const reasonIn = (stderr: string): string | undefined => {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "")
  const told = lines.findLast((line) => /^(?:fatal|error): /.test(line)) ?? lines.at(-1)
  return told?.replace(/^(?:fatal|error): /, "").replace(/\.$/, "")
}
