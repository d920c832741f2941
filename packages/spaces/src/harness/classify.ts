/**
 * Classifies a harness failure by the provider's status or by the printed words. The order of the rules matters: a
 * message about a full context often also mentions limits, and one about a key often also a status.
 */
import type { FailureClass } from "../domain/failure-class.ts"
import { TRANSIENT } from "../domain/failure-class.ts"
import type { HarnessFailure } from "../port/harness.ts"
import { sentence } from "./bounded-text.ts"

export const failureOf = (failure: FailureClass, message: string): HarnessFailure => ({
  class: failure,
  message: sentence(message),
  transient: TRANSIENT[failure],
})

/** Classifies an HTTP status together with the words beside it. */
export const classify = (text: string, status?: number): FailureClass => {
  const said = classifyText(text)
  if (status === undefined) return said
  if (said === "context_overflow" || said === "quota" || said === "model_not_found") return said
  if (status === 401 || status === 403) return "authentication"
  if (status === 402) return "quota"
  if (status === 404) return "model_not_found"
  if (status === 408 || status === 499) return "connection"
  if (status === 413) return "context_overflow"
  if (status === 429) return "rate_limit"
  if (status === 503 || status === 529) return "overload"
  if (status >= 500 && status <= 599) return "server_error"
  return said
}

export const classifyText = (text: string): FailureClass => {
  const words = (text.length > WINDOW * 2 ? text.slice(0, WINDOW) + text.slice(-WINDOW) : text)
    .replace(/\bhttps?:\/\/[^\s"')]+/gi, "")
    .toLowerCase()
  return RULES.find(([, pattern]) => pattern.test(words))?.[0] ?? "unclassified"
}

const WINDOW = 4096

const RULES: readonly (readonly [FailureClass, RegExp])[] = [
  [
    "session_not_found",
    /no conversation found|session not found|no rollout found|(thread|session) \S+ not found/,
  ],
  ["session_in_use", /session id \S+ is already in use/],
  [
    "context_overflow",
    /context[_ ](length|window)|maximum context|prompt is too long|prompt too long|ran out of room|input is too long|too many (input )?tokens|exceeds? the (model's )?(context|maximum)/,
  ],
  [
    "quota",
    /insufficient_quota|exceeded your current quota|credit balance|billing (hard )?limit|out of credits/,
  ],
  ["rate_limit", /rate[ _-]?limit|\b429\b|too many requests|usage limit/],
  [
    "authentication",
    /\b40[13]\b|unauthori[sz]ed|authentication|(invalid|incorrect|missing)[^.]{0,16}api[ _-]?key|not logged in|please run \/login|log ?in again/,
  ],
  [
    "overload",
    /overloaded|\b529\b|\b503\b|service unavailable|at capacity|high demand|temporarily unavailable/,
  ],
  ["server_error", /\b50[0-9]\b|internal[ _]server[ _]error|bad gateway|gateway time-?out/],
  [
    "connection",
    /econn(refused|reset|aborted)|enotfound|etimedout|eai_again|epipe|connection (was )?(refused|reset|closed|error|timed out|failed)|network (error|is unreachable)|fetch failed|socket hang up|stream disconnected|error sending request|could not connect|unable to connect|dns/,
  ],
  [
    "model_not_found",
    /model_not_found|unknown model|model\b[^.]{0,60}\b(not found|does not exist|not supported|not available)/,
  ],
  [
    "invalid_launch",
    /unexpected argument|unknown (option|argument|flag)|invalid value|cannot be used with|not inside a trusted directory|no longer configured|command not found/,
  ],
]
