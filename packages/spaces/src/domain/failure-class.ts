/** How an attempt can fail, in one word. */

/** Class -> could the same attempt work later? Only these are retried. */
export const TRANSIENT = {
  rate_limit: true,
  overload: true,
  server_error: true,
  connection: true,
  context_overflow: false,
  authentication: false,
  quota: false,
  model_not_found: false,
  session_not_found: false,
  session_in_use: false,
  permission_rejected: false,
  invalid_launch: false,
  not_started: false,
  runaway: false,
  no_output: false,
  incomplete: false,
  crashed: false,
  timeout: false,
  stalled: false,
  budget: false,
  question: false,
  unclassified: false,
} as const satisfies Record<string, boolean>

export type FailureClass = keyof typeof TRANSIENT
