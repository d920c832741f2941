/** The result as text: for the terminal, and as the block of docs/measured.md between its marks. */
import { type ArmName, type Cell, type Count, type Result, SEEDS } from "./measure.ts"
import { ROUNDS } from "./scenario.ts"
import { SUMMARISER_NAMES } from "./summarisers.ts"

export const RETENTION_START = "<!-- retention:start -->"
export const RETENTION_END = "<!-- retention:end -->"

const ARMS = ["host only", "brief in the prompt only", "ours (pinned)"] as const satisfies readonly ArmName[]

export const renderTable = (result: Result): string => {
  const head = ["arm", ...SUMMARISER_NAMES, "stale", "requests with the pinned part", "tokens at most"]
  return [head, head.map(() => "---"), ...ARMS.map((arm) => rowOf(arm, result))].map(renderRow).join("\n")
}

const rowOf = (arm: ArmName, result: Result): readonly string[] => {
  const cells = SUMMARISER_NAMES.map((name) => result[arm][name])
  return [
    arm,
    ...cells.map(({ declared }) => share(declared)),
    String(sum(cells, ({ stale }) => stale)),
    share(total(cells.map(({ requestsWithPin }) => requestsWithPin))),
    String(Math.max(...cells.map(({ briefTokens, addedTokens }) => Math.max(briefTokens, addedTokens)))),
  ]
}

/** The text between the marks. Every number comes from the result. */
export const renderBlock = (result: Result): string => {
  const ours = SUMMARISER_NAMES.map((name) => result["ours (pinned)"][name])
  const declared = total(ours.map((cell) => cell.declared))
  const saidOf = (arm: ArmName): string =>
    share(total(SUMMARISER_NAMES.map((name) => result[arm][name].onlySaid)))
  return [
    RETENTION_START,
    "",
    renderTable(result),
    "",
    `Share of declared facts (${declared.of / ours.length} probes a cell) that are present in the first request after each of ${ROUNDS} compactions in a row, ` +
      `${SEEDS.length} seeds, by stand-in summariser. Declared: written in SESSION.md, spec artifacts, rules, the launch record, or touched by a tool. ` +
      `What was only said in the conversation is not kept: ${saidOf("ours (pinned)")} present with us, ${saidOf("host only")} without. ` +
      "Stale: an old value that stands in a request without its newest one, or a cancelled one without a pinned list to tell. " +
      "The middle arm also has the rules in its system prompt, as the original has. " +
      "Presence is measured, not use. `node --conditions=meridian-source bench/retention/run.ts` prints this table.",
    "",
    RETENTION_END,
  ].join("\n")
}

const renderRow = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`

const share = ({ present, of }: Count): string =>
  of === 0 ? "-" : `${Math.floor((1000 * present) / of) / 10} %`

const total = (counts: readonly Count[]): Count => ({
  present: counts.reduce((all, { present }) => all + present, 0),
  of: counts.reduce((all, { of }) => all + of, 0),
})

const sum = (cells: readonly Cell[], valueOf: (cell: Cell) => number): number =>
  cells.reduce((all, cell) => all + valueOf(cell), 0)
