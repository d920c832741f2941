import type { Behaviour } from "../behaviours.ts"

/** Seeds 002 and 000 (phases 0 to 2). */
export const SPACES_BEHAVIOURS = {
  "start.resumes-last-active": {
    seed: "002",
    says: "start takes the last active space when there is one, and makes a new one otherwise",
  },
  "start.warns-of-resume": {
    seed: "002",
    says: "a space that was resolved by itself is named: WARNING [SPACE_AUTO_RESUMED]",
  },
  "start.keeps-gitignore": {
    seed: "002",
    says: "start makes sure of .meridian/.gitignore with the exceptions for fs/",
  },
  "start.creates-layout": {
    seed: "002",
    says: "a new space has space.lock, space.json (schema_version 1), runs.lock, sessions.lock, sessions.jsonl, sessions/, runs/ and fs/",
  },
  "start.sweeps-stale-chats": { seed: "002", says: "start stops chats whose lock is free" },
  "start.records-session": {
    seed: "002",
    says: "start appends a start event with harness_session_id, harness, model and params under sessions.lock",
  },
  "start.holds-lock": {
    seed: "002",
    says: "the lock of the chat is held while its harness runs",
  },
  "start.child-environment": {
    seed: "002",
    says: "the harness gets MERIDIAN_SPACE_ID, MERIDIAN_SPACE_FS, MERIDIAN_SESSION_ID, MERIDIAN_CHAT_ID, MERIDIAN_HARNESS_COMMAND and MERIDIAN_STATE_ROOT",
  },
  "start.new": { seed: "002", says: "start --new makes a new space and a new chat" },
  "start.space": { seed: "002", says: "start --space uses that space and begins a new chat" },
  "start.continue-last": {
    seed: "002",
    says: "start --continue continues the last chat of the last active space",
  },
  "start.continue-reference": {
    seed: "002",
    says: "start --continue finds a chat alias or a harness session id across spaces",
  },
  "start.continue-in-space": { seed: "002", says: "start --space S --continue looks only in S" },
  "start.ambiguous": {
    seed: "002",
    says: "a chat alias of several spaces is AMBIGUOUS_SESSION",
  },
  "start.harness-mismatch": {
    seed: "002",
    says: "a model of another harness cannot continue a chat: HARNESS_MISMATCH",
  },
  "start.model-may-change": {
    seed: "002",
    says: "the model may change within the harness of the chat",
  },
  "start.merges-params": {
    seed: "002",
    says: "recorded params are defaults that explicit flags override or extend",
  },
  "start.unsupported-flag": {
    seed: "002",
    says: "a flag the harness does not know is warned about and left out",
  },
  "start.passes-native-id": {
    seed: "002",
    says: "the recorded harness session id goes to the harness's own way of continuing",
  },
  "start.continue-appends": {
    seed: "002",
    says: "a continuation appends a new start event and holds the lock",
  },
  "start.auto-resume-off": {
    seed: "002",
    says: "with [start].auto_resume = false a plain start makes a new space",
  },
  "start.no-markers": {
    seed: "002",
    says: "there is no active-spaces directory and no supervisor",
  },
  "start.no-runs-log": {
    seed: "002",
    says: "runs.jsonl is made by the first run spawn, not with the space",
  },
  "start.exit-code": {
    seed: "000",
    says: "start passes the exit code of the harness on and records the stop in every ending",
  },
  "start.tells-how-to-continue": {
    seed: "000",
    says: "start ends with the line that continues the chat",
  },
  "space.close-marks": { seed: "002", says: "space close sets finished_at and status closed" },
  "space.close-stops-chats": {
    seed: "002",
    says: "space close ends the chats and runs of the space and appends their stop events",
  },
  "space.close-removes-locks": {
    seed: "002",
    says: "space close removes lock files nobody holds",
  },
  "space.close-no-commit": { seed: "002", says: "space close makes no git commit" },
  "space.closed-takes-nothing": {
    seed: "002",
    says: "nothing starts in a closed space: SPACE_CLOSED",
  },
  "space.show-liveness": {
    seed: "002",
    says: "space show tells which chats live and how to continue each",
  },
  "run.start-event": { seed: "002", says: "a start event is written when a run begins" },
  "run.finalize-event": { seed: "002", says: "a finalize event is written when a run ends" },
  "run.artifacts": {
    seed: "002",
    says: "what a run read and wrote is in runs/<run-id>/ and is never cleaned",
  },
  "run.outlives-its-processes": {
    seed: "issue 17",
    says: "a run whose worker and harness are killed goes on by itself, in the same conversation",
  },
  "run.waits-for-limits": {
    seed: "issue 17",
    says: "a usage limit makes a run wait until the told time, and it goes on then",
  },
  "run.steered": {
    seed: "issue 17",
    says: "a run is sent words, paused and resumed while it is under way",
  },
  "run.steered-now": {
    seed: "issue 17",
    says: "words sent to a run that works are told at the next step of the engine, elsewhere after the next tool where our hook is",
  },
  "run.words-once": {
    seed: "issue 17",
    says: "words sent to a run are neither lost nor told twice, whoever is killed in between",
  },
  "run.words-shown": {
    seed: "issue 17",
    says: "run show says which words wait, and when they will be told",
  },
  "run.space-required": {
    seed: "002",
    says: "run commands but spawn need a space: SPACE_REQUIRED",
  },
  "run.auto-create": {
    seed: "002",
    says: "run spawn makes a space when none is set, says its id, and goes on",
  },
  "run.continue-last-of-chat": {
    seed: "002",
    says: "run continue without id takes the last run of the current chat",
  },
  "run.continue-resumes": {
    seed: "000",
    says: "run continue resumes the harness's own session",
  },
  "run.continue-inherits": {
    seed: "000",
    says: "a continuation inherits agent, skills, model and their paths unless told otherwise",
  },
  "run.records-session": {
    seed: "000",
    says: "a run records its own conversation: start, update with the harness session id, stop",
  },
  "run.background-worker-owns": {
    seed: "000",
    says: "the worker of a background run owns start and stop of the session",
  },
  "run.report-on-stdout": {
    seed: "000",
    says: "a foreground run prints its report on stdout and its metadata on stderr",
  },
  "run.no-report-warns": { seed: "000", says: "a run without a report says so on stderr" },
  "run.background-prints-id": {
    seed: "000",
    says: "a background run prints only its id on stdout",
  },
  "run.json-without-prompt": { seed: "000", says: "JSON of a run is sparse and has no prompt" },
  "run.report-flag": { seed: "000", says: "run show and run wait take --report" },
  "run.dry-run-writes-nothing": { seed: "002", says: "a dry run writes nothing" },
  "run.queued": { seed: "002", says: "runs over the limit of the space are queued" },
  "run.retries-transient": {
    seed: "002",
    says: "only classified transient failures are retried, and every attempt keeps its log",
  },
  "run.cancelled": { seed: "002", says: "cancel and signals are recorded as cancelled" },
  "run.timeout": { seed: "002", says: "a run that takes too long is ended with exit code 3" },
  "run.depth": { seed: "002", says: "runs nest only as deep as allowed" },
  "run.orphan": {
    seed: "002",
    says: "a run whose worker and harness are gone becomes failed with orphan_run, and what they left is ended",
  },
  "run.outlives-worker": {
    seed: "issue 18",
    says: "a run whose worker was killed is alive while its harness works: it holds the lock, doctor names it, run cancel ends it",
  },
  "run.live-untouched": { seed: "002", says: "a live run is never touched by a repair" },
  "run.real-end-wins": { seed: "002", says: "a real end beats a repair" },
  "session.many-at-once": { seed: "002", says: "a space may have several live chats" },
  "session.blocked-lock-is-alive": {
    seed: "002",
    says: "a blocked lock is a live chat, an acquirable one a dead chat; flock(1) agrees",
  },
  "session.kill-frees": {
    seed: "002",
    says: "the lock of a chat is free once its meridian start and its harness are gone, however they went",
  },
  "start.lock-inherited": {
    seed: "000",
    says: "the harness inherits the lock of its chat: killed alone, meridian start leaves a chat that is alive to everyone",
  },
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
  },
  "state.reads-write-nothing": {
    seed: "002",
    says: "a healthy tree stays the same byte for byte under reads",
  },
  "doctor.stale-locks": { seed: "002", says: "doctor removes stale session locks" },
  "doctor.orphans": { seed: "002", says: "doctor ends orphan runs" },
  "doctor.stale-status": {
    seed: "002",
    says: "doctor repairs a space whose status, finished_at and locks contradict each other",
  },
  "doctor.damaged-space": {
    seed: "002",
    says: "doctor reports a missing or corrupt space.json and skips it",
  },
  "doctor.exit": { seed: "002", says: "doctor exits non-zero when something is left" },
  "env.contract": {
    seed: "002",
    says: "an agent finds its space, its files, its chat and its harness in four variables",
  },
  "config.layers": {
    seed: "002",
    says: "defaults, config.toml and the override file are laid over each other in this order",
  },
  "config.init": {
    seed: "002",
    says: "init writes config.toml with every option commented out",
  },
  "path.dot-spaces": {
    seed: "002",
    says: "state lives under .meridian/.spaces/<space-id>/ and nowhere else",
  },
  "cli.human-mode": { seed: "002", says: "people see every command and get text" },
  "cli.agent-mode": {
    seed: "002",
    says: "agents see run, skills, models and doctor and get JSON",
  },
  "cli.human-flag": {
    seed: "002",
    says: "--human forces the full help and is mentioned only there",
  },
  "cli.coded-errors": { seed: "002", says: "every error is [CODE], cause and next action" },
  "cli.removed-commands": { seed: "002", says: "the removed commands are not there" },
  "mcp.agent-tools": {
    seed: "002",
    says: "serve offers the agent commands as tools and no command of spaces",
  },
  "mcp.doctor-name": { seed: "002", says: "doctor is the canonical name" },
} as const satisfies Record<string, Behaviour>
