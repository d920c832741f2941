/**
 * The lines of a Claude Code transcript as a tree, and which of them form the current conversation: the path to the newest
 * line, with everything attached to it. Sub-agents have separate trees in the same file.
 */
export interface TreeEntry {
  readonly parent: string | undefined
  /** True: without a parent it follows the line before it. False: it begins anew. */
  readonly followsBefore: boolean
  readonly kind: "user" | "assistant" | "result" | "other"
  /** For a result: the line of its call, if recorded. */
  readonly source: string | undefined
  /** The answer whose block it is. */
  readonly answer: string | undefined
}

export interface Choice {
  readonly path: ReadonlySet<string>
  readonly branchMessages: number
  readonly branches: number
  readonly sidechainMessages: number
  readonly sidechains: number
}

export interface ConversationTree {
  /** False when a line of that name exists already: a resumed session may repeat its lines. */
  readonly note: (uuid: string, where: "main" | "side", entry: TreeEntry) => boolean
  readonly choose: () => Choice
  /** The lines that later ones may follow: the newest answer and what comes after it. */
  readonly marks: () => readonly string[]
  /** Whether every line belongs to the current conversation and, after an earlier read, continues from those marks. */
  readonly isStraight: (marks: ReadonlySet<string> | undefined) => boolean
}

interface Line extends TreeEntry {
  /** The previous line in the file, used when the parent is damaged. */
  readonly before: string | undefined
}

interface Side {
  readonly lines: Map<string, Line>
  before: string | undefined
  tip: string | undefined
  /** Whether each line follows the previous one. Then all of them are current. */
  isChain: boolean
}

const MARKS = 200

export const openTree = (): ConversationTree => {
  const sides = { main: emptySide(), side: emptySide() }
  let choice: Choice | undefined

  const chooseAnew = (): Choice => {
    const aside = [...sides.side.lines.values()].filter(isSpoken)
    // The file of a sub-agent consists only of a sidechain, which is then the conversation.
    const isAgent = ![...sides.main.lines.values()].some(isSpoken)
    const { lines, tip } = isAgent ? sides.side : sides.main
    const path = pathTo(lines, tip)
    const answers = new Set([...path].flatMap((uuid) => lines.get(uuid)?.answer ?? []))
    for (const [uuid, { answer }] of lines) if (answer !== undefined && answers.has(answer)) path.add(uuid)
    for (const [uuid, line] of lines)
      if (line.kind === "result" && path.has(callOf(lines, line))) path.add(uuid)
    const left = [...lines].filter(([uuid, line]) => isSpoken(line) && !path.has(uuid))
    return {
      path,
      branchMessages: left.length,
      branches: left.filter(([, { parent }]) => parent === undefined || path.has(parent)).length,
      sidechainMessages: isAgent ? 0 : aside.length,
      sidechains: isAgent
        ? 0
        : [...sides.side.lines.values()].filter(
            ({ parent }) => parent === undefined || !sides.side.lines.has(parent),
          ).length,
    }
  }

  const choose = (): Choice => (choice ??= chooseAnew())

  return {
    note: (uuid, where, entry) => {
      const side = sides[where]
      const { lines, before } = side
      side.before = uuid
      if (lines.has(uuid)) {
        side.isChain &&= uuid === before
        return false
      }
      choice = undefined
      const parent = entry.parent ?? (entry.followsBefore ? before : undefined)
      lines.set(uuid, { ...entry, parent, before })
      if (isSpoken(entry)) side.tip = uuid
      if (parent !== before && lines.size > 1) side.isChain = false
      return !sides[where === "main" ? "side" : "main"].lines.has(uuid)
    },
    choose,
    marks: () => {
      const order = [...sides.main.lines]
      const newest = order.findLastIndex(([, { kind }]) => kind === "assistant" || kind === "user")
      const answer = order[newest]?.[1].answer
      const first = answer === undefined ? newest : order.findIndex(([, line]) => line.answer === answer)
      return order
        .slice(Math.max(0, first))
        .map(([uuid]) => uuid)
        .slice(-MARKS)
    },
    isStraight: (marks) => {
      const [first] = sides.main.lines
      const parent = first?.[1].parent
      if (first === undefined) return marks !== undefined
      if (marks !== undefined && (parent === undefined || !marks.has(parent))) return false
      if (sides.main.tip === undefined) return false
      return sides.main.isChain || choose().branchMessages === 0
    },
  }
}

const emptySide = (): Side => ({
  lines: new Map(),
  before: undefined,
  tip: undefined,
  isChain: true,
})

const isSpoken = ({ kind }: TreeEntry): boolean => kind !== "other"

/** The line that a result answers. Older versions put progress lines between them. */
const callOf = (lines: ReadonlyMap<string, Line>, { source, parent }: Line): string => {
  if (source !== undefined) return source
  const seen = new Set<string>()
  let at = parent
  while (at !== undefined && lines.get(at)?.kind === "other" && !seen.has(at)) {
    seen.add(at)
    at = lines.get(at)?.parent
  }
  return at ?? ""
}

/** From the tip back to the start of the conversation. */
const pathTo = (lines: ReadonlyMap<string, Line>, tip: string | undefined): Set<string> => {
  const path = new Set<string>()
  for (let uuid = tip; uuid !== undefined && !path.has(uuid);) {
    const line = lines.get(uuid)
    if (line === undefined) break
    path.add(uuid)
    uuid = line.parent === undefined || lines.has(line.parent) ? line.parent : line.before
  }
  return path
}
