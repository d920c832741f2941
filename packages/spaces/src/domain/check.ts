/**
 * Checks: command lines that prove a run's claim to be done. They run when the agent says it is done, and once more on the work as
 * it would be applied. Red ones go back to the agent, a bounded number of times; what they say in the end is the verdict.
 */
import { plainText } from "@meridian/protocol"

import type { CheckEventRecord } from "./check-record.ts"
import type { SandboxUse } from "./sandbox.ts"

export interface ChecksPlan {
  readonly commands: readonly string[]
  /** For each of them. */
  readonly timeoutMs: number
  /** How often red ones are told to the agent. */
  readonly rounds: number
  /** Variables that look like credentials and that checks may see all the same. */
  readonly keepVariables: readonly string[]
  /** They run in the sandbox that the run works in. */
  readonly sandbox?: SandboxUse | undefined
}

/** `unverified` is what nobody checked. */
export const VERDICTS = ["verified", "unverified", "refuted"] as const
export type RunVerdict = (typeof VERDICTS)[number]

export const MOST_CHECKS = 20
export const MOST_CHECK_ROUNDS = 20

export type CheckResult = Omit<CheckEventRecord, "event" | "id">

export const isGreen = ({ why, exitCode }: Pick<CheckResult, "why" | "exitCode">): boolean =>
  why === "ended" && exitCode === 0

export type Proof =
  | { readonly tag: "verified" }
  /** Red, and the agent is told so. */
  | { readonly tag: "told" }
  /** `message`: which check, and how it ended. */
  | { readonly tag: "refuted"; readonly message: string }

/** `earlier`: what was recorded of this run before these results. */
export const decideProof = (
  results: readonly CheckResult[],
  {
    earlier,
    attempt,
    rounds,
  }: { readonly earlier: readonly CheckResult[]; readonly attempt: number; readonly rounds: number },
): Proof => {
  const red = results.find((result) => !isGreen(result))
  if (red === undefined) return { tag: "verified" }
  return toldRounds(earlier, attempt) < rounds ? { tag: "told" } : { tag: "refuted", message: endOf(red) }
}

/** Attempts before this one that ended with red checks: each was told. */
const toldRounds = (earlier: readonly CheckResult[], attempt: number): number =>
  new Set(
    earlier.flatMap((result) =>
      result.place === "run" && result.attempt < attempt && !isGreen(result) ? [result.attempt] : [],
    ),
  ).size

/** `npm test: exit code 1` */
export const endOf = ({
  command,
  why,
  exitCode,
  durationSecs,
}: Omit<CheckResult, "output" | "log" | "at">): string =>
  `${command}: ${HOW_ENDED[why](exitCode, durationSecs)}`

const HOW_ENDED: Readonly<
  Record<CheckResult["why"], (exitCode: number | undefined, seconds: number) => string>
> = {
  ended: (exitCode) => `exit code ${exitCode ?? "unknown"}`,
  timeout: (_, seconds) => `stopped after ${seconds} seconds, its time limit`,
  stopped: () => "stopped",
  "not-started": () => "it could not be started",
}

export interface ToldResult extends Omit<CheckResult, "output"> {
  /** As far as it is told; `isCut`: it said more before that. */
  readonly output: string
  readonly isCut: boolean
}

/** What the agent is told of red checks, word for word. */
export const redWords = (results: readonly ToldResult[], most: number): string => {
  const red = results.filter((result) => !isGreen(result))
  const share = Math.floor(most / Math.max(1, red.length))
  return [
    "[meridian] You said that you are done, and the checks of this run are red. Correct what they say, then finish the task and end with your report.",
    ...red.map((result) => `${endOf(result)}\n${fenced(lastOf(result, share))}`),
  ].join("\n\n")
}

const lastOf = ({ output, isCut }: ToldResult, most: number): string => {
  const plain = plainText(output)
  const kept = plain.length > most ? plain.slice(-most).toWellFormed() : plain
  return isCut || kept.length < plain.length ? `[the end of its output]\n${kept}` : kept
}

/** Behind a fence that nothing in it closes. */
const fenced = (output: string): string => {
  const longest = Math.max(2, ...[...output.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length))
  const fence = "`".repeat(longest + 1)
  return `${fence}\n${output}${output.endsWith("\n") ? "" : "\n"}${fence}`
}
