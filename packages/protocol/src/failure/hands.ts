import type { FailureEntry } from "./entry.ts"

/** Failures of worktrees: creating, inspecting and applying them. */
export const HANDS_FAILURES = {
  GIT_MISSING: {
    exit: 1,
    http: 500,
    cause: () => "There is no git on the PATH.",
    next: () => "install git, or leave --worktree out.",
  },
  GIT_TOO_OLD: {
    exit: 1,
    http: 500,
    cause: () => "This git cannot merge without a checkout, which applying needs.",
    next: () => "install git 2.38 or newer; the work stays where it is.",
  },
  GIT_FAILED: {
    exit: 1,
    http: 500,
    cause: (f) => `git ${f["command"]} failed: ${f["reason"]}.`,
    next: (f) =>
      /No space left/i.test(String(f["reason"]))
        ? "free some space on the disk, then run it again; nothing half-made was left."
        : "correct what git names, then run it again.",
  },
  REPOSITORY_NOT_FOUND: {
    exit: 1,
    http: 409,
    cause: (f) => `${f["directory"]} is not in a git repository, so a run there can have no worktree.`,
    next: () => "run 'git init' and commit, or leave --worktree out (or set runs.worktree to never).",
  },
  REPOSITORY_EMPTY: {
    exit: 1,
    http: 409,
    cause: (f) =>
      `The repository ${f["repository"]} has no commit yet, so there is nothing to base a worktree on.`,
    next: () => "make a first commit, or leave --worktree out.",
  },
  REPOSITORY_BUSY: {
    exit: 1,
    http: 409,
    cause: (f) => `${f["checkout"]} is in the middle of a ${f["what"]}.`,
    next: (f) => `finish it or give it up ('git ${f["what"]} --continue' or '--abort'), then run it again.`,
  },
  WORKTREE_NO_PLACE: {
    exit: 1,
    http: 500,
    cause: () => "There is no folder of yours for worktrees: neither XDG_STATE_HOME nor HOME is set.",
    next: () => "set HOME, then run it again.",
  },
  WORKTREE_TAKEN: {
    exit: 1,
    http: 409,
    cause: (f) => `The worktree of run ${f["run"]} cannot be made: ${f["what"]} already exists.`,
    next: (f) =>
      `look at it ('meridian doctor' shows whose it is), move it away with '${f["away"]}', and spawn again.`,
  },
  WORKTREE_FOLDER_ABSENT: {
    exit: 1,
    http: 409,
    cause: (f) => `The folder ${f["folder"]} is in no commit, so a worktree would not have it.`,
    next: () => "commit it, or start the run in a folder that is committed.",
  },
  WORKTREE_GONE: {
    exit: 1,
    http: 404,
    cause: (f) => `The worktree of run ${f["run"]} is gone: ${f["why"]}.`,
    next: (f) => `${f["next"]}`,
  },
  WORKTREE_TOO_LARGE: {
    exit: 1,
    http: 413,
    cause: (f) => `${f["what"]} of run ${f["run"]} are more than Meridian can take over: ${f["files"]}.`,
    next: (f) => `remove them from ${f["path"]} or name them in its .gitignore, then run it again.`,
  },
  WORKTREE_INCLUDE_TOO_LARGE: {
    exit: 1,
    http: 413,
    cause: (f) => `.worktreeinclude names more than a worktree may get: ${f["what"]}.`,
    next: () => "name fewer files there; what can be generated belongs in [worktree] setup.",
  },
  WORKTREE_SETUP_FAILED: {
    exit: 1,
    http: 500,
    cause: (f) => `The setup of the worktree ('${f["command"]}') failed: ${f["why"]}.`,
    next: (f) => `read ${f["log"]}, and correct it with 'meridian config set --user worktree.setup'.`,
  },
  CHECKOUT_LOCKED: {
    exit: 1,
    http: 409,
    cause: (f) => `Another git works in ${f["checkout"]}, or one was killed there: ${f["lock"]} is there.`,
    next: () => "wait for it, or remove the file if no git works there any more; then run it again.",
  },
  CHECKOUT_IN_THE_WAY: {
    exit: 1,
    http: 409,
    cause: (f) => `Uncommitted changes in ${f["checkout"]} are in the way: ${f["files"]}.`,
    next: () => "commit, stash or move them away, then apply again; nothing was changed.",
  },
  CHECKOUT_GONE: {
    exit: 1,
    http: 404,
    cause: (f) =>
      `Run ${f["run"]} cannot be applied: ${f["checkout"]}, where it was spawned, is no longer a checkout.`,
    next: (f) => `merge its branch by hand: 'git merge ${f["branch"]}'.`,
  },
  APPLY_CONFLICT: {
    exit: 1,
    http: 409,
    cause: (f) => `Run ${f["run"]} conflicts with ${f["with"]} in ${f["files"]}; nothing was changed.`,
    next: (f) => `bring it up to date in its worktree ('meridian run worktree ${f["run"]}'), or discard it.`,
  },
  APPLY_BRANCH_MOVES: {
    exit: 1,
    http: 409,
    cause: (f) =>
      `The branch in ${f["checkout"]} moved ${f["rounds"]} times while run ${f["run"]} was being applied.`,
    next: () => "wait until nobody commits there, then apply again; nothing was changed.",
  },
  APPLY_ELSEWHERE: {
    exit: 1,
    http: 403,
    cause: (f) =>
      `A run applies only to the place it works in, and run ${f["run"]} belongs to ${f["checkout"]}.`,
    next: () => "let the person, or the chat, in that checkout apply it.",
  },
  RUN_ALREADY_APPLIED: {
    exit: 1,
    http: 409,
    cause: (f) => `Run ${f["run"]} was already ${f["state"]}.`,
    next: (f) => `'meridian run diff ${f["run"]}' shows what it did.`,
  },
  RUN_REFUTED: {
    exit: 1,
    http: 409,
    cause: (f) => `The checks of run ${f["run"]} are red, so it is not applied.`,
    next: (f) => `'meridian run show ${f["run"]}' shows them; give --force to apply it anyway.`,
  },
  CHECKS_RED: {
    exit: 1,
    http: 409,
    cause: (f) =>
      `The checks of run ${f["run"]} are red on the work as it would be applied: ${f["what"]}; nothing was changed.`,
    next: (f) => `read ${f["log"]}; bring the run up to date and continue it, or give --force.`,
  },
  CHECKS_UNKNOWN: {
    exit: 1,
    http: 409,
    cause: (f) => `The checks of run ${f["run"]} cannot be read: ${f["why"]}.`,
    next: () => "check it yourself, and give --force to apply it without.",
  },
  CHECKS_TOO_MANY: {
    exit: 2,
    http: 400,
    cause: (f) => `${f["count"]} checks are more than a run may have (${f["limit"]}).`,
    next: () => "put them into one script and name that.",
  },
  CHECKS_REFUSED: {
    exit: 1,
    http: 403,
    cause: () => "Checks are programs, and a run that may only read cannot name any.",
    next: () => "leave --check out, or let the person give it.",
  },
  WORKTREE_NOT_RESTORED: {
    exit: 1,
    http: 500,
    cause: (f) => `Checks left the worktree of run ${f["run"]} so that it cannot be put back: ${f["reason"]}`,
    next: (f) => `'git branch NAME ${f["ref"]}' brings back what the run had done.`,
  },
  CONTEST_OPEN: {
    exit: 1,
    http: 409,
    cause: (f) => `Run ${f["run"]} is one of several at the same task, and nobody has chosen one.`,
    next: (f) => `'meridian run compare ${f["run"]}' shows them; apply one by name.`,
  },
  SANDBOX_UNAVAILABLE: {
    exit: 2,
    http: 409,
    cause: (f) => `There is no sandbox here: ${f["why"]}.`,
    next: (f) => `${f["next"]}`,
  },
  SANDBOX_NETWORK_NEEDED: {
    exit: 2,
    http: 409,
    cause: (f) => `${f["harness"]} reaches its model over the network, so it cannot work without it.`,
    next: () =>
      "use --harness direct, whose commands alone lose the network, or leave --sandbox-network out.",
  },
  RUN_WITHOUT_DIFF: {
    exit: 1,
    http: 409,
    cause: (f) =>
      `Run ${f["run"]} worked in ${f["cwd"]} itself, and its state at the beginning was not kept: it only read, it began before that was kept, there was too much to keep, or there is no repository with a commit.`,
    next: () => "look at 'git diff' there; spawn with --worktree to isolate a run.",
  },
  RUN_WITHOUT_WORKTREE: {
    exit: 1,
    http: 409,
    cause: (f) => `Run ${f["run"]} worked in ${f["cwd"]} itself and has no worktree.`,
    next: () => "look at its changes there; spawn with --worktree to isolate a run.",
  },
} as const satisfies Record<string, FailureEntry>
