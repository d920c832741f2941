/**
 * The report of a run while its attempts are made: each attempt leaves its last words, and those of the last one are
 * the run's.
 */
import { existsSync, lstatSync, renameSync } from "node:fs"
import { join } from "node:path"

import { LIMIT } from "../domain/limit.ts"
import type { Verdict } from "../port/harness.ts"
import { replaceFile } from "../store/document.ts"
import type { RunPlace } from "../store/place.ts"

/** A report the agent wrote itself wins over the last thing it said. A value with a requested schema wins over both. */
export const keepReport = (
  files: RunPlace,
  verdict: Pick<Verdict, "report">,
  { isValue }: { readonly isValue: boolean },
): void => {
  const own = lstatSync(files.report, { throwIfNoEntry: false })
  const wrote = own?.isFile() === true && own.size > 0
  if ((wrote && !isValue) || verdict.report === undefined) return
  const bytes = Buffer.from(verdict.report).subarray(0, LIMIT.reportBytes)
  // Replaced rather than written into: the agent may have put a link there.
  replaceFile(files.report, `${bytes.toString("utf8").trimEnd()}\n`)
}

export const putReportAside = (files: RunPlace, attempt: number): void => {
  if (existsSync(files.report))
    renameSync(files.report, join(files.directory, `report.attempt-${attempt}.md`))
}
