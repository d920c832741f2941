/** Merges without a checkout: objects in, objects out. Nothing that a user can see changes. */
import { Failure } from "@meridian/protocol"

import { callGit, git, gitFailed, type GitPlace } from "./git.ts"

export type Merged =
  | { readonly tag: "tree"; readonly tree: string }
  | { readonly tag: "conflict"; readonly paths: readonly string[] }

/** A three-way merge based on the nearest common ancestor. Throws GIT_TOO_OLD. */
export const mergeCommits = async (place: GitPlace, ours: string, theirs: string): Promise<Merged> => {
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs]
  const answer = await callGit(place, args)
  const [tree = "", ...paths] = answer.stdout.toString("utf8").split("\0")
  if (answer.code === 0) return { tag: "tree", tree: tree.trim() }
  if (answer.code === CONFLICT)
    return { tag: "conflict", paths: [...new Set(paths.filter((path) => path !== ""))] }
  if (answer.code === USAGE || answer.stderr.includes("--write-tree")) throw new Failure("GIT_TOO_OLD")
  throw gitFailed(args, answer)
}

const CONFLICT = 1
const USAGE = 129

export interface CommitWish {
  readonly tree: string
  readonly parent: string
  readonly message: string
  /** Author and time of another commit. Absent: the user who applies, now. */
  readonly author?: Author | undefined
}

export interface Author {
  readonly name: string
  readonly email: string
  /** Seconds since 1970 and the zone, as git keeps them. */
  readonly date: string
}

export const commitTree = (place: GitPlace, { tree, parent, message, author }: CommitWish): Promise<string> =>
  git(place, ["commit-tree", tree, "-p", parent, "-F", "-"], {
    input: message,
    env:
      author === undefined
        ? {}
        : { GIT_AUTHOR_NAME: author.name, GIT_AUTHOR_EMAIL: author.email, GIT_AUTHOR_DATE: author.date },
  })

export interface ReadCommit {
  readonly id: string
  readonly parents: readonly string[]
  readonly tree: string
  readonly author: Author
  readonly message: string
}

/** Commits that `tip` has and `head` has not, oldest first. Undefined if there are more than `most`. */
export const commitsBetween = async (
  place: GitPlace,
  { head, tip, most }: { readonly head: string; readonly tip: string; readonly most: number },
): Promise<readonly ReadCommit[] | undefined> => {
  const answer = await git(place, [
    "log",
    "-z",
    "--reverse",
    "--topo-order",
    "--no-show-signature",
    "--no-color",
    "--encoding=UTF-8",
    "--date=raw",
    `--max-count=${most + 1}`,
    "--format=%H%n%P%n%T%n%an%n%ae%n%ad%n%B",
    `${head}..${tip}`,
  ])
  const commits = answer.split("\0").flatMap((text) => readCommit(text) ?? [])
  return commits.length > most ? undefined : commits
}

const readCommit = (text: string): ReadCommit | undefined => {
  const [id, parents, tree, name, email, date, ...message] = text.split("\n")
  if (id === undefined || tree === undefined || date === undefined) return undefined
  return {
    id,
    parents: parents === undefined || parents === "" ? [] : parents.split(" "),
    tree,
    author: { name: name ?? "", email: email ?? "", date },
    message: message.join("\n"),
  }
}
