/** Runs as the tree in which they were spawned, with the cost of each branch. */
import type { RunRow } from "@meridian/server/contract"

export interface RunNode {
  readonly run: RunRow
  /** 1 for a run that no other run of this list spawned. */
  readonly level: number
  /** How many runs it spawned directly. */
  readonly children: number
  /** Its own cost and that of all runs below it. */
  readonly cost: number
}

/** In the order of a tree view: each run before those it spawned, older ones first. Every run appears once. */
export const runTree = (runs: readonly RunRow[]): readonly RunNode[] => {
  const known = new Map(runs.map((run) => [run.runId, run]))
  const below = Map.groupBy(known.values(), (run) => parentOf(run, known) ?? "")
  const nodes: RunNode[] = []
  const seen = new Set<string>()
  const visit = (run: RunRow, level: number): number => {
    if (seen.has(run.runId)) return 0
    seen.add(run.runId)
    const place = nodes.length
    const children = inOrder(below.get(run.runId) ?? [])
    nodes.push({ run, level, children: children.length, cost: 0 })
    let cost = run.costUsd ?? 0
    for (const child of children) cost += visit(child, level + 1)
    nodes[place] = { run, level, children: children.length, cost }
    return cost
  }
  for (const run of inOrder(below.get("") ?? [])) visit(run, 1)
  // Damaged records may name each other as parents. They are shown anyway.
  for (const run of inOrder([...known.values()])) visit(run, 1)
  return nodes
}

export const totalCost = (runs: readonly RunRow[]): number =>
  runs.reduce((sum, run) => sum + (run.costUsd ?? 0), 0)

const parentOf = (run: RunRow, known: ReadonlyMap<string, unknown>): string | undefined =>
  run.parentRunId !== undefined && run.parentRunId !== run.runId && known.has(run.parentRunId)
    ? run.parentRunId
    : undefined

const inOrder = (runs: readonly RunRow[]): readonly RunRow[] =>
  runs.toSorted((left, right) => numberOf(left.runId) - numberOf(right.runId))

const numberOf = (runId: string): number => Number(/\d+/.exec(runId)?.[0] ?? 0)
