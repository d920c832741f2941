import { HttpFailure, type RunDocument } from "@meridian/server/client"
import { useState } from "preact/hooks"

import { counted, isAboutChecks, type workOf } from "../domain/run-diff.ts"
import { useApp } from "../state/app.ts"
import { describeProblem } from "./use-act.ts"

/** Apply and discard, with the result. */
export const RunDecision = (props: {
  readonly run: RunDocument
  readonly work: ReturnType<typeof workOf>
}) => {
  const { run, work } = props
  const { spaces } = useApp().client
  const [doing, setDoing] = useState<string>()
  const [outcome, setOutcome] = useState<Outcome>()
  const [isSure, setIsSure] = useState(false)
  const place = { spaceID: run.spaceId, runID: run.runId }

  const carryOut = (what: string, ask: () => Promise<string>, force?: () => void): void => {
    setDoing(what)
    setOutcome(undefined)
    setIsSure(false)
    ask()
      .then(
        (told) => setOutcome({ tag: "done", told }),
        (cause: unknown) =>
          setOutcome({
            tag: "refused",
            told: describeProblem(cause),
            ...(cause instanceof HttpFailure && isAboutChecks(cause.code) ? { force } : {}),
          }),
      )
      .finally(() => setDoing(undefined))
  }
  const apply = (how: { readonly noCommit?: boolean; readonly force?: boolean } = {}): void =>
    carryOut(
      "Applying…",
      async () => {
        const { applied, staged, warnings = [] } = await spaces.apply({ ...place, ...how })
        return [...applied.map((done) => appliedText(done, staged)), ...warnings].join(" ")
      },
      () => apply({ ...how, force: true }),
    )
  const discard = (): void =>
    carryOut("Discarding…", async () => {
      const { discarded } = await spaces.discard(place)
      return discarded
        .map(({ files, kept }) => `Discarded ${counted(files, "changed file")}; ${kept} still has them.`)
        .join(" ")
    })

  return (
    <div class="decision">
      {work === "under way" ? <p class="faint">It can be applied when the run has ended.</p> : null}
      {work === "over" ? <p class="faint">{OVER[run.worktree?.state ?? ""] ?? ""}</p> : null}
      {work === "staged" ? <p class="faint">Staged in your checkout; the worktree is still there.</p> : null}
      <div class="actions">
        {work === "to take" ? (
          <>
            <button type="button" class="primary" disabled={doing !== undefined} onClick={() => apply()}>
              Apply
            </button>
            <button type="button" disabled={doing !== undefined} onClick={() => apply({ noCommit: true })}>
              Apply, leave staged
            </button>
          </>
        ) : null}
        {work !== "to take" && work !== "staged" ? null : isSure ? (
          <>
            <button type="button" class="danger" onClick={discard}>
              Yes, discard this work
            </button>
            <button type="button" class="quiet" onClick={() => setIsSure(false)}>
              Keep it
            </button>
          </>
        ) : (
          <button type="button" class="danger" disabled={doing !== undefined} onClick={() => setIsSure(true)}>
            Discard
          </button>
        )}
      </div>
      <p role="status">{doing ?? (outcome?.tag === "done" ? outcome.told : "")}</p>
      {outcome?.tag === "refused" ? (
        <p class="problem" role="alert">
          {outcome.told}{" "}
          {outcome.force === undefined ? null : (
            <button type="button" class="danger" onClick={outcome.force}>
              Apply all the same
            </button>
          )}
        </p>
      ) : null}
    </div>
  )
}

type Outcome =
  | { readonly tag: "done"; readonly told: string }
  | { readonly tag: "refused"; readonly told: string; readonly force?: (() => void) | undefined }

const OVER: Readonly<Record<string, string>> = {
  applied: "This work was applied.",
  discarded: "This work was discarded.",
}

const appliedText = (
  done: {
    readonly commits: number
    readonly files: readonly string[]
    readonly commit?: string | undefined
    readonly branch?: string | undefined
    readonly checks?: number | undefined
  },
  isStaged: boolean,
): string => {
  const { files, commits, commit = "", branch = "a detached HEAD", checks = 0 } = done
  if (files.length === 0) return "Nothing new."
  const proof = checks === 0 ? "" : `, ${counted(checks, "check")} green`
  return isStaged
    ? `${counted(files.length, "file")} staged${proof}.`
    : `${counted(files.length, "file")} applied: ${counted(commits, "commit")} on ${branch}, now ${commit.slice(0, 10)}${proof}.`
}
