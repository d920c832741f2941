import { failureText } from "../domain/failure-text.ts"
import { fragmentOf } from "../domain/route.ts"
import { costText, durationText, tokensText } from "../domain/text.ts"
import { useApp } from "../state/app.ts"
import { Markdown } from "./markdown.tsx"
import { PausedRun } from "./paused-run.tsx"
import { RunChanges } from "./run-changes.tsx"
import { SessionLink } from "./session-link.tsx"
import { Status } from "./session-list.tsx"
import { usePolled } from "./use-polled.ts"

export const RunPage = ({ spaceID, id }: { readonly spaceID: string; readonly id: string }) => {
  const { spaces } = useApp().client
  const { value: run, failure } = usePolled(`${spaceID}/${id}`, () =>
    spaces.run({ spaceID, runID: id, report: true }),
  )
  if (failure !== undefined && run === undefined)
    return (
      <p class="empty" role="alert">
        {failureText(failure)}
      </p>
    )
  if (run === undefined) return <p class="empty">Loading…</p>
  return (
    <div class="space">
      <div class="session-head">
        <h1>Run {run.runId}</h1>
        {run.task === undefined ? null : <p>{run.task}</p>}
        <div class="session-facts">
          <Status status={run.status} />
          {run.activity?.line === undefined || run.exitCode !== undefined ? null : (
            <span>{run.activity.line}</span>
          )}
          <a href={fragmentOf({ place: "space", id: spaceID })}>space {spaceID}</a>
          {run.parentRunId === undefined ? null : (
            <a href={fragmentOf({ place: "run", spaceID, id: run.parentRunId })}>
              spawned by {run.parentRunId}
            </a>
          )}
          {run.model === "" ? null : <span>{run.model}</span>}
          {run.verdict === undefined ? null : <span>{run.verdict}</span>}
          {run.harness === undefined ? null : <span>{run.harness}</span>}
          <SessionLink of={run} />
          {run.durationSecs === undefined ? null : <span>{durationText(run.durationSecs * 1_000)}</span>}
          {run.inputTokens === undefined ? null : (
            <span>
              {tokensText(run.inputTokens)} in · {tokensText(run.outputTokens ?? 0)} out
            </span>
          )}
          {run.costUsd === undefined ? null : <span>{costText(run.costUsd)}</span>}
          {run.exitCode === undefined ? null : <span>exit code {run.exitCode}</span>}
        </div>
      </div>
      {run.status === "paused" ? <PausedRun run={run} /> : null}
      {run.failureReason === undefined ? null : (
        <p class="problem">
          {run.failureReason}
          {run.message === undefined ? "" : `: ${run.message}`}
        </p>
      )}
      <section>
        <h2>Report</h2>
        {run.report === undefined ? (
          <p class="faint">None.</p>
        ) : (
          <div class="report">
            <Markdown text={run.report} />
          </div>
        )}
      </section>
      <RunChanges key={`${spaceID}/${id}`} run={run} />
    </div>
  )
}
