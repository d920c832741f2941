/**
 * What an agent is told when its run resumes after something it did not cause. The notes are short and fixed: the
 * conversation has the rest. All begin the same way, so that none is ever taken for a task.
 */
export type Resumption = "worker_died" | "crashed" | "stalled" | "limit" | "failed" | "paused" | "anew"

const NOTE = "[meridian]"

const HAPPENED: Readonly<Record<Resumption, string>> = {
  worker_died: "The process that carried out this run was killed, and the run goes on.",
  crashed: "This run ended in the middle of its work, and goes on.",
  stalled: "This run gave no sign of life for a long time, so it was stopped and goes on.",
  limit: "The usage limit has passed, and the run goes on.",
  failed: "The provider failed, and the run goes on.",
  paused: "The run was paused, and goes on.",
  anew: "The earlier conversation of this run is gone, so this is a new one about the same task.",
}

const CHECK =
  "Look at what is already done before you repeat anything, then finish the task and end with your report."

export const resumeNote = (why: Resumption): string => `${NOTE} ${HAPPENED[why]} ${CHECK}`

/** For a harness that takes over from another. The work done so far follows it. */
export const takeoverNote = ({
  from,
  why,
}: {
  readonly from: string
  readonly why: string | undefined
}): string =>
  `${NOTE} This task was begun in ${from}${why === undefined ? "" : `, which cannot go on (${why})`}. You carry it on in the same directory; files are as they were left. ${CHECK}`

/** Words that a person sent, after the note if there is one. */
export const nextMessage = (parts: {
  readonly note?: string | undefined
  readonly words: readonly string[]
}): string => [...(parts.note === undefined ? [] : [parts.note]), ...parts.words].join("\n\n")
