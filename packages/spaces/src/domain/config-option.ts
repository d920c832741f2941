/**
 * Every option of `config.toml`, in the order `meridian init` writes them. The key is `section.name`; the table gives the
 * typed configuration, the template, `config show` and the reference page.
 */
import type { ClaimKind } from "./claim.ts"
import type { PermissionRuleRow } from "./engine-table-rules.ts"
import { SANDBOX_MODES, SANDBOX_NETWORKS } from "./sandbox.ts"
import { FILE_TIERS } from "./tier.ts"

/** `time`: text such as "90s", "30m" or "24h", or a number of seconds. */
export type OptionType = "boolean" | "integer" | "number" | "string" | "strings" | "time" | "rules"

export interface Option {
  readonly type: OptionType
  /** Undefined: unset by default. */
  readonly default: OptionValue | undefined
  /** Sentences, as they appear above the option in `config.toml`. */
  readonly description: string
  /** The environment variable that overrides every file. */
  readonly variable?: string
  readonly choices?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  /** Only the user's own files and variables can set it; a project's file cannot. */
  readonly isOwn?: true
  /** What the option decides if a project's file sets it. It then counts only where the user trusts the folder. */
  readonly claims?: Extract<ClaimKind, "program" | "folder" | "variable" | "rights" | "address">
}

/** Caps. A folder's file may lower what the user has set, but never raise it. */
const BUDGET_OPTIONS = {
  "budget.run_cost": {
    type: "number",
    default: undefined,
    description: "Dollars that one run may cost; then it pauses and asks. Unset: no cap.",
    variable: "MERIDIAN_BUDGET_RUN_COST",
    minimum: 0.000_001,
    maximum: 1_000_000,
    claims: "rights",
  },
  "budget.run_tokens": {
    type: "integer",
    default: undefined,
    description: "Tokens, cached ones too, that one run may use. Unset: no cap.",
    variable: "MERIDIAN_BUDGET_RUN_TOKENS",
    minimum: 1,
    maximum: 1_000_000_000_000,
    claims: "rights",
  },
  "budget.run_turns": {
    type: "integer",
    default: undefined,
    description: "Turns of the model that one run may take. Unset: no cap.",
    variable: "MERIDIAN_BUDGET_RUN_TURNS",
    minimum: 1,
    maximum: 1_000_000_000,
    claims: "rights",
  },
  "budget.run_time": {
    type: "time",
    default: undefined,
    description: "Time that one run may be at work. Unset: no cap.",
    variable: "MERIDIAN_BUDGET_RUN_TIME",
    claims: "rights",
  },
  "budget.tree_cost": {
    type: "number",
    default: undefined,
    description: "Dollars that a run and all runs below it may cost together. Unset: no cap.",
    variable: "MERIDIAN_BUDGET_TREE_COST",
    minimum: 0.000_001,
    maximum: 1_000_000,
    claims: "rights",
  },
  "budget.space_cost": {
    type: "number",
    default: undefined,
    description: "Dollars that all runs of one space may cost together. Unset: no cap.",
    variable: "MERIDIAN_BUDGET_SPACE_COST",
    minimum: 0.000_001,
    maximum: 1_000_000,
    claims: "rights",
  },
  "budget.day_cost": {
    type: "number",
    default: undefined,
    description: "Dollars that all runs of the project may cost in one day, from midnight on. Unset: no cap.",
    variable: "MERIDIAN_BUDGET_DAY_COST",
    minimum: 0.000_001,
    maximum: 1_000_000,
    claims: "rights",
  },
} as const satisfies Record<string, Option>

export const OPTIONS = {
  "start.auto_resume": {
    type: "boolean",
    default: true,
    description:
      "Whether a plain 'meridian start' reuses the last active space. With false it makes a new space unless --space or --continue is given.",
    variable: "MERIDIAN_AUTO_RESUME",
  },
  "harness.default": {
    type: "string",
    default: "claude",
    description: "The harness used when neither a model nor an agent decides.",
    variable: "MERIDIAN_DEFAULT_HARNESS",
    choices: ["claude", "codex", "opencode", "direct"],
  },
  "harness.claude": {
    type: "string",
    default: "claude",
    description: "Command of Claude Code: a name on PATH or a path.",
    variable: "MERIDIAN_CLAUDE_COMMAND",
    claims: "program",
  },
  "harness.codex": {
    type: "string",
    default: "codex",
    description: "Command of Codex: a name on PATH or a path.",
    variable: "MERIDIAN_CODEX_COMMAND",
    claims: "program",
  },
  "harness.opencode": {
    type: "string",
    default: "opencode",
    description: "Command of OpenCode: a name on PATH or a path.",
    variable: "MERIDIAN_OPENCODE_COMMAND",
    claims: "program",
  },
  "direct.model": {
    type: "string",
    default: undefined,
    description:
      "Model of the engine (provider/model) for the direct harness and HTTP if none is named. Unset: the first usable one; 'meridian models list' shows them.",
    variable: "MERIDIAN_DIRECT_MODEL",
  },
  "defaults.model": {
    type: "string",
    default: undefined,
    description: "Model (id or alias) used when neither -m nor an agent names one.",
    variable: "MERIDIAN_DEFAULT_MODEL",
  },
  "defaults.agent": {
    type: "string",
    default: "agent",
    description: "Agent profile of a run without -a. Nothing happens when no such profile exists.",
    variable: "MERIDIAN_DEFAULT_AGENT",
  },
  "defaults.primary_agent": {
    type: "string",
    default: "primary",
    description: "Agent profile of 'meridian start' without -a. Nothing happens when no such profile exists.",
    variable: "MERIDIAN_PRIMARY_AGENT",
  },
  "defaults.max_depth": {
    type: "integer",
    default: 3,
    description: "How deep agents may spawn agents. A run at this depth cannot spawn another.",
    variable: "MERIDIAN_MAX_DEPTH",
    minimum: 0,
    maximum: 100,
  },
  "defaults.max_retries": {
    type: "integer",
    default: 3,
    description: "How often a run is retried after a transient failure (rate limit, overload, connection).",
    variable: "MERIDIAN_MAX_RETRIES",
    minimum: 0,
    maximum: 100,
  },
  "defaults.retry_backoff_seconds": {
    type: "number",
    default: 0.25,
    description: "Wait before the first retry; each further retry waits twice as long.",
    variable: "MERIDIAN_RETRY_BACKOFF_SECONDS",
    minimum: 0,
    maximum: 3600,
  },
  "runs.max_parallel": {
    type: "integer",
    default: 4,
    description: "Runs of one space that may work at the same time; more are queued. 0 means no limit.",
    variable: "MERIDIAN_MAX_PARALLEL",
    minimum: 0,
    maximum: 10_000,
  },
  "runs.patience": {
    type: "time",
    default: "24h",
    description:
      "How long a run keeps retrying transient failures: limits without a known end, overloads, server errors, broken connections. 0 ends it after max_retries.",
    variable: "MERIDIAN_RUN_PATIENCE",
  },
  "runs.stall_minutes": {
    type: "number",
    default: 30,
    description:
      "A run without any output for this long, and without a process at work, is stopped and resumed with a note. 0 means never.",
    variable: "MERIDIAN_STALL_MINUTES",
    minimum: 0,
    maximum: 10_080,
  },
  "runs.failover": {
    type: "strings",
    default: [],
    description:
      "Harnesses that take over a run if its own cannot go on, in this order, such as claude, codex and direct. Empty: the run waits for its own.",
  },
  "runs.failover_after": {
    type: "time",
    default: "30m",
    description: "A run does not wait for a longer limit than this if another harness can take over.",
    variable: "MERIDIAN_FAILOVER_AFTER",
  },
  "runs.worktree": {
    type: "string",
    default: "never",
    description:
      "Whether a run that writes gets its own worktree: 'auto' if another such run works in the same checkout.",
    variable: "MERIDIAN_RUN_WORKTREE",
    choices: ["never", "auto", "always"],
  },
  "runs.check": {
    type: "strings",
    default: [],
    description:
      "Command lines that prove the work of a run that writes, such as npm test. They run when its agent says it is done, and before it is applied.",
    variable: "MERIDIAN_RUN_CHECK",
    claims: "program",
  },
  "runs.check_timeout": {
    type: "time",
    default: "10m",
    description: "Time limit of each check.",
    variable: "MERIDIAN_CHECK_TIMEOUT",
  },
  "runs.check_rounds": {
    type: "integer",
    default: 3,
    description: "How often red checks go back to the agent before the run counts as refuted.",
    variable: "MERIDIAN_CHECK_ROUNDS",
    minimum: 0,
    maximum: 20,
  },
  ...BUDGET_OPTIONS,
  "worktree.setup": {
    type: "string",
    default: undefined,
    description:
      "A command line that prepares a fresh worktree before its run begins, such as npm ci. Only your own configuration can set it.",
    variable: "MERIDIAN_WORKTREE_SETUP",
    isOwn: true,
    claims: "program",
  },
  "sandbox.mode": {
    type: "string",
    default: "off",
    description:
      "Whether agents, their commands and checks are kept in a sandbox: 'auto' if this machine has bubblewrap, 'required' refuses to work without it. A project may only make it stricter.",
    variable: "MERIDIAN_SANDBOX_MODE",
    choices: SANDBOX_MODES,
    claims: "rights",
  },
  "sandbox.network": {
    type: "string",
    default: "on",
    description:
      "Whether the sandbox reaches the network. 'off' is for direct, its commands and checks: other harnesses need the network for their models.",
    variable: "MERIDIAN_SANDBOX_NETWORK",
    choices: SANDBOX_NETWORKS,
    claims: "rights",
  },
  "sandbox.writable": {
    type: "strings",
    default: [],
    description:
      "Folders outside the project that stay writable in the sandbox, such as ~/.npm. Only your own configuration can set it.",
    isOwn: true,
    claims: "folder",
  },
  "timeouts.kill_grace_seconds": {
    type: "number",
    default: 2,
    description: "Time between asking a harness to stop and killing it.",
    variable: "MERIDIAN_KILL_GRACE_SECONDS",
    minimum: 0,
    maximum: 3600,
  },
  "timeouts.wait_seconds": {
    type: "number",
    default: 600,
    description: "How long 'meridian run wait' waits without --timeout.",
    variable: "MERIDIAN_WAIT_TIMEOUT_SECONDS",
    minimum: 0,
    maximum: 31_536_000,
  },
  "permissions.default_tier": {
    type: "string",
    default: "read-only",
    description:
      "What a run may touch when neither --permission nor its agent says so. 'danger' is refused here.",
    variable: "MERIDIAN_DEFAULT_PERMISSION_TIER",
    choices: FILE_TIERS,
    claims: "rights",
  },
  "permissions.rules": {
    type: "rules",
    default: [],
    description:
      "What Direct, the editor and HTTP may do without asking, must ask about, or may never do. The last matching rule decides; no rule lifts a tier's refusals.",
    claims: "rights",
  },
  "permissions.guard_instructions": {
    type: "boolean",
    default: false,
    description:
      "Whether Direct asks before it edits AGENTS.md, CLAUDE.md and other instruction files, as it does for .git and .claude.",
    variable: "MERIDIAN_GUARD_INSTRUCTIONS",
    claims: "rights",
  },
  "primary.permission_tier": {
    type: "string",
    default: undefined,
    description:
      "What 'meridian start' may touch. Unset: the harness asks as it always does. 'danger' is refused here.",
    variable: "MERIDIAN_PRIMARY_PERMISSION_TIER",
    choices: FILE_TIERS,
    claims: "rights",
  },
  "primary.autocompact_pct": {
    type: "integer",
    default: undefined,
    description:
      "How full the context window is, in percent, when Claude Code compacts. Unset: its own choice.",
    variable: "MERIDIAN_AUTOCOMPACT_PCT",
    minimum: 1,
    maximum: 100,
  },
  "notify.command": {
    type: "strings",
    default: [],
    description:
      "A program and its first words. It starts when a run ends, and when a session of 'meridian serve --http' ends or asks; the message is its last word. For example notify-send and Meridian.",
    claims: "program",
  },
  "telemetry.otlp": {
    type: "string",
    default: undefined,
    description:
      "Address of an OpenTelemetry collector (OTLP over HTTP, usually http://HOST:4318). Unset: nothing is sent. The usual OTEL_* variables take precedence.",
    variable: "MERIDIAN_TELEMETRY_OTLP",
    claims: "address",
  },
  "telemetry.content": {
    type: "boolean",
    default: false,
    description: "Whether the collector also gets prompts, answers, and input and output of tools.",
    variable: "MERIDIAN_TELEMETRY_CONTENT",
    claims: "address",
  },
  "tools.keep_variables": {
    type: "strings",
    default: [],
    description:
      "Variables that look like credentials and that commands and MCP servers of the engine may see anyway, such as NPM_TOKEN.",
    claims: "variable",
  },
  "instructions.files": {
    type: "strings",
    default: [],
    description:
      "Files, globs or addresses with instructions for the engine's models, in this order after AGENTS.md.",
    claims: "folder",
  },
  "extensions.opencode": {
    type: "strings",
    default: [],
    description:
      "Files of OpenCode plugins to load as extensions of the engine. Files in your own 'extensions' folder load without being named.",
    claims: "program",
  },
  "compaction.auto": {
    type: "boolean",
    default: true,
    description: "Whether a session of the engine is compacted when its window fills.",
  },
  "compaction.prune": {
    type: "boolean",
    default: false,
    description: "Whether old tool results are dropped before a compaction is needed.",
  },
  "compaction.buffer": {
    type: "integer",
    default: undefined,
    description: "Least number of tokens to keep free. Unset: the model's output allowance.",
    minimum: 0,
    maximum: 10_000_000,
  },
  "compaction.keep_tokens": {
    type: "integer",
    default: undefined,
    description: "Tokens of recent history a checkpoint keeps word for word. Unset: a share of the window.",
    minimum: 0,
    maximum: 10_000_000,
  },
  "compaction.model": {
    type: "string",
    default: undefined,
    description: "Model (provider/model) that writes the summaries. Unset: the session's own.",
  },
  "compaction.prompt": {
    type: "string",
    default: undefined,
    description: "Instructions for the summary instead of the built-in ones.",
  },
  "compaction.timeout_ms": {
    type: "integer",
    default: undefined,
    description: "How long a summary may take. Unset: two minutes.",
    minimum: 1,
    maximum: 3_600_000,
  },
  "titles.model": {
    type: "string",
    default: undefined,
    description:
      "Model (provider/model) that gives each session of the engine a title. Unset: the first words of its first prompt.",
  },
  "titles.timeout_ms": {
    type: "integer",
    default: undefined,
    description: "How long a title may take. Unset: half a minute.",
    minimum: 1,
    maximum: 3_600_000,
  },
  "retry.attempts": {
    type: "integer",
    default: undefined,
    description:
      "Attempts of one engine request before any of its answer was seen. Unset: decided by patience_ms.",
    minimum: 1,
    maximum: 1_000,
  },
  "retry.base_ms": {
    type: "integer",
    default: undefined,
    description:
      "Wait before the second attempt; each further attempt waits twice as long. Unset: the engine's default.",
    minimum: 0,
    maximum: 3_600_000,
  },
  "limits.pending_inputs": {
    type: "integer",
    default: undefined,
    description: "Inputs that may wait in one session; one more is refused. Unset: 256.",
    minimum: 1,
    maximum: 100_000,
  },
  "limits.steer_batch": {
    type: "integer",
    default: undefined,
    description: "Steers that become visible together. Unset: 32.",
    minimum: 1,
    maximum: 100_000,
  },
  "limits.turns_per_activity": {
    type: "integer",
    default: undefined,
    description: "Most provider turns of one piece of work. Unset: 500 for Direct and editors, 25 for HTTP.",
    minimum: 1,
    maximum: 1_000_000,
  },
  "limits.lease_ms": {
    type: "integer",
    default: undefined,
    description: "How long a silent process keeps a session. Unset: 8000.",
    minimum: 1_000,
    maximum: 600_000,
  },
  "limits.patience_ms": {
    type: "integer",
    default: undefined,
    description:
      "How long the engine waits out transient failures. Unset: not at all for Direct and editors, a day for HTTP.",
    minimum: 1,
    maximum: 31_536_000_000,
  },
  "limits.idle_ms": {
    type: "integer",
    default: undefined,
    description:
      "A provider that is silent for this long counts as a broken connection; a model's idle_ms takes precedence. Unset: it may think forever.",
    minimum: 1,
    maximum: 86_400_000,
  },
  "search_paths.agents": {
    type: "strings",
    default: [".meridian/agents", ".agents/agents", ".claude/agents", ".opencode/agents"],
    description: "Folders of agent profiles, relative to the project. The first folder with a name wins.",
    claims: "folder",
  },
  "search_paths.skills": {
    type: "strings",
    default: [".meridian/skills", ".agents/skills", ".claude/skills", ".opencode/skills"],
    description: "Folders of skills, relative to the project. The first folder with a name wins.",
    claims: "folder",
  },
  "search_paths.global_agents": {
    type: "strings",
    default: ["~/.claude/agents", "~/.opencode/agents"],
    description: "Folders of agent profiles, searched after those of the project.",
    claims: "folder",
  },
  "search_paths.global_skills": {
    type: "strings",
    default: ["~/.claude/skills", "~/.opencode/skills"],
    description: "Folders of skills, searched after those of the project.",
    claims: "folder",
  },
} as const satisfies Record<string, Option>

export type OptionKey = keyof typeof OPTIONS

type Widened<O extends Option> = O["type"] extends "boolean"
  ? boolean
  : O["type"] extends "strings"
    ? readonly string[]
    : O["type"] extends "rules"
      ? readonly PermissionRuleRow[]
      : O["type"] extends "string" | "time"
        ? O extends { readonly choices: readonly (infer Choice)[] }
          ? Choice
          : string
        : number

/** The configuration as the rest of the program reads it: `config["runs.max_parallel"]`. */
export type Config = {
  readonly [Key in OptionKey]:
    | Widened<(typeof OPTIONS)[Key]>
    | ((typeof OPTIONS)[Key]["default"] extends undefined ? undefined : never)
}

export type OptionValue = boolean | number | string | readonly string[] | readonly PermissionRuleRow[]

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a literal table
export const OPTION_KEYS = Object.keys(OPTIONS) as readonly OptionKey[]

export const optionOf = (key: OptionKey): Option => OPTIONS[key]

export const isOptionKey = (text: string): text is OptionKey => Object.hasOwn(OPTIONS, text)

/** Finds `defaults.max_retries` for `max_retries`, if only one option ends that way. */
export const resolveOptionKey = (text: string): OptionKey | undefined => {
  if (isOptionKey(text)) return text
  const ends = OPTION_KEYS.filter((key) => key.endsWith(`.${text}`))
  return ends.length === 1 ? ends[0] : undefined
}
