/**
 * Checks: command lines that prove a run's claim to be done. They run when the agent says it is done, and again on
 * the work as it would be applied. Red ones go back to the agent, a bounded number of times. Their final results are
 * the verdict.
 */
import { plainText } from "@meridian/protocol"

import type { CheckEventRecord } from "./check-record.ts"
import type { SandboxUse } from "./sandbox.ts"

export interface ChecksPlan {
  readonly commands: readonly string[]
  /** For each command. */
  readonly timeoutMs: number
  /** How often the agent is sent back with red checks. */
  readonly rounds: number
  /** Variables that look like credentials and that checks may see anyway. */
  readonly keepVariables: readonly string[]
  /** The sandbox of the run. The checks run in it too. */
  readonly sandbox?: SandboxUse | undefined
}

/** `unverified` means that no check ran. */
export const VERDICTS = ["verified", "unverified", "refuted"] as const
export type RunVerdict = (typeof VERDICTS)[number]

export const MOST_CHECKS = 20
export const MOST_CHECK_ROUNDS = 20

export type CheckResult = Omit<CheckEventRecord, "event" | "id">

export const isGreen = ({ why, exitCode }: Pick<CheckResult, "why" | "exitCode">): boolean =>
  why === "ended" && exitCode === 0

export type Proof =
  | { readonly tag: "verified" }
  /** Red: the agent is told. */
  | { readonly tag: "told" }
  /** `message` names the check and how it ended. */
  | { readonly tag: "refuted"; readonly message: string }

/** `earlier`: the results recorded for this run before these. */
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

/** How many earlier attempts ended with red checks. The agent was told each time. */
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
  /** The part of the output the agent sees. `isCut` says that more came before it. */
  readonly output: string
  readonly isCut: boolean
}

/** The text the agent gets about red checks, word for word. */
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

/** Inside a fence longer than any in the output. */
const fenced = (output: string): string => {
  const longest = Math.max(2, ...[...output.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length))
  const fence = "`".repeat(longest + 1)
  return `${fence}\n${output}${output.endsWith("\n") ? "" : "\n"}${fence}`
}
