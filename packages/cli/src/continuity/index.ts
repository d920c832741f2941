/**
 * The code behind `meridian brief` and `meridian init --claude | --codex | --opencode [--remove]`. The command files
 * only parse flags and print; they load this folder lazily.
 *
 *   makeBrief({ cwd, host })        -> { host, root, mode, artifact, tokens, warnings, output }
 *       `output` is what stdout shows: for `text` and `opencode` the brief, for `claude` and `codex` the JSON document a
 *       SessionStart hook prints. Without --json print `output` and a line feed, with --json the whole value.
 *   readInjected({ cwd, env })      -> { folder, entries, output }
 *       What hooks and plugin last put into requests (`meridian brief --injected`), and which parts the summary had kept.
 *   installHost({ cwd, env, program, host, remove, user })  -> { host, path, action, notes }
 *       action: "installed" | "updated" | "unchanged" | "removed" | "absent"; notes are lines for people.
 *
 * All throw `Failure` (HOST_UNKNOWN, HOOK_SETTINGS_INVALID, PLUGIN_NOT_BUILT, PLUGIN_NOT_OURS), and then write
 * nothing.
 */
export { makeBrief } from "./make-brief.ts"
export { readInjected } from "./read-injected.ts"
export { installHost } from "./install-host.ts"
export { carriedContinuity } from "./carried.ts"
export { checkHost, HOSTS } from "./check-hosts.ts"
