import { existsSync } from "node:fs"

import { Failure } from "@meridian/protocol"

import { readDiff } from "../domain/diff.ts"
import { LIMIT } from "../domain/limit.ts"
import type { Run } from "../domain/run.ts"
import { diffParts, diffText, rangeOf } from "../repository/work.ts"
import { findRun, spaceHere } from "./find-run.ts"
import { RUN_DIFF, RUN_WORKTREE } from "./hands.meta.ts"
import { repositoryOf } from "./isolate-run.ts"
import { openState } from "./open-state.ts"
import { implement } from "./operation.ts"
import { sparse } from "./run-document.ts"
import { rangeOfRun } from "./run-trees.ts"
import type { State } from "./state.ts"
import type { World } from "./world.ts"

export const runDiff = implement(RUN_DIFF, {
  run: async (input, world) => {
    const state = openState(world)
    const space = spaceHere(input.space, state, world)
    const run = await findRun(space, input.runId, state)
    const { repository, range, isOpen } = await workOf(run, space.id, state, world)
    const how = input.nameOnly ? ["--name-only"] : input.stat ? ["--stat"] : []
    const isText = !world.json && world.face === "command"
    const { answer, isCut } = isText
      ? { answer: "", isCut: false }
      : await diffParts(
          repository.git,
          range,
          world.face === "tool" ? LIMIT.toldDiffBytes : LIMIT.gitAnswerBytes,
        )
    return sparse({
      run_id: run.id,
      from: range.from,
      to: range.to,
      text: isText ? await diffText(repository.git, range, how) : undefined,
      is_cut: isCut ? true : undefined,
      besides: worktreeless(run),
      is_open: isOpen ? true : undefined,
      nested: range.nested.length === 0 ? undefined : range.nested,
      files: readDiff(answer).map((file) =>
        sparse({
          path: file.path,
          old_path: file.oldPath,
          change: file.change,
          additions: file.additions,
          deletions: file.deletions,
          binary: file.isBinary ? true : undefined,
          hunks: file.hunks.map((hunk) => ({
            old_start: hunk.oldStart,
            old_lines: hunk.oldLines,
            new_start: hunk.newStart,
            new_lines: hunk.newLines,
            heading: hunk.heading,
            lines: hunk.lines,
          })),
        }),
      ),
    })
  },
  text: ({ text = "" }) => text,
  notes: ({ nested = [], besides = [], is_open: isOpen = false }) =>
    [
      ...nested.map((path) => `${path} is a separate repository and not part of this.`),
      ...(isOpen ? ["The end of the run was not recorded: this is its folder as it is now."] : []),
      ...(besides.length === 0
        ? []
        : [
            `Other runs wrote into the same checkout, and their changes are among these: ${besides.join(", ")}.`,
          ]),
    ].join("\n"),
})

/** For a run that shared its checkout with others. */
const worktreeless = ({ worktree, besides = [] }: Run): readonly string[] | undefined =>
  worktree === undefined && besides.length > 0 ? besides : undefined

/** `isOpen`: its end was not recorded, so the diff shows the folder as it is now. */
const workOf = async (run: Run, space: string, state: State, world: World) => {
  const { worktree } = run
  if (worktree === undefined) {
    const { repository, range } = await rangeOfRun(run, space, state, world)
    return { repository, range, isOpen: range.isOpen }
  }
  const repository = await repositoryOf(worktree, run.id, state, world)
  const range = await rangeOf(repository, { run: run.id, worktree, token: world.uuid() })
  return { repository, range, isOpen: false }
}

export const runWorktree = implement(RUN_WORKTREE, {
  run: async (input, world) => {
    const state = openState(world)
    const run = await findRun(spaceHere(input.space, state, world), input.runId, state)
    const { worktree } = run
    if (worktree === undefined) throw new Failure("RUN_WITHOUT_WORKTREE", { run: run.id, cwd: run.cwd ?? "" })
    const { path, branch, base, state: became } = worktree
    if (!existsSync(path))
      throw new Failure("WORKTREE_GONE", {
        run: run.id,
        why: became === "open" ? `nothing is at ${path}` : `it was ${became}`,
        next: `'meridian run diff ${run.id}' shows what is left of it.`,
      })
    return { run_id: run.id, path, branch, base }
  },
  text: ({ path }) => path,
})
