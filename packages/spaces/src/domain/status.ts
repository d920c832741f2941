/** Parses the output of `git status --porcelain=v2 --branch -z --no-renames`. */
export interface Status {
  /** "" before the first commit. */
  readonly head: string
  /** Paths whose file or index differs from HEAD, and files git does not know. */
  readonly paths: readonly string[]
  /** Repositories inside this one that are not part of it. */
  readonly nested: readonly string[]
  readonly isUnmerged: boolean
}

export const readStatus = (answer: string): Status => {
  let head = ""
  const paths: string[] = []
  const nested: string[] = []
  let isUnmerged = false
  for (const entry of answer.split("\0")) {
    const kind = entry[0]
    if (entry.startsWith("# branch.oid ")) head = entry.slice("# branch.oid ".length).replace("(initial)", "")
    if (kind === "?" && entry.endsWith("/")) nested.push(entry.slice(2, -1))
    else if (kind === "?") paths.push(entry.slice(2))
    if (kind === "1") paths.push(afterFields(entry, CHANGED_FIELDS))
    if (kind === "u") {
      isUnmerged = true
      paths.push(afterFields(entry, UNMERGED_FIELDS))
    }
  }
  return { head, paths: [...new Set(paths)], nested, isUnmerged }
}

/** Fields before the path: `1 XY sub mH mI mW hH hI` and `u XY sub m1 m2 m3 mW h1 h2 h3`. */
const CHANGED_FIELDS = 8
const UNMERGED_FIELDS = 10

const afterFields = (entry: string, count: number): string => {
  let at = -1
  for (let field = 0; field < count; field += 1) at = entry.indexOf(" ", at + 1)
  return entry.slice(at + 1)
}
