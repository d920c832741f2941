/** The file changes of a prompt, as they were when its work had settled. */
import { Failure } from "@meridian/protocol"
import { Effect } from "effect"

import type { PromptMark } from "../domain/transcript/undoing.ts"
import { fileWindows, findPrompt, joinChanges, type TurnChanges } from "../domain/undo.ts"
import type { DiffForm, FilePlaces } from "../port/file-trees.ts"
import { entriesOf, FoldedSessions, type Settings } from "../session/index.ts"
import { changeOf, changesOfTurn, withFiles, type RestoredFile } from "./restore-plan.ts"

export interface ChangedFiles {
  readonly prompt: PromptMark & { readonly number: number }
  readonly files: readonly RestoredFile[]
  /** Why the files of some turns are unknown: they were not kept. */
  readonly missed: readonly string[]
  /** Files that were too large to keep, or unreadable. */
  readonly skipped: readonly string[]
  readonly diff?: string
}

export const changedFiles = ({
  sessionID,
  at,
  diff,
}: {
  readonly sessionID: string
  /** The id of a message or the number of a prompt. Undefined: the last prompt. */
  readonly at: string | number | undefined
  readonly diff: DiffForm | undefined
}): Effect.Effect<ChangedFiles, Failure, FoldedSessions | FilePlaces | Settings> =>
  Effect.gen(function* () {
    const { current } = yield* FoldedSessions
    const { undoing } = (yield* current(sessionID)).transcript
    const { prompts, location, missed } = undoing
    const prompt = yield* requirePrompt(sessionID, prompts, at ?? prompts.length)
    const next = prompts.find(({ seq }) => seq > prompt.seq)?.seq ?? Number.MAX_SAFE_INTEGER
    const windows = fileWindows(undoing, { from: prompt.seq, before: next })
    const changes = yield* windows.length === 0
      ? Effect.succeed({ files: [] })
      : withFiles(location, async (files) => {
          const turns: TurnChanges[] = []
          for (const window of windows)
            if (window.location === location) turns.push(await changesOfTurn(files, window))
          const joined = joinChanges(turns)
          const pair = [
            entriesOf(joined.map(({ path, to }) => [path, to])),
            entriesOf(joined.map(({ path, left }) => [path, left])),
          ] as const
          return {
            files: joined.map(({ path, to, left }): RestoredFile => ({
              path,
              change: changeOf(to !== undefined, left !== undefined),
            })),
            ...(diff === undefined
              ? {}
              : { diff: await files.diff(await files.make(pair[0]), await files.make(pair[1]), diff) }),
          }
        })
    const records = windows.flatMap(({ named, all }) =>
      named.before.concat(all.before ?? [], all.after ?? []),
    )
    return {
      prompt: { ...prompt, number: prompts.indexOf(prompt) + 1 },
      ...changes,
      missed: [
        ...new Set(missed.filter(({ seq }) => seq >= prompt.seq && seq < next).map(({ reason }) => reason)),
      ],
      skipped: [...new Set(records.flatMap(({ skipped }) => skipped))],
    }
  })

/** Fails with PROMPT_NOT_FOUND. */
export const requirePrompt = (
  session: string,
  prompts: readonly PromptMark[],
  at: string | number,
): Effect.Effect<PromptMark, Failure> => {
  const prompt = findPrompt(prompts, at)
  return prompt === undefined
    ? Effect.fail(new Failure("PROMPT_NOT_FOUND", { session, prompt: at, most: prompts.length }))
    : Effect.succeed(prompt)
}
