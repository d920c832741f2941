/** The states of a run. They are separate from its records because help and completion need the words and no shapes. */
export const RUN_STATUSES = [
  "queued",
  "running",
  "waiting",
  "paused",
  "succeeded",
  "failed",
  "cancelled",
] as const
export type RunStatus = (typeof RUN_STATUSES)[number]
export const END_STATUSES = ["succeeded", "failed", "cancelled"] as const

/** What a run that is not working waits for. */
export const WAITING_FOR = ["limit", "budget", "question", "permission", "harness"] as const
export type WaitingFor = (typeof WAITING_FOR)[number]
