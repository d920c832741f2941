import type { Facts, FailureEntry } from "./entry.ts"

/** The engine names the agents it knows; spaces suggests the name that was probably meant. */
const isEngineAgent = (facts: Facts): boolean =>
  facts["suggestion"] === undefined && facts["known"] !== undefined

/** By the system's name of the error. */
const SYSTEM_ADVICE: Readonly<Record<string, string>> = {
  EEXIST: "move away what is there: something else is needed in its place.",
  ENOTDIR: "move away the file that is where a folder is needed.",
  ENOSPC: "free some space on the disk, then run it again.",
  EMFILE: "close other programs, or allow more open files ('ulimit -n').",
}

/** Failures of spaces and the `meridian` command. */
export const SPACES_FAILURES = {
  USAGE: {
    exit: 2,
    http: 400,
    cause: (f) => `${f["problem"]}`,
    next: (f) => `${f["next"]}`,
  },
  UNKNOWN_COMMAND: {
    exit: 2,
    http: 404,
    cause: (f) => `Unknown command '${f["words"]}'.`,
    next: (f) =>
      f["suggestion"] === undefined
        ? "run 'meridian --help' to see the commands."
        : `did you mean 'meridian ${f["suggestion"]}'? Run 'meridian --help' to see the commands.`,
  },
  /** For the command: a signal. For an engine session: its interrupt. */
  INTERRUPTED: {
    exit: 130,
    http: 409,
    cause: (f) =>
      f["signal"] === undefined ? `Session ${f["session"]} was interrupted.` : `Stopped by ${f["signal"]}.`,
    next: (f) =>
      f["signal"] === undefined ? "run it to go on, or send a new prompt." : "run the command again.",
  },
  SYSTEM_ERROR: {
    exit: 1,
    http: 500,
    cause: (f) => `${f["cause"]}.`,
    next: (f) =>
      SYSTEM_ADVICE[/^E[A-Z]+/.exec(String(f["cause"]))?.[0] ?? ""] ??
      "check that the path exists and that you may read and write it.",
  },
  INTERNAL: {
    exit: 1,
    http: 500,
    cause: (f) => `${f["cause"]}.`,
    next: () => "run again with MERIDIAN_DEBUG=1 and report what it prints: this is a bug in Meridian.",
  },
  NODE_TOO_OLD: {
    exit: 2,
    http: 500,
    cause: (f) => `Node ${f["version"]} cannot run Meridian, which needs 24.15 or newer.`,
    next: () => "install a newer Node.",
  },
  CONFIG_NOT_FOUND: {
    exit: 1,
    http: 404,
    cause: (f) => `Configuration file not found: ${f["path"]}.`,
    next: () => "correct --config or MERIDIAN_CONFIG.",
  },
  CONFIG_UNREADABLE: {
    exit: 1,
    http: 400,
    cause: (f) => `${f["path"]} cannot be read as configuration: ${f["problem"]}.`,
    next: () => "put a plain text file of at most 1 MiB there, or remove it.",
  },
  /** State that another user could have written is not read, written or locked. */
  STATE_FOREIGN: {
    exit: 1,
    http: 403,
    cause: (f) => `${f["path"]} belongs to the user with the id ${f["owner"]}, not to you (${f["user"]}).`,
    next: (f) =>
      f["flag"] === undefined
        ? "work in a folder of your own, or set MERIDIAN_REPO_ROOT to the project you mean."
        : `give --allow-foreign if you mean to work on it as ${f["flag"]}, or use a folder of your own.`,
  },
  /** A folder from elsewhere may contain anything under our names. */
  STATE_NOT_PLAIN: {
    exit: 1,
    http: 409,
    cause: (f) =>
      `${f["path"]} is a link, a pipe or a device; state is kept in plain files and folders only.`,
    next: () => "move it away; to keep the state elsewhere, set MERIDIAN_STATE_ROOT.",
  },
  TRUST_UNUSABLE: {
    exit: 1,
    http: 500,
    cause: (f) => `${f["file"]} cannot be used as the trust store: ${f["why"]}.`,
    next: () =>
      "repair or remove it (folders are then trusted again with 'meridian trust'), or correct MERIDIAN_TRUST.",
  },
  TRUST_FULL: {
    exit: 1,
    http: 409,
    cause: (f) => `The trust store already holds ${f["limit"]} trusted folders.`,
    next: () => "run 'meridian trust list', then 'meridian untrust DIR' for some of them.",
  },
  TRUST_TOO_MUCH: {
    exit: 1,
    http: 409,
    cause: (f) =>
      `${f["folder"]} decides ${f["count"]} things; a folder with more than ${f["limit"]} is not trusted.`,
    next: () => "look at its .meridian/config.toml, and put what you need into your own configuration.",
  },
  TRUST_NEEDS_PERSON: {
    exit: 1,
    http: 403,
    cause: (f) =>
      `'meridian ${f["command"]}' was called from inside a chat or a run, and trust is a person's decision.`,
    next: () => "run it in a terminal of your own (without MERIDIAN_SPACE_ID).",
  },
  CONFIG_SYNTAX: {
    exit: 1,
    http: 400,
    cause: (f) => `${f["where"]}: not valid TOML: ${f["problem"]}.`,
    next: () => "correct that line.",
  },
  CONFIG_INVALID: {
    exit: 1,
    http: 400,
    cause: (f) => `${f["where"]}: '${f["key"]}' must be ${f["expected"]}, got ${f["got"]}.`,
    next: () => "correct the value, or remove it to use the default.",
  },
  CONFIG_KEY_UNKNOWN: {
    exit: 1,
    http: 404,
    cause: (f) => `Unknown config key '${f["key"]}'.`,
    next: (f) =>
      f["suggestion"] === undefined
        ? "run 'meridian config show' to see the keys."
        : `did you mean '${f["suggestion"]}'? Run 'meridian config show' to see the keys.`,
  },
  CONFIG_NOT_EDITABLE: {
    exit: 1,
    http: 409,
    cause: (f) => `${f["path"]} sets '${f["key"]}' in a way that cannot be changed line by line.`,
    next: () => "edit the file by hand.",
  },
  MODEL_NOT_USABLE: {
    exit: 1,
    http: 409,
    cause: (f) => `Model '${f["model"]}' cannot be used: ${f["why"]}.`,
    next: () => "run 'meridian models list' to see what is usable now.",
  },
  MODELS_NOT_UPDATED: {
    exit: 1,
    http: 502,
    cause: (f) => `The catalogue of models was not updated from ${f["from"]}: ${f["problem"]}.`,
    next: () =>
      "try again when the address can be reached, or give another address or a file with --from; the previous catalogue is still in use.",
  },
  MODEL_UNKNOWN: {
    exit: 1,
    http: 404,
    cause: (f) => `Unknown model '${f["model"]}'.`,
    next: (f) =>
      f["suggestion"] === undefined
        ? "run 'meridian models list' to see models and aliases."
        : `did you mean '${f["suggestion"]}'? Run 'meridian models list' to see models and aliases.`,
  },
  AGENT_NOT_FOUND: {
    exit: 1,
    http: 404,
    cause: (f) =>
      isEngineAgent(f)
        ? `Agent ${f["agent"]} is not configured.`
        : `Agent profile '${f["agent"]}' not found in the search paths.`,
    next: (f) =>
      isEngineAgent(f)
        ? `use one of: ${f["known"]}.`
        : f["suggestion"] === undefined
          ? `add .meridian/agents/${f["agent"]}.md, or correct -a.`
          : `did you mean '${f["suggestion"]}'? Otherwise add .meridian/agents/${f["agent"]}.md.`,
  },
  SKILL_NOT_FOUND: {
    exit: 1,
    http: 404,
    cause: (f) => `Unknown skills: ${f["skills"]}.`,
    next: (f) =>
      f["suggestion"] === undefined
        ? "run 'meridian skills list' to see the skills."
        : `did you mean '${f["suggestion"]}'? Run 'meridian skills list' to see the skills.`,
  },
  PROFILE_INVALID: {
    exit: 1,
    http: 400,
    cause: (f) => `${f["path"]} cannot be used: ${f["problem"]}.`,
    next: () => "correct the file.",
  },
  REFERENCE_NOT_FOUND: {
    exit: 1,
    http: 404,
    cause: (f) => `Reference file not found: ${f["path"]}.`,
    next: () => "correct -f; '-f @name' names a file in the space's fs folder.",
  },
  REFERENCE_UNREADABLE: {
    exit: 1,
    http: 400,
    cause: (f) => `Reference file ${f["path"]} cannot be used: ${f["problem"]}.`,
    next: () => "name a text file of at most 4 MiB.",
  },
  VARIABLE_INVALID: {
    exit: 2,
    http: 400,
    cause: (f) => `Invalid template variable assignment. Expected KEY=VALUE, got '${f["assignment"]}'.`,
    next: () => "use --var KEY=VALUE or --var KEY=@file.",
  },
  VARIABLE_FILE_MISSING: {
    exit: 1,
    http: 404,
    cause: (f) => `Template variable '${f["name"]}' points to missing file: ${f["path"]}.`,
    next: () => "correct the path after '@'.",
  },
  VARIABLE_UNDEFINED: {
    exit: 1,
    http: 400,
    cause: (f) => `Undefined template variables: ${f["names"]}.`,
    next: () => "give each with --var KEY=VALUE.",
  },
  /** A file of the folder could smuggle in a flag of the harness as a name. */
  NAME_LIKE_FLAG: {
    exit: 2,
    http: 400,
    cause: (f) => `The ${f["what"]} '${f["name"]}' begins with a dash: a harness would take it for a flag.`,
    next: () => "correct the profile, models.toml or the flag that names it.",
  },
  TIER_ABOVE_PARENT: {
    exit: 1,
    http: 403,
    cause: (f) => `A run that may do ${f["wished"]} cannot be started from one that may do ${f["parent"]}.`,
    next: () => "start it yourself, or from a run that may do as much.",
  },
  SPACE_REQUIRED: {
    exit: 1,
    http: 400,
    cause: () => "No MERIDIAN_SPACE_ID set.",
    next: (f) =>
      f["newest"] === undefined
        ? "run 'meridian run spawn' to auto-create a space."
        : f["face"] === "tool"
          ? `name the space as space_id; the newest is ${f["newest"]}.`
          : `name the space with --space, or set MERIDIAN_SPACE_ID; the newest is ${f["newest"]}.`,
  },
  HARNESS_MISMATCH: {
    exit: 1,
    http: 409,
    cause: (f) =>
      `Session ${f["chat"]} was started with ${f["started"]}. Cannot continue with a ${f["asked"]} model.`,
    next: (f) => `pick a model on ${f["started"]} or omit -m.`,
  },
  AMBIGUOUS_SESSION: {
    exit: 1,
    http: 409,
    cause: (f) => `Chat ${f["chat"]} exists in multiple spaces.`,
    next: () => "use --space to disambiguate.",
  },
  CHAT_NOT_FOUND: {
    exit: 1,
    http: 404,
    cause: (f) =>
      `Chat '${f["chat"]}' not found${f["space"] === undefined ? "" : ` in space ${f["space"]}`}.`,
    next: () => "run 'meridian space show <space-id>' to see its chats.",
  },
  NOTHING_TO_CONTINUE: {
    exit: 1,
    http: 404,
    cause: (f) =>
      f["space"] === undefined
        ? "There is no chat to continue."
        : `Space ${f["space"]} has no chat to continue.`,
    next: () => "run 'meridian start' without --continue to begin one.",
  },
  CHAT_ALIVE: {
    exit: 1,
    http: 409,
    cause: (f) =>
      f["process"] === undefined
        ? `Chat ${f["chat"]} in space ${f["space"]} is still running.`
        : `Chat ${f["chat"]} in space ${f["space"]} is still running: its 'meridian start' is gone, but ${f["program"]} (process ${f["process"]}) works on.`,
    next: (f) =>
      f["process"] === undefined
        ? "end it first, or start another chat without --continue."
        : `end it with 'kill ${f["process"]}', or start another chat without --continue.`,
  },
  CHAT_WITHOUT_SESSION: {
    exit: 1,
    http: 409,
    cause: (f) => `Chat ${f["chat"]} never told its ${f["harness"]} session id, so it cannot be continued.`,
    next: () => "start a new chat without --continue.",
  },
  SPACE_NOT_FOUND: {
    exit: 1,
    http: 404,
    cause: (f) => `Space '${f["space"]}' not found.`,
    next: () => "run 'meridian space list' to see the spaces.",
  },
  SPACE_DAMAGED: {
    exit: 1,
    http: 500,
    cause: (f) => `Space ${f["space"]} cannot be read: ${f["reason"]}.`,
    next: (f) => `repair or remove ${f["file"]}; nothing else of the space was touched.`,
  },
  SPACE_NOT_MOVED: {
    exit: 1,
    http: 409,
    cause: (f) => `Space ${f["space"]} is still at ${f["from"]}; this is a copy of it.`,
    next: () => "work in one of the two; make a new space here with 'meridian start --new'.",
  },
  SPACE_CLOSED: {
    exit: 1,
    http: 409,
    cause: (f) => `Space ${f["space"]} is closed.`,
    next: () => "use another space ('meridian space list'), or make one with 'meridian start --new'.",
  },
  RECORD_NEWER: {
    exit: 1,
    http: 500,
    cause: (f) => `${f["file"]} was written by a newer Meridian: ${f["what"]}. Nothing was changed.`,
    next: () => "use the newer Meridian for this project.",
  },
  RUN_NOT_FOUND: {
    exit: 1,
    http: 404,
    cause: (f) => `Run '${f["run"]}' not found in space ${f["space"]}.`,
    next: () => "run 'meridian run list' to see the runs.",
  },
  RUN_REFERENCE_UNKNOWN: {
    exit: 1,
    http: 404,
    cause: (f) => `Unknown run reference '${f["reference"]}'.`,
    next: (f) => `use a run id or one of ${f["known"]}.`,
  },
  NO_RUN: {
    exit: 1,
    http: 404,
    cause: (f) => `No run found for ${f["what"]}.`,
    next: () => "run 'meridian run list' to see the runs.",
  },
  RUN_NOT_RESUMABLE: {
    exit: 1,
    http: 409,
    cause: (f) => `Run ${f["run"]} cannot be resumed: ${f["why"]}.`,
    next: (f) => `run 'meridian run continue ${f["run"]} -p TEXT', or spawn a new run.`,
  },
  RUN_ENDED: {
    exit: 1,
    http: 409,
    cause: (f) => `Run ${f["run"]} has ended (${f["status"]}).`,
    next: (f) => `run 'meridian run continue ${f["run"]} -p TEXT' to go on with its conversation.`,
  },
  RUN_ALIVE: {
    exit: 1,
    http: 409,
    cause: (f) =>
      f["process"] === undefined
        ? `Run ${f["run"]} is still ${f["status"]}.`
        : `Run ${f["run"]} is still ${f["status"]}: its worker is gone, but ${f["program"]} (process ${f["process"]}) works on.`,
    next: (f) =>
      f["process"] === undefined
        ? `wait for it with 'meridian run wait ${f["run"]}', or cancel it.`
        : `end it with 'meridian run cancel ${f["run"]}', or wait for it with 'meridian run wait ${f["run"]}'.`,
  },
  RUN_WITHOUT_SESSION: {
    exit: 1,
    http: 409,
    cause: (f) =>
      `Run ${f["run"]} ended before ${f["harness"]} told its session id, so it cannot be continued.`,
    next: () => "spawn a new run.",
  },
  MAX_DEPTH: {
    exit: 1,
    http: 409,
    cause: (f) => `Max agent depth (${f["limit"]}) reached.`,
    next: () => "complete this task directly.",
  },
  WAIT_TIMEOUT: {
    exit: 124,
    http: 504,
    cause: (f) => `Timed out waiting for run(s) ${f["runs"]}.`,
    next: () => "wait again, or look with 'meridian run show'.",
  },
  CANCEL_FAILED: {
    exit: 1,
    http: 500,
    cause: (f) => `Run ${f["run"]} did not end.`,
    next: () => "run 'meridian doctor'.",
  },
  BACKGROUND_LAUNCH_FAILED: {
    exit: 2,
    http: 500,
    cause: (f) => `The background worker could not be started: ${f["reason"]}.`,
    next: () => "run again without --background to see more.",
  },
  HARNESS_NOT_INSTALLED: {
    exit: 2,
    http: 424,
    cause: (f) => `${f["harness"]} is not installed: '${f["command"]}' was not found on PATH.`,
    next: () => "install it, pick a model of another harness, or use Meridian's own with --harness direct.",
  },
  HARNESS_NOT_STARTED: {
    exit: 2,
    http: 424,
    cause: (f) => `${f["harness"]} could not be started: ${f["reason"]}.`,
    next: (f) => `check '${f["command"]}' and its permissions.`,
  },
  ACP_AGENT_UNKNOWN: {
    exit: 2,
    http: 400,
    cause: (f) =>
      `No agent 'acp:${f["name"]}' is configured.${f["known"] === "" ? "" : ` There are: ${f["known"]}.`}`,
    next: (f) => `add [harness.acp.${f["name"]}] with command = ["PROGRAM", "ARG"] to ${f["file"]}.`,
  },
  ACP_AGENT_FAILED: {
    exit: 1,
    http: 502,
    cause: (f) => `The agent 'acp:${f["name"]}' ${f["why"]}.`,
    next: () => "run its command by hand to see what it says; 'meridian doctor' checks the rest.",
  },
  HARNESS_UNKNOWN: {
    exit: 2,
    http: 400,
    cause: (f) => `There is no harness '${f["harness"]}'.`,
    next: () => "use claude, codex, opencode, direct or acp:NAME.",
  },
  DIRECTORY_NOT_FOUND: {
    exit: 2,
    http: 400,
    cause: (f) => `Working directory ${f["directory"]} does not exist.`,
    next: () => "create it, or give another one with --cwd.",
  },
  PROMPT_REQUIRED: {
    exit: 2,
    http: 400,
    cause: () => "A run needs a prompt.",
    next: () => "give one with -p TEXT ('prompt' over MCP).",
  },
  PROMPT_TOO_LARGE: {
    exit: 2,
    http: 413,
    cause: (f) => `The prompt has ${f["bytes"]} bytes; at most ${f["limit"]} are sent.`,
    next: () => "name files for the agent to read instead of including them.",
  },
  NOT_CONFIRMED: {
    exit: 1,
    http: 409,
    cause: (f) => `${f["what"]}.`,
    next: () => "answer yes, or give --yes.",
  },
  LOCK_TIMEOUT: {
    exit: 1,
    http: 503,
    cause: (f) => `${f["file"]} was held by another process for ${f["seconds"]} s.`,
    next: () => "see who holds it (lsof, fuser) and try again.",
  },
  LOCK_UNAVAILABLE: {
    exit: 2,
    http: 500,
    cause: (f) => `Cannot lock ${f["file"]}: neither flock nor perl is installed.`,
    next: () => "install util-linux (flock) or perl.",
  },
  EVENT_TOO_LARGE: {
    exit: 1,
    http: 413,
    cause: (f) => `An event for ${f["file"]} is larger than ${f["limit"]} bytes.`,
    next: () => "shorten what is passed to the harness.",
  },
} as const satisfies Record<string, FailureEntry>
