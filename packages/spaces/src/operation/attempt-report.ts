/** The report of a run while its attempts are made: each leaves what it said, and the last one's is the run's. */
import { existsSync, lstatSync, renameSync } from "node:fs"
import { join } from "node:path"

import { LIMIT } from "../domain/limit.ts"
import type { Verdict } from "../port/harness.ts"
import { replaceFile } from "../store/document.ts"
import type { RunPlace } from "../store/place.ts"

/** What the agent wrote itself is its report; otherwise the last thing it said. A value in a form that was asked for goes before both. */
export const keepReport = (
  files: RunPlace,
  verdict: Pick<Verdict, "report">,
  { isValue }: { readonly isValue: boolean },
): void => {
  const own = lstatSync(files.report, { throwIfNoEntry: false })
  const wrote = own?.isFile() === true && own.size > 0
  if ((wrote && !isValue) || verdict.report === undefined) return
  const bytes = Buffer.from(verdict.report).subarray(0, LIMIT.reportBytes)
  // Replaced, not written into: what the agent put there may be a link.
  replaceFile(files.report, `${bytes.toString("utf8").trimEnd()}\n`)
}

export const putReportAside = (files: RunPlace, attempt: number): void => {
  if (existsSync(files.report))
    renameSync(files.report, join(files.directory, `report.attempt-${attempt}.md`))
}
