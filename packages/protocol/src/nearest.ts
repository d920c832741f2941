/** The candidate that the reader most likely meant; undefined when none is close enough. */
export const nearest = (typed: string, candidates: Iterable<string>): string | undefined => {
  const word = typed.toLowerCase().slice(0, LONGEST)
  let best: { readonly candidate: string; readonly distance: number } | undefined
  let compared = 0
  for (const candidate of candidates) {
    compared += 1
    if (compared > MOST_CANDIDATES) break
    const other = candidate.toLowerCase().slice(0, LONGEST)
    const distance = other.startsWith(word) && word.length >= 2 ? 0.5 : editDistance(word, other)
    if (distance > Math.max(1, Math.floor(Math.min(word.length, other.length) / 3)) + 0.5) continue
    if (best === undefined || distance < best.distance) best = { candidate, distance }
  }
  return best?.candidate
}

/** Longer words are compared by their first part, and only so many of them, to bound the cost. */
const LONGEST = 64
const MOST_CANDIDATES = 2_000

/** Insertion, deletion, replacement and swap of neighbours each count one. Costs the product of the lengths. */
export const editDistance = (left: string, right: string): number => {
  let beforeLast: readonly number[] = []
  let last: readonly number[] = Array.from({ length: right.length + 1 }, (_, column) => column)
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1]
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      current.push(
        Math.min(
          (last[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (last[column - 1] ?? 0) + (same ? 0 : 1),
          swapped && row > 1 && column > 1 ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    beforeLast = last
    last = current
  }
  return last[right.length] ?? 0
}
