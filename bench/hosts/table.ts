/** The figures as the table of docs/measured.md. */
import type { Figures } from "./measure.ts"

export interface Recorded {
  /** The day of the run. */
  readonly date: string
  readonly hosts: readonly Figures[]
}

export const HOSTS_START = "<!-- hosts:start -->"
export const HOSTS_END = "<!-- hosts:end -->"

/** The text between the marks. Every number comes from the recorded run. */
export const renderBlock = (recorded: Recorded): string =>
  [HOSTS_START, "", renderTable(recorded), "", HOSTS_END].join("\n")

export const renderTable = ({ date, hosts }: Recorded): string => {
  const rows = hosts.map(
    ({
      host,
      version,
      facts,
      present,
      presentWithoutUs,
      stale,
      invented,
      contradicted,
      tokensAtMost,
      hookMsAtMost,
    }) =>
      `| ${host} ${version} | ${percent(present, facts)} | ${presentWithoutUs === null ? "–" : percent(presentWithoutUs, facts)} | ${stale.length} | ${contradicted} of ${invented} | ${tokensAtMost} | ${hookMsAtMost === 0 ? "–" : `${hookMsAtMost} ms`} |`,
  )
  const { facts = 0, compactions = 0 } = hosts[0] ?? {}
  return [
    "| host | facts present | without us | stale | invented requests contradicted | tokens at most | hook at most |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...rows,
    "",
    `Facts of 16 kinds in the first request after each compaction, ${facts} probes in ${compactions} compactions a host, through the real programs with a scripted provider on loopback whose summaries keep nothing, invent a request, or repeat old values. Presence is measured, not use. Run of ${date}: \`npm run -s build && node --conditions=meridian-source bench/hosts/run.ts --full\`.`,
  ].join("\n")
}

const percent = (part: number, whole: number): string =>
  `${whole === 0 ? 0 : Number(((100 * part) / whole).toFixed(1))} %`
