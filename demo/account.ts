/** The account of a run, for a terminal of 80 columns or a file. */
import type { Measured } from "./measure.ts"
import { DECLARED } from "./model.ts"

export interface Paint {
  readonly strong: (text: string) => string
  readonly faint: (text: string) => string
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
  readonly bar: (text: string) => string
}

const codes = (begin: number, end: number) => (text: string) => `\u001b[${begin}m${text}\u001b[${end}m`
const same = (text: string): string => text

export const makePaint = (isColoured: boolean): Paint =>
  isColoured
    ? {
        strong: codes(1, 22),
        faint: codes(2, 22),
        good: codes(32, 39),
        bad: codes(31, 39),
        bar: codes(35, 39),
      }
    : { strong: same, faint: same, good: same, bad: same, bar: same }

const LABEL = 13
const BAR = 26

export const accountOf = (measured: Measured, paint: Paint): readonly string[] => {
  const { compactions, window, requestsAfter, shown } = measured
  const line = (label: string, text: string): string => `  ${paint.strong(label.padEnd(LABEL))}${text}`
  const number = (value: number): string => value.toLocaleString("en")
  const bar = (tokens: number): string => {
    const filled = window === 0 ? 0 : Math.min(BAR, Math.round((tokens / window) * BAR))
    return `${paint.bar("█".repeat(filled))}${paint.faint("░".repeat(BAR - filled))}`
  }
  return [
    line("turns", `${measured.turns}, ${requestsAfter} of them after a compaction`),
    line(
      "tools",
      `${measured.calls} calls, ${measured.settled} settled: ${[...measured.tools].map(([tool, count]) => `${tool} ${count}`).join(", ")}`,
    ),
    line("window", `${number(window)} tokens`),
    ...compactions.flatMap(({ before, after, messages, told, kept }, index) => [
      line(`compaction ${index + 1}`, `${bar(before)} ${number(before)} tokens`),
      line("", `${bar(after)} ${number(after)}; ${messages} messages, ${kept} of ${told} steps kept`),
    ]),
    line(
      "survived",
      DECLARED.map((name) =>
        mark(`${name} ${shown[name]}/${requestsAfter}`, shown[name] === requestsAfter, paint),
      ).join("  "),
    ),
    line("", paint.faint("in the requests that were made after a compaction")),
    line("crash left", `${measured.interrupted} call recorded as interrupted and not run again;`),
    line("", `the killed command had written "${measured.commandWrote}"`),
    line(
      "processes",
      measured.processes === undefined ? "cannot be counted here" : `${measured.processes} left`,
    ),
    line(
      "the project",
      mark(measured.testsPass ? "its tests pass" : "its tests do not pass", measured.testsPass, paint),
    ),
    line("in all", `${measured.events} events, ${measured.seconds.toFixed(1)} s, no key, no network`),
  ]
}

const mark = (text: string, isGood: boolean, paint: Paint): string =>
  isGood ? paint.good(text) : paint.bad(text)
