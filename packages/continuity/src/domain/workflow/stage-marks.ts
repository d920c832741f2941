/**
 * Marks beside the stages of a line: ticked or empty boxes, emoji for done, running and open, a strikethrough. They come
 * before the names ("[x] bug-create [ ] bug-fix") or after them ("bug-create ✅, bug-fix ⏳").
 */
import type { Standing } from "./stage-standing.ts"

export interface Name {
  readonly start: number
  readonly end: number
}

/** What the marks say about each name, in the order of the names; undefined without a mark. */
export const marksOf = (line: string, names: readonly Name[]): readonly (Standing | undefined)[] => {
  const isAhead = MARK.test(line.slice(0, names[0]?.start ?? 0))
  let firstIsOpen = false
  let before: Standing | undefined
  return names.map(({ start, end }, place) => {
    if (isStruck(line, start)) return "done"
    const gap = isAhead
      ? line.slice(names[place - 1]?.end ?? 0, start)
      : (BEHIND.exec(line.slice(end, names[place + 1]?.start ?? line.length))?.[0] ?? "")
    const sign = [...gap.matchAll(MARKS)].at(-1)?.[0]
    if (sign === undefined) return isAhead && LIST.test(gap) ? before : (before = undefined)
    const standing = standingBy(sign)
    before = standing === "next" && firstIsOpen ? "then" : standing
    firstIsOpen ||= standing === "next"
    return before
  })
}

const standingBy = (sign: string): Standing => {
  if (/[xX✓✔✅☑]/u.test(sign)) return "done"
  return /[~>🔄⏳🚧▶]/u.test(sign) ? "now" : "next"
}

const isStruck = (line: string, at: number): boolean => line.slice(0, at).split("~~").length % 2 === 0

const SIGN = "\\[[ xX✓✔~>]\\]|[✅☑✔✓🔄⏳🚧▶⬜☐🔲]"
const MARK = new RegExp(SIGN, "u")
const MARKS = new RegExp(SIGN, "gu")
/** Directly after a name, or after its subject: `bug-fix crash ✅`. */
const BEHIND = new RegExp(`^[\`'"*_)\\s:(]*(?:[\\w.-]{1,40} )?(?:${SIGN})`, "u")
const LIST = /^[\s`'"/,&*_+]*(?:and|or)?[\s`'"/*_]*$/
