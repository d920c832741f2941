/** The candidate a mistyped name most likely meant, or none when nothing is close. Bounded work for any input. */
const LONGEST = 80
const MOST_CANDIDATES = 2000

export const nearest = (name: string, candidates: readonly string[]): string | undefined => {
  const wanted = name.slice(0, LONGEST).toLowerCase()
  let best: string | undefined
  let least = Math.max(1, Math.floor(wanted.length / 3)) + 1
  for (const candidate of candidates.slice(0, MOST_CANDIDATES)) {
    const distance = editDistance(wanted, candidate.slice(0, LONGEST).toLowerCase())
    if (distance >= least) continue
    least = distance
    best = candidate
  }
  return best
}

const editDistance = (a: string, b: string): number => {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const change = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min((previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, change))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
