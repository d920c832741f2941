import type { Behaviour } from "../behaviours.ts"

/** Undoing the work of prompts. */
export const UNDO_BEHAVIOURS = {
  "run.diff-plain": {
    seed: "issue 14",
    says: "run diff shows what a run without a worktree did to its checkout between its beginning and its end",
  },
  "undo.both": {
    seed: "issue 14",
    says: "an undo takes what the last prompts led to out of the conversation and out of files, bash changes too, and a redo brings both back",
  },
  "undo.alone": {
    seed: "issue 14",
    says: "conversation and files can each be taken back alone",
  },
  "undo.others": {
    seed: "issue 14",
    says: "files changed by others since are refused with a list before anything is touched, unless they may be overwritten",
  },
  "undo.user-repository": {
    seed: "issue 14",
    says: "keeping and taking back leave index, HEAD and branches of the user alone and start no hook, filter or monitor of the repository",
  },
  "undo.kinds": {
    seed: "issue 14",
    says: "untracked files, modes, links and newlines in names come back as they were; ignored and huge files and submodules stay as they are",
  },
  "undo.outside": {
    seed: "issue 14",
    says: "outside of a repository files are kept in a store of the engine's own",
  },
  "undo.missed": {
    seed: "issue 14",
    says: "files that cannot be kept are told in the log, and the turn goes on",
  },
  "undo.only-reads": {
    seed: "issue 14",
    says: "a turn that only reads keeps nothing",
  },
  "undo.crash": {
    seed: "issue 14",
    says: "an undo that is cut off at any point is finished by whoever has the session next; asked for again, it is not done twice",
  },
  "undo.identity": {
    seed: "issue 14",
    says: "an undo gives back every byte there was, and a redo every byte there had been since",
  },
  "undo.two-sessions": {
    seed: "issue 14",
    says: "two sessions in one folder take back their own changes and not each other's",
  },
  "undo.files-at": {
    seed: "issue 14",
    says: "files says what one prompt led to, by its number or the id of its message",
  },
  "undo.fork-at": {
    seed: "issue 14",
    says: "a fork ends with what one prompt led to, and takes the files back there when it is asked to",
  },
  "undo.retention": {
    seed: "issue 14",
    says: "own refs keep a bounded number of trees for a session and go with it",
  },
  "undo.commands": {
    seed: "issue 14",
    says: "session undo, redo, files and fork do it from the command line",
  },
} as const satisfies Record<string, Behaviour>
