import type { Behaviour } from "../behaviours.ts"

const row = <const Says extends string>(says: Says) => ({ seed: "004", says }) as const
const promise = <const Says extends string>(says: Says) => ({ seed: "issue 15", says }) as const

/** Rows 5 and 7 to 14 of seed 004's parity table that issue 15 completes, and what the issue adds to them. */
export const REQUEST_BEHAVIOURS = {
  // Row 7
  "agent.tools": promise("an agent is offered the tools its patterns name, and no call of another is run"),
  "agent.steps": promise(
    "an agent takes its number of turns at most; the last one is told to wrap up and gets no tools",
  ),
  "agent.modes": promise(
    "people cannot switch to an agent that works for others; a hidden one is in no list and can be named",
  ),
  "agent.refused": promise("an agent, a variant or a setting that is wrong is refused when the engine opens"),
  // Row 8
  "parity.base-instructions": row("a family of models has base instructions of its own"),
  // Row 10
  "parity.prompt-overrides": row("a prompt may bring system text and tools of its own"),
  // Row 11
  "parity.reminders": row("steering, a switch of plan and the final step are reminded of"),
  // Row 12
  "parity.plugin-transforms": row("plugins change messages, system text, parameters and headers"),
  "extensions.files": promise(
    "extensions come from files of the user's configuration folder and of a trusted project, without a build",
  ),
  "extensions.opencode": promise("a plugin for OpenCode is loaded as far as its hooks have a counterpart"),
  "extensions.scoped": promise(
    "an extension brings tools, context and hooks to an engine that runs, and takes them along when it goes",
  ),
  "extensions.refused": promise("what is no extension, or has a name that is taken, is refused whole"),
  "extensions.tools": promise(
    "hooks change or refuse a call before it is made and its output before it is recorded, and the log says so",
  ),
  "extensions.compaction": promise("a hook may supply the summary of a checkpoint"),
  // Row 13
  "parity.request-settings": row(
    "settings of the model, the agent and the variant reach the request of every provider",
  ),
  // Row 14
  "parity.structured-output": row("a prompt may ask for an answer in a given form"),
  // Row 14, on the command line
  "run.schema": promise(
    "run spawn --schema prints the value that was asked for, of the engine, of Claude and of Codex",
  ),
  // Row 5
  "skills.project-root": promise(
    "a session in a sub-folder has the skills and the rules of its project's root, and the user's own skills",
  ),
  // Row 9
  "tools.by-policy": promise("tools of MCP servers are offered by the policy of the agent and of the prompt"),
  "tools.hosted": promise(
    "tools that a provider runs are an option of a model, under the same policy, and are pruned like others",
  ),
  "mcp.outage": promise(
    "a server that does not work is told once, with a code, and the work goes on without it",
  ),
  "mcp.configured": promise(
    "MCP servers of config.toml work in Direct, for editors and over HTTP, a project's where it is trusted",
  ),
  "session.title": promise(
    "a session is called by the first words of its first prompt, by a model only where one is configured for that, and for good by whoever renames it",
  ),
  "config.engine": promise(
    "instructions, references, agents, rules, compaction, retry and limits of an engine have keys in config.toml",
  ),
} as const satisfies Record<string, Behaviour>
