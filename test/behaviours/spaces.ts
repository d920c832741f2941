import type { Behaviour } from "../behaviours.ts"

const LATER = "its test is on the way"

/** Seeds 002 and 000 (phases 0 to 2). */
export const SPACES_BEHAVIOURS = {
  "start.resumes-last-active": {
    seed: "002",
    says: "start takes the last active space when there is one, and makes a new one otherwise",
    owed: LATER,
  },
  "start.warns-of-resume": {
    seed: "002",
    says: "a space that was resolved by itself is named: WARNING [SPACE_AUTO_RESUMED]",
    owed: LATER,
  },
  "start.keeps-gitignore": {
    seed: "002",
    says: "start makes sure of .meridian/.gitignore with the exceptions for fs/",
  },
  "start.creates-layout": {
    seed: "002",
    says: "a new space has space.lock, space.json (schema_version 1), runs.lock, sessions.lock, sessions.jsonl, sessions/, runs/ and fs/",
  },
  "start.sweeps-stale-chats": { seed: "002", says: "start stops chats whose lock is free", owed: LATER },
  "start.records-session": {
    seed: "002",
    says: "start appends a start event with harness_session_id, harness, model and params under sessions.lock",
    owed: LATER,
  },
  "start.holds-lock": {
    seed: "002",
    says: "the lock of the chat is held while its harness runs",
    owed: LATER,
  },
  "start.child-environment": {
    seed: "002",
    says: "the harness gets MERIDIAN_SPACE_ID, MERIDIAN_SPACE_FS, MERIDIAN_SESSION_ID, MERIDIAN_CHAT_ID, MERIDIAN_HARNESS_COMMAND and MERIDIAN_STATE_ROOT",
    owed: LATER,
  },
  "start.new": { seed: "002", says: "start --new makes a new space and a new chat", owed: LATER },
  "start.space": { seed: "002", says: "start --space uses that space and begins a new chat", owed: LATER },
  "start.continue-last": {
    seed: "002",
    says: "start --continue continues the last chat of the last active space",
    owed: LATER,
  },
  "start.continue-reference": {
    seed: "002",
    says: "start --continue finds a chat alias or a harness session id across spaces",
    owed: LATER,
  },
  "start.continue-in-space": { seed: "002", says: "start --space S --continue looks only in S", owed: LATER },
  "start.ambiguous": {
    seed: "002",
    says: "a chat alias of several spaces is AMBIGUOUS_SESSION",
    owed: LATER,
  },
  "start.harness-mismatch": {
    seed: "002",
    says: "a model of another harness cannot continue a chat: HARNESS_MISMATCH",
    owed: LATER,
  },
  "start.model-may-change": {
    seed: "002",
    says: "the model may change within the harness of the chat",
    owed: LATER,
  },
  "start.merges-params": {
    seed: "002",
    says: "recorded params are defaults that explicit flags override or extend",
    owed: LATER,
  },
  "start.unsupported-flag": {
    seed: "002",
    says: "a flag the harness does not know is warned about and left out",
    owed: LATER,
  },
  "start.passes-native-id": {
    seed: "002",
    says: "the recorded harness session id goes to the harness's own way of continuing",
    owed: LATER,
  },
  "start.continue-appends": {
    seed: "002",
    says: "a continuation appends a new start event and holds the lock",
    owed: LATER,
  },
  "start.auto-resume-off": {
    seed: "002",
    says: "with [start].auto_resume = false a plain start makes a new space",
    owed: LATER,
  },
  "start.no-markers": {
    seed: "002",
    says: "there is no active-spaces directory and no supervisor",
    owed: LATER,
  },
  "start.no-runs-log": {
    seed: "002",
    says: "runs.jsonl is made by the first run spawn, not with the space",
    owed: LATER,
  },
  "start.exit-code": {
    seed: "000",
    says: "start passes the exit code of the harness on and records the stop in every ending",
    owed: LATER,
  },
  "start.tells-how-to-continue": {
    seed: "000",
    says: "start ends with the line that continues the chat",
    owed: LATER,
  },
  "space.close-marks": { seed: "002", says: "space close sets finished_at and status closed", owed: LATER },
  "space.close-stops-chats": {
    seed: "002",
    says: "space close ends the chats and runs of the space and appends their stop events",
    owed: LATER,
  },
  "space.close-removes-locks": {
    seed: "002",
    says: "space close removes lock files nobody holds",
    owed: LATER,
  },
  "space.close-no-commit": { seed: "002", says: "space close makes no git commit", owed: LATER },
  "space.closed-takes-nothing": {
    seed: "002",
    says: "nothing starts in a closed space: SPACE_CLOSED",
  },
  "space.show-liveness": {
    seed: "002",
    says: "space show tells which chats live and how to continue each",
    owed: LATER,
  },
  "run.start-event": { seed: "002", says: "a start event is written when a run begins", owed: LATER },
  "run.finalize-event": { seed: "002", says: "a finalize event is written when a run ends", owed: LATER },
  "run.artifacts": {
    seed: "002",
    says: "what a run read and wrote is in runs/<run-id>/ and is never cleaned",
    owed: LATER,
  },
  "run.space-required": {
    seed: "002",
    says: "run commands but spawn need a space: SPACE_REQUIRED",
    owed: LATER,
  },
  "run.auto-create": {
    seed: "002",
    says: "run spawn makes a space when none is set, says its id, and goes on",
    owed: LATER,
  },
  "run.continue-last-of-chat": {
    seed: "002",
    says: "run continue without id takes the last run of the current chat",
    owed: LATER,
  },
  "run.continue-resumes": {
    seed: "000",
    says: "run continue resumes the harness's own session",
    owed: LATER,
  },
  "run.continue-inherits": {
    seed: "000",
    says: "a continuation inherits agent, skills, model and their paths unless told otherwise",
    owed: LATER,
  },
  "run.records-session": {
    seed: "000",
    says: "a run records its own conversation: start, update with the harness session id, stop",
    owed: LATER,
  },
  "run.background-worker-owns": {
    seed: "000",
    says: "the worker of a background run owns start and stop of the session",
    owed: LATER,
  },
  "run.report-on-stdout": {
    seed: "000",
    says: "a foreground run prints its report on stdout and its metadata on stderr",
    owed: LATER,
  },
  "run.no-report-warns": { seed: "000", says: "a run without a report says so on stderr", owed: LATER },
  "run.background-prints-id": {
    seed: "000",
    says: "a background run prints only its id on stdout",
    owed: LATER,
  },
  "run.json-without-prompt": { seed: "000", says: "JSON of a run is sparse and has no prompt", owed: LATER },
  "run.report-flag": { seed: "000", says: "run show and run wait take --report", owed: LATER },
  "run.dry-run-writes-nothing": { seed: "002", says: "a dry run writes nothing", owed: LATER },
  "run.queued": { seed: "002", says: "runs over the limit of the space are queued", owed: LATER },
  "run.retries-transient": {
    seed: "002",
    says: "only classified transient failures are retried, and every attempt keeps its log",
    owed: LATER,
  },
  "run.cancelled": { seed: "002", says: "cancel and signals are recorded as cancelled", owed: LATER },
  "run.timeout": { seed: "002", says: "a run that takes too long is ended with exit code 3", owed: LATER },
  "run.depth": { seed: "002", says: "runs nest only as deep as allowed", owed: LATER },
  "run.orphan": {
    seed: "002",
    says: "a run whose worker was killed becomes failed with orphan_run, and its harness is ended",
    owed: LATER,
  },
  "run.live-untouched": { seed: "002", says: "a live run is never touched by a repair", owed: LATER },
  "run.real-end-wins": { seed: "002", says: "a real end beats a repair", owed: LATER },
  "session.many-at-once": { seed: "002", says: "a space may have several live chats" },
  "session.blocked-lock-is-alive": {
    seed: "002",
    says: "a blocked lock is a live chat, an acquirable one a dead chat; flock(1) agrees",
  },
  "session.kill-frees": { seed: "002", says: "kill -9 frees the lock of a chat", owed: LATER },
  "session.torn-tail": {
    seed: "002",
    says: "a torn tail is skipped in silence and never swallows the next event",
  },
  "session.mid-file-damage": {
    seed: "002",
    says: "a damaged line in the middle is skipped with a warning that names file and line",
  },
  "session.chat-id": { seed: "000", says: "events say chat_id; the former key is still read" },
  "session.record-fields": {
    seed: "000",
    says: "a session record has agent, agent_path, skills, skill_paths, model, harness and harness_session_id",
  },
  "session.update-event": {
    seed: "000",
    says: "the harness session id is added by an update event",
  },
  "session.old-events": { seed: "000", says: "events without the newer fields are still read" },
  "session.newest-wins": { seed: "000", says: "a reference finds the newest matching record" },
  "session.start-up-sweep": {
    seed: "000",
    says: "stale chats are stopped at start-up, outside agent mode",
    owed: LATER,
  },
  "state.versions": { seed: "002", says: "space.json has schema_version 1 and every event v 1" },
  "state.root": { seed: "002", says: "MERIDIAN_STATE_ROOT is honoured everywhere" },
  "state.ids-only-grow": { seed: "002", says: "ids are one more than the greatest ever seen" },
  "state.gitignore-appends": {
    seed: "002",
    says: "missing lines of .gitignore are appended once and nothing is overwritten",
  },
  "state.parallel-spawns": {
    seed: "002",
    says: "sixteen spawns at once have different ids and leave a clean log",
    owed: LATER,
  },
  "state.reads-write-nothing": {
    seed: "002",
    says: "a healthy tree stays the same byte for byte under reads",
    owed: LATER,
  },
  "doctor.stale-locks": { seed: "002", says: "doctor removes stale session locks", owed: LATER },
  "doctor.orphans": { seed: "002", says: "doctor ends orphan runs", owed: LATER },
  "doctor.stale-status": {
    seed: "002",
    says: "doctor repairs a space whose status, finished_at and locks contradict each other",
    owed: LATER,
  },
  "doctor.damaged-space": {
    seed: "002",
    says: "doctor reports a missing or corrupt space.json and skips it",
    owed: LATER,
  },
  "doctor.exit": { seed: "002", says: "doctor exits non-zero when something is left", owed: LATER },
  "env.contract": {
    seed: "002",
    says: "an agent finds its space, its files, its chat and its harness in four variables",
    owed: LATER,
  },
  "config.layers": {
    seed: "002",
    says: "defaults, config.toml and the override file are laid over each other in this order",
    owed: LATER,
  },
  "config.init": {
    seed: "002",
    says: "init writes config.toml with every option commented out",
    owed: LATER,
  },
  "path.dot-spaces": {
    seed: "002",
    says: "state lives under .meridian/.spaces/<space-id>/ and nowhere else",
  },
  "cli.human-mode": { seed: "002", says: "people see every command and get text", owed: LATER },
  "cli.agent-mode": {
    seed: "002",
    says: "agents see run, skills, models and doctor and get JSON",
    owed: LATER,
  },
  "cli.human-flag": {
    seed: "002",
    says: "--human forces the full help and is mentioned only there",
    owed: LATER,
  },
  "cli.coded-errors": { seed: "002", says: "every error is [CODE], cause and next action", owed: LATER },
  "cli.removed-commands": { seed: "002", says: "the removed commands are not there", owed: LATER },
  "mcp.agent-tools": {
    seed: "002",
    says: "serve offers the agent commands as tools and no command of spaces",
    owed: LATER,
  },
  "mcp.doctor-name": { seed: "002", says: "doctor is the canonical name", owed: LATER },
} as const satisfies Record<string, Behaviour>
