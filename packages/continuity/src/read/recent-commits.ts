/**
 * The last commits of the checked-out branch, read from git's reflog. No process is started, because a repository can make
 * git run commands. Without a reflog (a fresh clone) there are none.
 */
import { resolve } from "node:path"

import type { Fact } from "../domain/fact.ts"
import { openGuardedReader, type GuardedReader } from "./guarded-reader.ts"
import { openReadBudget } from "./read-budget.ts"

const TIME_MS = 30
const COMMITS = 3
const LOG_BYTES = 64 * 1024

/** Newest first. */
export const readCommitFacts = (root: string, timeMs: number = TIME_MS): readonly Fact[] => {
  const budget = openReadBudget({ limits: { timeMs: Math.min(timeMs, TIME_MS) } })
  const repository = openRepository(openGuardedReader(root, budget), root, budget)
  const log = repository?.reader.read(repository.log, { part: "tail", maxBytes: LOG_BYTES })
  if (log?.kind !== "text") return []
  return commitsIn(log.text).map((text, order) => ({ kind: "commit", text, source: "git", order }))
}

/** A linked worktree has its own HEAD with its own reflog. */
const openRepository = (
  reader: GuardedReader,
  root: string,
  budget: Parameters<typeof openGuardedReader>[1],
): { readonly reader: GuardedReader; readonly log: string } | undefined => {
  const mark = reader.look(".git")
  if (mark.kind === "folder") return { reader, log: ".git/logs/HEAD" }
  if (mark.kind !== "file") return undefined
  const link = reader.read(".git", { maxBytes: 4096 })
  const target = link.kind === "text" ? /^gitdir: (.+)$/m.exec(link.text)?.[1]?.trim() : undefined
  return target === undefined
    ? undefined
    : { reader: openGuardedReader(resolve(root, target), budget), log: "logs/HEAD" }
}

interface Move {
  readonly from: string
  readonly to: string
  readonly action: string
  readonly subject: string
}

const LINE = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\t]*\t([a-z -]+?)(?: \(([a-z-]+)\))?: (.*)$/

/** From HEAD back along the commits that led to it. An amended commit replaces the earlier one. */
const commitsIn = (log: string): readonly string[] => {
  const moves = log.split("\n").flatMap((line): readonly Move[] => {
    const [, from, to, action, detail, subject] = LINE.exec(line) ?? []
    if (from === undefined || to === undefined || action === undefined || subject === undefined) return []
    return [{ from, to, action: detail === "amend" ? "amend" : action, subject }]
  })
  const commits: string[] = []
  let wanted = moves.at(-1)?.to
  for (const { from, to, action, subject } of moves.toReversed()) {
    if (to !== wanted || commits.length === COMMITS) continue
    if (!MAKES.has(action)) continue
    commits.push(`${to.slice(0, 7)} ${subject}`)
    wanted = action === "amend" ? moves.findLast((move) => move.to === from)?.from : from
  }
  return commits
}

const MAKES: ReadonlySet<string> = new Set(["commit", "amend", "merge", "cherry-pick", "revert", "rebase"])
