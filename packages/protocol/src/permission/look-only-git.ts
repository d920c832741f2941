/**
 * Git that only looks. `git status`, `git log` and `git diff` run programs that a repository names: file system monitors,
 * hooks, pagers, external diffs, text converters, filters, signature verifiers, transports. A folder from elsewhere brings
 * its own configuration, so the look-only tier uses fixed command lines with all of that switched off.
 *
 * Tested with a real git against a repository that names each of them (`test/attack/git.test.ts`).
 */
export const LOOKING_COMMANDS = ["status", "log", "diff"] as const

export interface HardenedCommand {
  readonly command: "git"
  readonly args: readonly string[]
  /** Merged over the environment; undefined removes a variable. */
  readonly environment: Readonly<Record<string, string | undefined>>
}

/**
 * The hardened form of exactly `git status`, `git log` or `git diff`; undefined for anything else. `drivers`: the answer to
 * `DRIVER_QUERY` in the same folder, read by `readDrivers`.
 */
export const lookOnlyGit = (
  words: readonly string[],
  drivers: readonly string[],
): HardenedCommand | undefined => {
  const [program, name, ...rest] = words
  const known = LOOKING_COMMANDS.find((candidate) => candidate === name)
  if (program !== "git" || known === undefined || rest.length > 0) return undefined
  return {
    command: "git",
    args: [
      "--no-pager",
      ...lookingSettings(drivers).flatMap(([key, value]) => ["-c", `${key}=${value}`]),
      known,
      ...FLAGS[known],
    ],
    environment: GIT_VARIABLES,
  }
}

const FLAGS = {
  status: ["--ignore-submodules=all"],
  log: ["--no-ext-diff", "--no-textconv", "--no-show-signature", "--pretty=medium"],
  diff: ["--no-ext-diff", "--no-textconv", "--ignore-submodules=all"],
} as const satisfies Record<(typeof LOOKING_COMMANDS)[number], readonly string[]>

/** Settings that override every file of the repository. */
export const lookingSettings = (
  drivers: readonly string[],
): readonly (readonly [key: string, value: string])[] => [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.pager", "cat"],
  ["core.sshCommand", "false"],
  ["core.alternateRefsCommand", "false"],
  ["safe.bareRepository", "explicit"],
  ["protocol.allow", "never"],
  ["submodule.recurse", "false"],
  ["diff.ignoreSubmodules", "all"],
  ["status.submoduleSummary", "false"],
  ["log.showSignature", "false"],
  ["format.pretty", "medium"],
  ["gpg.program", "false"],
  ["gpg.ssh.program", "false"],
  ["gpg.x509.program", "false"],
  ...drivers.flatMap((driver): readonly (readonly [string, string])[] =>
    driver.startsWith("filter.")
      ? [
          [`${driver}.clean`, ""],
          [`${driver}.smudge`, ""],
          [`${driver}.process`, ""],
          [`${driver}.required`, "false"],
        ]
      : [
          [`${driver}.textconv`, "cat"],
          [`${driver}.command`, PLAIN_DIFF],
        ],
  ),
]

/** Git calls an external diff with seven arguments: a path, then file, hash and mode of each side. */
const PLAIN_DIFF = 'f() { diff -u "$2" "$5"; true; }; f'

/** Lists the drivers that a repository names. Only reads configuration. */
export const DRIVER_QUERY = [
  "config",
  "--null",
  "--name-only",
  "--get-regexp",
  "^(filter|diff)\\..*\\.",
] as const

/** `filter.lfs`, `diff.word`, each once. A name with a newline cannot be switched off, but git refuses it as well. */
export const readDrivers = (answer: string): readonly string[] => [
  ...new Set(
    answer
      .split("\0")
      .flatMap((key) => /^((?:filter|diff)\..+)\.[^.]+$/s.exec(key)?.[1] ?? [])
      .filter((driver) => !driver.includes("\n")),
  ),
]

const GIT_VARIABLES: Readonly<Record<string, string | undefined>> = {
  GIT_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_EXTERNAL_DIFF: undefined,
  GIT_DIR: undefined,
  GIT_WORK_TREE: undefined,
}

/**
 * The same as variables, for a program that runs git itself. They are added to what the user has set. A setting cannot
 * switch off external diffs as a flag can, so they become a plain diff here.
 *
 * All settings go into the single variable with which git passes `-c` to its children. The documented variables have KEY in
 * their names, and a harness that hides secrets from its tools would remove them.
 */
export const lookingEnvironment = (
  drivers: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> => {
  const settings = [...lookingSettings(drivers), ["diff.external", PLAIN_DIFF] as const]
  const told = environment["GIT_CONFIG_PARAMETERS"] ?? ""
  return {
    ...GIT_VARIABLES,
    GIT_CONFIG_PARAMETERS: [...(told === "" ? [] : [told]), ...settings.map(parameter)].join(" "),
  }
}

/** Every git version reads `'key=value'`. A key with an equals sign needs the form of newer versions. */
const parameter = ([key, value]: readonly [string, string]): string =>
  key.includes("=") ? `${quoted(key)}=${quoted(value)}` : quoted(`${key}=${value}`)

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
