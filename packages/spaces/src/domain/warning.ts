/**
 * What a person or agent should know although the command continues. Like a failure, a warning has a code, a cause
 * and a way out. It goes to stderr (command) or into `warning` (MCP), never into a result.
 */
import type { Facts } from "@meridian/protocol"

export interface WarningEntry {
  readonly cause: (facts: Facts) => string
  readonly next: (facts: Facts) => string
}

export interface Warning {
  readonly code: WarningCode
  readonly facts: Facts
  readonly cause: string
  readonly next: string
}

export const WARNINGS = {
  EXTENSIONS_UNTRUSTED: {
    cause: (f) =>
      `${f["folder"]} is not trusted with its extensions as they are, so they are not loaded: ${f["files"]}.`,
    next: () => "read them, and run 'meridian trust' to allow them.",
  },
  EXTENSION_UNUSABLE: {
    cause: (f) => `The extension ${f["file"]} was left out: ${f["problem"]}.`,
    next: () => "correct the file, or remove it.",
  },
  PLUGIN_HOOKS_UNUSED: {
    cause: (f) => `Hooks of ${f["file"]} have no counterpart here and are not called: ${f["hooks"]}.`,
    next: () => "see docs/guide/extensions.md for those that have one.",
  },
  MCP_VARIABLE_UNSET: {
    cause: (f) => `The MCP server ${f["server"]} needs the variable ${f["variable"]}, which is not set.`,
    next: () => "set it, or set enabled = false for the server.",
  },
  SPACE_AUTO_RESUMED: {
    cause: (f) => `Resumed active space ${f["space"]}${f["name"] === undefined ? "" : ` ("${f["name"]}")`}.`,
    next: () => "use --new to start a fresh space.",
  },
  SPACE_AUTO_CREATED: {
    cause: (f) => `No MERIDIAN_SPACE_ID set. Created space ${f["space"]}.`,
    next: (f) => `set MERIDIAN_SPACE_ID=${f["space"]} for subsequent commands.`,
  },
  SANDBOX_LOOSER: {
    cause: (f) => `${f["key"]} of ${f["where"]} is looser than your own configuration, so it is ignored.`,
    next: () => "nothing; give --sandbox off if you want it once.",
  },
  SANDBOX_ABSENT: {
    cause: (f) => `${f["what"]} works without a sandbox: ${f["why"]}.`,
    next: (f) => `${f["next"]}`,
  },
  SESSION_BEGUN_ANEW: {
    cause: (f) => `${f["harness"]} no longer knows the conversation of run ${f["run"]}.`,
    next: () => "nothing; the run continues in a new one, with its task.",
  },
  RUN_HANDED_OVER: {
    cause: (f) => `${f["from"]} cannot continue run ${f["run"]}, so ${f["to"]} takes over: ${f["why"]}`,
    next: (f) => `nothing; 'meridian run show ${f["run"]}' shows its attempts.`,
  },
  MENTION_UNREADABLE: {
    cause: (f) => `What the prompt names cannot be read, and the harness is told so: ${f["problem"]}`,
    next: () => "correct the name, or attach the file with -f.",
  },
  FAILOVER_UNUSABLE: {
    cause: (f) => `${f["harness"]} cannot take over now: ${f["why"]}.`,
    next: () => "install or set it up, or leave it out of runs.failover.",
  },
  UNSUPPORTED_FLAG: {
    cause: (f) => `${f["flag"]} is not supported by ${f["harness"]}.`,
    next: () => "remove this flag or switch to a harness that supports it. Flag ignored.",
  },
  MODEL_NOT_LISTED: {
    cause: (f) => `Model '${f["model"]}' is not in the catalogue; its name says ${f["harness"]}.`,
    next: () => "add it to .meridian/models.toml, or run 'meridian models list' to pick a listed one.",
  },
  MODEL_ALIAS_TWICE: {
    cause: (f) => `Alias '${f["alias"]}' belongs to ${f["kept"]}; ${f["dropped"]} does not get it.`,
    next: () => "rename it in .meridian/models.toml.",
  },
  AGENT_GONE: {
    cause: (f) =>
      `The conversation's agent '${f["agent"]}' is gone${f["path"] === undefined ? "" : ` (${f["path"]})`}; this time it continues without it.`,
    next: () => "put the profile back, or choose another with -a NAME.",
  },
  SKILLS_SKIPPED: {
    cause: (f) =>
      f["agent"] === ""
        ? `Skills of the conversation are gone: ${f["skills"]}.`
        : `Agent '${f["agent"]}' names skills that do not exist: ${f["skills"]}.`,
    next: () => "run 'meridian skills list', or correct the profile.",
  },
  PROFILE_SERVERS_UNUSED: {
    cause: (f) => `Agent '${f["agent"]}' names MCP servers that Direct does not start: ${f["servers"]}.`,
    next: () => "remove them from the profile, or use a harness that has them.",
  },
  PROFILE_SKIPPED: {
    cause: (f) => `${f["path"]} was skipped: ${f["problem"]}.`,
    next: () => "correct the file.",
  },
  CONFIG_KEY_UNKNOWN: {
    cause: (f) => `${f["file"]}:${f["line"]}: unknown key '${f["key"]}' is ignored.`,
    next: (f) =>
      f["suggestion"] === undefined
        ? "run 'meridian config show' to see the known keys."
        : `did you mean '${f["suggestion"]}'?`,
  },
  CONFIG_OWN_ONLY: {
    cause: (f) => `${f["where"]}: '${f["key"]}' is ignored: only your own configuration sets it.`,
    next: (f) => `set it in ${f["file"]} if you want it ('meridian config set --user ${f["key"]}').`,
  },
  BUDGET_CAPPED: {
    cause: (f) => `${f["where"]}: '${f["key"]}' is ignored: ${f["wished"]} is above the budget you set.`,
    next: (f) => `raise it in ${f["file"]} if you want it ('meridian config set --user ${f["key"]}').`,
  },
  RUN_ASKS: {
    cause: (f) => `Run ${f["run"]} is paused: ${f["question"]}`,
    next: (f) =>
      `let it go on with 'meridian run resume ${f["run"]} --max-cost N' (or --max-tokens, --max-turns, --max-time), or end it with 'meridian run cancel ${f["run"]}'.`,
  },
  ASK_UNSUPPORTED: {
    cause: (f) =>
      `${f["harness"]} cannot wait for answers without a terminal; it is refused what it may not do.`,
    next: () => "use --harness direct, or give it the rights it needs with --permission.",
  },
  PRICE_UNKNOWN: {
    cause: (f) => `The cost of run ${f["run"]} is unknown, so its caps on cost have no effect.`,
    next: () => "give --max-tokens, --max-turns or --max-time as well.",
  },
  CAP_NOT_HELD: {
    cause: (f) => `${f["harness"]} on a terminal reports no usage, so ${f["caps"]} have no effect there.`,
    next: () => "use them with 'meridian run spawn', or with --harness direct.",
  },
  FOLDER_UNTRUSTED: {
    cause: (f) => `${f["folder"]} is not trusted, so its files do not decide ${f["values"]}.`,
    next: (f) =>
      `run 'meridian trust --dry-run' to see what they say and 'meridian trust' to allow it, or set it in ${f["file"]}.`,
  },
  FOLDER_CHANGED: {
    cause: (f) => `${f["values"]} changed since you trusted ${f["folder"]}, and is ignored.`,
    next: (f) =>
      `run 'meridian trust --dry-run' to see it and 'meridian trust' to allow it, or set it in ${f["file"]}.`,
  },
  DATABASE_FOREIGN: {
    cause: (f) =>
      `${f["file"]} was not made by you in this place, so nothing in it is resumed automatically: ${f["waiting"]}.`,
    next: () => "run 'meridian trust' to take it over, or move it away.",
  },
  RECORD_UNSEALED: {
    cause: (f) => `Chat ${f["chat"]} was not recorded by you in this place, so ${f["left"]} are left out.`,
    next: () => "give the flags again, if they are yours.",
  },
  RIGHTS_NOT_REPEATED: {
    cause: (f) =>
      `${f["flags"]} of chat ${f["chat"]} is not passed on again: rights are given for one launch.`,
    next: () => "give it again after --, or use --permission.",
  },
  TIER_CAPPED: {
    cause: (f) => `${f["who"]} asks for ${f["wished"]} and gets ${f["got"]}: ${f["why"]}.`,
    next: (f) => `${f["next"]}`,
  },
  LOG_DAMAGED: {
    cause: (f) => `${f["file"]}:${f["line"]} is damaged and was skipped.`,
    next: () => "look at the line; its content is ignored.",
  },
  NO_REPORT: {
    cause: (f) => `Run ${f["run"]} left no report.`,
    next: (f) => `see what it did in ${f["events"]}.`,
  },
  FORK_UNSUPPORTED: {
    cause: (f) => `${f["harness"]} cannot fork a session; it is continued in place.`,
    next: () => "omit --fork, or use a harness that can.",
  },
  RUN_QUEUED: {
    cause: (f) => `Run ${f["run"]} is queued: ${f["limit"]} runs of space ${f["space"]} may work at once.`,
    next: () => "wait, or raise runs.max_parallel.",
  },
  SCHEDULES_UNWATCHED: {
    cause: (f) => `${f["variable"]} is off, so nothing fires the schedules of this project.`,
    next: (f) => `unset ${f["variable"]} and run 'meridian up'.`,
  },
  CHECKOUT_SHARED: {
    cause: (f) => `${f["others"]} also writes into ${f["checkout"]}: the last to write a file wins.`,
    next: () => "give --worktree (or set runs.worktree to auto) to keep runs apart.",
  },
  CHECKS_UNTRUSTED: {
    cause: (f) =>
      `Agent '${f["agent"]}' names checks that are not run, since you do not trust this folder with them: ${f["checks"]}.`,
    next: () =>
      "run 'meridian trust --dry-run' to see them and 'meridian trust' to allow them, or give --check.",
  },
  CHECK_FILES_CHANGED: {
    cause: (f) =>
      `Run ${f["run"]} is verified, but its agent changed what the checks depend on: ${f["files"]}.`,
    next: (f) => `look at them ('meridian run diff ${f["run"]}') before you believe it.`,
  },
  APPLY_WAITS: {
    cause: (f) => `Another run of ${f["repository"]} is being applied.`,
    next: () => "wait; this one follows.",
  },
  WORKTREE_SUBMODULES: {
    cause: (f) => `The submodules are empty in the worktree of run ${f["run"]}.`,
    next: () => "let [worktree] setup run 'git submodule update --init' if the run needs them.",
  },
  GIT_PROGRAMS_OFF: {
    cause: (f) =>
      `The configuration of ${f["checkout"]} names programs that git would start, and they are not trusted: ${f["drivers"]}.`,
    next: () => "run 'meridian trust --dry-run' to see them, and 'meridian trust' to allow them.",
  },
  LAUNCHER_UNAVAILABLE: {
    cause: () =>
      "No folder of yours can hold the 'meridian' script that is put first on the PATH of a launched agent.",
    next: () => "make ~/.cache (or XDG_CACHE_HOME) writable, or install meridian on the PATH yourself.",
  },
  NOTIFY_FAILED: {
    cause: (f) => `notify.command could not tell you: ${f["program"]}: ${f["why"]}.`,
    next: () => "correct it with 'meridian config set notify.command', or remove it.",
  },
  TELEMETRY_OFF: {
    cause: (f) => `Telemetry is not sent: ${f["problem"]}`,
    next: () => "correct [telemetry] or the OTEL_* variables, or unset them.",
  },
  SEARCH_INDEX_BUSY: {
    cause: () => "Another search is updating the index, so the newest sessions may be missing here.",
    next: () => "search again in a moment.",
  },
  SEARCH_INDEX_REBUILT: {
    cause: (f) => `The index ${f["file"]} was of another version or damaged, and was rebuilt.`,
    next: () => "nothing: everything in it comes from the sessions themselves.",
  },
  SEARCH_SOURCES_UNREADABLE: {
    cause: (f) => `${f["count"]} places with sessions could not be read, the first is ${f["first"]}.`,
    next: () => "check their permissions; content indexed earlier is still found.",
  },
  HOST_OPEN: {
    cause: (f) =>
      `Other machines can reach ${f["host"]} port ${f["port"]}: anyone with the token can run commands here, and plain HTTP exposes it on the network.`,
    next: () => "leave --host out and use an SSH tunnel, unless the network is yours.",
  },
} as const satisfies Record<string, WarningEntry>

export type WarningCode = keyof typeof WARNINGS

export const warning = (code: WarningCode, facts: Facts = {}): Warning => {
  const entry: WarningEntry = WARNINGS[code]
  return { code, facts, cause: entry.cause(facts), next: entry.next(facts) }
}

/** One line: a name with a newline in it must not look like one of our lines. */
export const renderWarning = (given: Warning): string =>
  `WARNING [${given.code}]: ${given.cause} Next: ${given.next}`.replaceAll(/\s*[\r\n]+\s*/g, " ")
