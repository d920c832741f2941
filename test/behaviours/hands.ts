import type { Behaviour } from "../behaviours.ts"

/** Many hands, one repository: worktrees, applying, proof. */
export const HANDS_BEHAVIOURS = {
  "worktree.own-place": {
    seed: "issue 14",
    says: "run spawn --worktree works on a branch and in a folder of its own, outside of every checkout, and the checkout is byte-identical until apply",
  },
  "worktree.recorded-first": {
    seed: "issue 14",
    says: "path, branch and base of a worktree are in the start record before git changes anything",
  },
  "worktree.auto": {
    seed: "issue 14",
    says: "runs.worktree = auto isolates a run when another writing run works in the same checkout; never warns on stderr and in run show",
  },
  "worktree.layouts": {
    seed: "issue 14",
    says: "worktrees are made from sub-folders, linked worktrees, submodules, bare-parent layouts and detached heads",
  },
  "worktree.refusals": {
    seed: "issue 14",
    says: "no repository, no commit, a merge or rebase under way, a branch or folder that is taken: a coded error, and nothing changes",
  },
  "worktree.changes": {
    seed: "issue 14",
    says: "uncommitted changes come along only with --with-changes, and are not the run's work",
  },
  "worktree.include": {
    seed: "issue 14",
    says: "ignored files that .worktreeinclude names are copied, and [worktree] setup of the user's own configuration runs first",
  },
  "run.diff": {
    seed: "issue 14",
    says: "run diff equals git diff base...branch, and has what was not committed; as JSON by file and hunk",
  },
  "run.apply": {
    seed: "issue 14",
    says: "run apply brings a run onto the current branch, committed or staged; on a conflict everything is as it was, and run and files are named",
  },
  "run.apply-all": {
    seed: "issue 14",
    says: "run apply --all takes what succeeded in an order that conflicts least and tells what it did",
  },
  "run.discard": {
    seed: "issue 14",
    says: "run discard removes worktree and branch, and a ref still has the work",
  },
  "checks.verified": {
    seed: "issue 14",
    says: "run spawn --check runs each check where the run worked when its agent says it is done, and records command, exit code, duration and output",
  },
  "checks.unverified": {
    seed: "issue 14",
    says: "a run without checks is unverified, with exit code 0",
  },
  "checks.rounds": {
    seed: "issue 14",
    says: "a red check goes back to the agent word for word, at most --check-rounds times",
  },
  "checks.refuted": {
    seed: "issue 14",
    says: "a run whose checks stay red, or hang, is refuted, with exit code 1, and run apply refuses it without --force",
  },
  "checks.as-applied": {
    seed: "issue 14",
    says: "run apply runs the checks on the work as it would be applied; when they are red everything is as it was",
  },
  "checks.changed-files": {
    seed: "issue 14",
    says: "files that a check depends on and the agent changed are named beside verified",
  },
  "checks.configured": {
    seed: "issue 14",
    says: "checks come from --check, else from the agent's profile, else from runs.check; those of a folder count where it is trusted",
  },
  "http.run-work": {
    seed: "issue 14",
    says: "over HTTP a run's diff is told by file and hunk, its work is applied or discarded, and what cannot be done is refused in the command's words with nothing changed",
  },
  "http.run-comment": {
    seed: "issue 14",
    says: "a comment on a line of a run's diff becomes its next message, with path, line and what stands there",
  },
  "page.run-work": {
    seed: "issue 14",
    says: "the page shows what a run changed by file and hunk, applies or discards it with an honest result, and sends a comment on a line to the run",
  },
  "run.worktree-path": { seed: "issue 14", says: "run worktree prints the path" },
  "sandbox.harness": {
    seed: "issue 14",
    says: "run spawn --sandbox keeps a harness in bubblewrap: project writable, home read-only, secrets hidden, and nothing that git would start",
  },
  "sandbox.worktree": {
    seed: "issue 14",
    says: "in a worktree only the worktree, its branch and its commits are writable; the main checkout and its branches are not; checks run in the sandbox, too",
  },
  "sandbox.direct": {
    seed: "issue 14",
    says: "commands of the engine run in the sandbox, with or without network, and its file tools refuse what lies outside",
  },
  "sandbox.terminal": {
    seed: "issue 14",
    says: "start --sandbox keeps a harness in bubblewrap on the user's terminal and gives the terminal back as it was; a kernel that lets it type there is a reason to refuse",
  },
  "sandbox.absent": {
    seed: "issue 14",
    says: "without bubblewrap --sandbox is refused, auto works without, and doctor and run show say so",
  },
  "sandbox.configured": {
    seed: "issue 14",
    says: "[sandbox] mode and network hold for every run; a project only makes them stricter",
  },
  "contest.spawn": {
    seed: "issue 14",
    says: "run spawn --best-of N makes N worktrees at one task, and run compare shows status, verdict, changes, cost, time and model in one table",
  },
  "contest.choose": {
    seed: "issue 14",
    says: "the chosen run of a contest is applied, and the others are thrown away on request",
  },
  "contest.models": {
    seed: "issue 14",
    says: "run spawn --models gives the runs of a contest these models in turn, in whatever harness each has",
  },
  "doctor.worktrees": {
    seed: "issue 14",
    says: "doctor finds and removes what killed runs left of worktrees; what holds work that is nowhere else only with --yes, and a ref keeps it",
  },
  "hands.killed": {
    seed: "issue 14",
    says: "SIGKILL at any call of git, before or behind it, blocks no later run and loses no commit, and the checkout is as before or as after",
  },
  "hands.parallel": {
    seed: "issue 14",
    says: "eight parallel runs with overlapping edits leave the checkout identical until apply; applying all leaves green checks or a named conflict",
  },
  "hands.claims": {
    seed: "issue 14",
    says: "of 40 claims to be done, half of them false, none that is false is verified",
  },
  "hands.bad-input": {
    seed: "issue 14",
    says: "checks that hang or delete, strange paths, huge files, sparse checkouts, LFS pointers, failing hooks, merges under way and full disks: coded errors, and the checkout is byte-identical",
  },
} as const satisfies Record<string, Behaviour>
