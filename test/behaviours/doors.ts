import type { Behaviour } from "../behaviours.ts"

/** Issue 12: the ways in (install, editors, search, telemetry). */
export const DOORS_BEHAVIOURS = {
  "install.command": {
    seed: "issue 12",
    says: "the packed command installs into an empty folder, with -g and through npx, without dependencies, and runs",
  },
  "install.engine": {
    seed: "issue 12",
    says: "the packed engine installs into an empty folder; a program against it compiles with all checks and runs",
  },
  "install.plugin": {
    seed: "issue 12",
    says: "the packed plugin installs into an empty folder and gives OpenCode its hooks",
  },
  "install.old-node": {
    seed: "issue 12",
    says: "on a Node before 24.15 command and engine refuse in one sentence, and npm ci has no engine warning of ours",
  },
  "launch.finds-meridian": {
    seed: "issue 12",
    says: "every launch finds this very meridian first on its PATH, whatever the shell has",
  },
  "serve.print-config": {
    seed: "issue 12",
    says: "serve --print-config prints MCP configuration with full paths that works as pasted",
  },
  "acp.harness": {
    seed: "issue 12",
    says: "an agent of the user's configuration is a harness: a run, its continuation, a conversation, its cost",
  },
  "acp.harness-rights": {
    seed: "issue 12",
    says: "questions of such an agent are answered by the tier of the launch, and what it does not name is refused",
  },
  "acp.harness-user": {
    seed: "issue 12",
    says: "the command of such an agent comes from the user's configuration and from nowhere else",
  },
  "acp.turn": {
    seed: "issue 12",
    says: "an editor sees text, thoughts, tool calls with diffs and locations, the plan and usage of a turn in their order, and answers its questions",
  },
  "acp.same-sessions": {
    seed: "issue 12",
    says: "a session begun in an editor continues in the terminal and back, and is listed",
  },
  "acp.replay": {
    seed: "issue 12",
    says: "session/load replays every event once and in order, the same each time",
  },
  "acp.question-again": {
    seed: "issue 12",
    says: "a question that was open when the agent was killed is asked again, and its answer goes on with the call",
  },
  "acp.cancel": { seed: "issue 12", says: "session/cancel ends the turn with 'cancelled', settled" },
  "acp.choices": { seed: "issue 12", says: "modes are the agents, and a client can choose agent and model" },
  "acp.content": {
    seed: "issue 12",
    says: "images and resources of a prompt reach the model; what is embedded is an attachment, not the person's words",
  },
  "acp.client-servers": {
    seed: "issue 12",
    says: "MCP servers given by the client are offered to the model",
  },
  "acp.terminal-output": {
    seed: "issue 12",
    says: "a client that shows terminals gets a command's output there, with its exit code",
  },
  "acp.one-writer": {
    seed: "issue 12",
    says: "two clients on one session: one works, the other is told and sees what happens",
  },
  "acp.client-gone": {
    seed: "issue 12",
    says: "when the client disappears the agent ends, and what ran is settled",
  },
  "acp.rubbish": { seed: "issue 12", says: "rubbish from a client is answered with an error and bounded" },
  "acp.kills": {
    seed: "issue 12",
    says: "killed at any moment: every event is replayed once and in order, open questions come again, no tool runs twice",
  },
  "search.finds": {
    seed: "issue 12",
    says: "search finds words in sessions of Claude Code, Codex, OpenCode and pi, with harness, time, place, snippet and a line that continues",
  },
  "search.engine": {
    seed: "issue 12",
    says: "search finds sessions of the engine, of this project or with --all of every project",
  },
  "search.bad-index": {
    seed: "issue 12",
    says: "an index of another version or a damaged one is told and made anew",
  },
  "search.sources-untouched": {
    seed: "issue 12",
    says: "search and export leave their sources byte for byte",
  },
  "export.every-harness": {
    seed: "issue 12",
    says: "session export writes a session of every harness as md, html and json: one file without outside references",
  },
  "export.hides": { seed: "issue 12", says: "an export hides secrets and counts what it hid" },
  "telemetry.spans": {
    seed: "issue 12",
    says: "a collector gets a span for each turn, call and compaction under one root per activity, whose tokens and cost are the run's; no prompt text",
  },
  "telemetry.same-again": {
    seed: "issue 12",
    says: "sent again, from another process, spans have the same ids and parents; what was taken is not sent again",
  },
  "telemetry.after-a-kill": {
    seed: "issue 12",
    says: "what a killed process did not send is sent by the next one, and every named parent is sent",
  },
  "telemetry.bad-collector": {
    seed: "issue 12",
    says: "a collector that hangs or refuses holds nothing up and loses nothing",
  },
  "telemetry.settings": {
    seed: "issue 12",
    says: "[telemetry] of the user, or the usual OTEL_* variables, decide where telemetry goes; prompt text only when asked for",
  },
  "telemetry.metrics-page": {
    seed: "issue 12",
    says: "serve --http has /metrics for Prometheus, behind the token",
  },
  "completion.names": {
    seed: "issue 12",
    says: "shells complete spaces, runs, models, sessions and files by what is there",
  },
  "mcp.one-space": {
    seed: "issue 12",
    says: "runs of one MCP connection that name no space share one, and later calls are about it",
  },
  "session.rename-archive": {
    seed: "issue 12",
    says: "a session can be renamed and archived; both are events of its log, and it can be worked with either way",
  },
  "session.delete": {
    seed: "issue 12",
    says: "a deleted session leaves no row behind and its name is free; one that is worked on is not deleted",
  },
  "run.live-line": {
    seed: "issue 12",
    says: "a foreground run on a terminal has one live line with task, activity, tools, tokens and time; it goes when the run ends",
  },
  "run.notify": {
    seed: "issue 12",
    says: "notify.command of the user's configuration is started when a run ends; a project's counts only where it is trusted",
  },
  "run.tail": { seed: "issue 12", says: "run tail follows a run in words until it ends" },
  "run.watch": {
    seed: "issue 12",
    says: "run watch shows every open run of a space; run show and run list say what a run is about",
  },
  "questions.command": {
    seed: "issue 12",
    says: "questions list shows what agents ask and nobody has answered, and questions answer answers it, whichever process has the session",
  },
} as const satisfies Record<string, Behaviour>
