import type { Behaviour } from "../behaviours.ts"

const promise = (says: string): Behaviour => ({ seed: "issue 17", says })

/** Runs that outlive limits, budgets, crashes and their own harness. */
export const DAYS_RUNS_BEHAVIOURS = {
  "failover.goes-on": promise(
    "a run whose harness cannot go on goes on in the next of its list: one run id, one report, attempts and cost of both",
  ),
  "failover.off": promise("without a list a run waits for its own harness"),
  "failover.unknown-name": promise("a list with a name nobody knows is refused before anything is begun"),
  "failover.gone": promise("a harness that is not installed is passed over when another may take over"),
  "failover.by-hand": promise("run continue --harness goes on in another harness, told what was done before"),
  "run.survives-shutdown": promise(
    "a worker that is told to leave without a word why leaves its run to others; run cancel and Ctrl-C stop it",
  ),
  "run.foreground-survives": promise(
    "a run in the foreground goes on without its terminal, and is carried on when its command was killed",
  ),
  "run.stop-is-kept": promise(
    "a run that somebody asked to stop is stopped by whoever finds it, also when the command that asked was killed",
  ),
  "serve.supervises": promise("meridian serve carries on with runs whose worker and supervisor are gone"),
  "session.gone": promise(
    "a run whose conversation its harness no longer knows begins a new one with what was done, and says so",
  ),
  "limit.same-conversation": promise(
    "a limit in the first turn goes on in the same conversation where the harness has kept it",
  ),
  "doctor.database": promise(
    "doctor tells of an engine database that is damaged, and salvages what can be read to a new file, never in place",
  ),
  "walk.hundred-hours": promise(
    "through hostile compactions, limits, kills and reboots no tool runs twice, no request is made before a reset, and the whole task is in every first request after a compaction",
  ),
  "supervisor.one": promise("of two supervisors of one state root, one works and the other leaves"),
  "supervisor.small": promise(
    "a supervisor that only waits stays small, also beside thousands of ended runs",
  ),
  "supervisor.version": promise(
    "the newest Meridian that worked here supervises: an older supervisor makes room, and begins nothing",
  ),
  "run.stalls": promise(
    "a run that says nothing, and of which no process computes, is stopped and asked to go on once, then it has failed",
  ),
  "run.no-progress": promise("five attempts in a row that said and did nothing end a run, and it says why"),
  "run.far-limit": promise(
    "a limit that ends more than seven days from now pauses the run with a question, and a person goes on",
  ),
  "run.full-disk": promise(
    "a disk that is full when a run is to be put aside costs no run: it goes on when there is room again",
  ),
  "task.pinned": promise(
    "a task is pinned whole up to 2,000 characters, then cut with a pointer to its file; after a continuation the first task and the newest words",
  ),
  "limit.unknown": promise(
    "a run whose limit tells no end tries a few times, then waits a minute, twice as long each time, at most half an hour",
  ),
  "limit.patience": promise(
    "what passes by itself is tried again with pauses of up to a minute, for as long as the patience of runs lasts",
  ),
  "space.rebind": promise(
    "after a project was moved its open runs wait, and space rebind makes chats, runs and sessions those of the new place; a copy and what others wrote stay as they are",
  ),
  "run.unpinned": promise(
    "run show says when a harness could not be given what pins the task after a compaction, and why",
  ),
} satisfies Record<string, Behaviour>
