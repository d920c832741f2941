import type { RunDocument } from "@meridian/server/client"
import { useState } from "preact/hooks"

import { failureText } from "../domain/failure-text.ts"
import { totalsText, workOf } from "../domain/run-diff.ts"
import { useApp } from "../state/app.ts"
import { ChangedFile } from "./changed-file.tsx"
import { RunDecision } from "./run-decision.tsx"
import { useAsked } from "./use-asked.ts"

/** What a run changed, by file and hunk, with the means to apply it, discard it, or comment on it line by line. */
export const RunChanges = (props: { readonly run: RunDocument }) => {
  const { run } = props
  const { spaces } = useApp().client
  const [looks, setLooks] = useState(0)
  const { runId: runID, spaceId: spaceID, status, worktree } = run
  // Without a worktree there is rarely anything to show. The reason is shown only on request.
  const isLooking = worktree !== undefined || looks > 0
  const key = [isLooking, spaceID, runID, status, worktree?.state, worktree?.commit, looks].join(" ")
  const {
    value: diff,
    failure,
    isAsking,
  } = useAsked(key, async () => (!isLooking ? undefined : await spaces.diff({ spaceID, runID })))
  const work = workOf(run)
  return (
    <section aria-label="Changes" class="changes">
      <h2>
        Changes
        {diff === undefined ? null : <span class="faint"> {totalsText(diff.files)}</span>}
      </h2>
      {work === "none" ? null : <RunDecision run={run} work={work} />}
      {work === "under way" ? (
        <button type="button" class="quiet" disabled={isAsking} onClick={() => setLooks(looks + 1)}>
          Look again
        </button>
      ) : null}
      {failure === undefined ? null : <p class="faint">{failureText(failure)}</p>}
      {!isLooking ? (
        <button type="button" class="quiet" onClick={() => setLooks(1)}>
          Show what it changed
        </button>
      ) : null}
      {isLooking && diff === undefined && failure === undefined ? <p class="faint">Looking…</p> : null}
      {diff?.besides === undefined ? null : (
        <p class="faint">
          These runs worked in the same checkout at the same time: {diff.besides.join(", ")}
        </p>
      )}
      {diff?.nested === undefined ? null : (
        <p class="faint">Repositories of their own, not part of this: {diff.nested.join(", ")}</p>
      )}
      {diff?.files.map((file, index) => (
        <ChangedFile key={file.path} run={run} file={file} isOpen={index < OPEN_FILES} />
      ))}
      {diff?.isCut === true ? (
        <p class="problem">
          There is more than is shown here:{" "}
          <code>
            meridian run diff {runID} --space {spaceID}
          </code>{" "}
          has all of it.
        </p>
      ) : null}
    </section>
  )
}

/** The user opens the rest. */
const OPEN_FILES = 20
