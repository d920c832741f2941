/**
 * The checkout of a run without a worktree, as it was when the run began and when it ended: two trees under refs of
 * ours. The refs name trees, so no log of git shows them. The user's index and HEAD are only read.
 */
import { callGit, git, type GitPlace } from "./git.ts"
import { takeSnapshot, type Checkout } from "./snapshot.ts"
import type { WorkRange } from "./work.ts"

export interface RunTreesName {
  /** Unique among the runs of the repository. */
  readonly name: string
  readonly run: string
  readonly token: string
}

/** The first tree of a run stays: a resumed run began where it first began. Throws a coded failure if nothing is kept. */
export const keepRunTree = async (
  checkout: Checkout,
  moment: "start" | "end",
  { name, run, token }: RunTreesName,
): Promise<void> => {
  const ref = refOf(name, moment)
  if (moment === "start" && (await treeAt(checkout.git, ref)) !== undefined) return
  const { tree } = await takeSnapshot(checkout, { run, token })
  await git(checkout.git, ["update-ref", ref, tree])
}

/** Undefined if the beginning was not kept. Without an end, the range ends at the checkout as it is now. */
export const runTreesRange = async (
  checkout: Checkout,
  { name, run, token }: RunTreesName,
): Promise<(WorkRange & { readonly isOpen: boolean }) | undefined> => {
  const [from, ended] = await Promise.all([
    treeAt(checkout.git, refOf(name, "start")),
    treeAt(checkout.git, refOf(name, "end")),
  ])
  if (from === undefined) return undefined
  if (ended !== undefined) return { from, to: ended, nested: [], isOpen: false }
  const { tree, nested } = await takeSnapshot(checkout, { run, token })
  return { from, to: await git(checkout.git, ["rev-parse", "--verify", tree]), nested, isOpen: true }
}

/** Removes the oldest when there are more than this many runs. */
export const pruneRunTrees = async (place: GitPlace, most: number): Promise<void> => {
  const listed = await git(place, ["for-each-ref", "--sort=refname", "--format=%(refname)", `${ROOT}/`])
  const refs = listed.split("\n").filter((ref) => ref !== "")
  const names = [...new Set(refs.map((ref) => ref.slice(0, ref.lastIndexOf("/"))))]
  const old = new Set(names.slice(0, Math.max(0, names.length - most)))
  const lines = refs
    .filter((ref) => old.has(ref.slice(0, ref.lastIndexOf("/"))))
    .map((ref) => `delete ${ref}\n`)
  if (lines.length > 0) await git(place, ["update-ref", "--stdin"], { input: lines.join("") })
}

const ROOT = "refs/meridian/runs"

const refOf = (name: string, moment: "start" | "end"): string => `${ROOT}/${name}/${moment}`

const treeAt = async (place: GitPlace, ref: string): Promise<string | undefined> => {
  const { code, stdout } = await callGit(place, ["rev-parse", "--quiet", "--verify", `${ref}^{tree}`])
  return code === 0 ? stdout.toString("utf8").trim() : undefined
}
