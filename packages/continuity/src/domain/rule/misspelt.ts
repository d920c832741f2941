/** One slip of the fingers (two in long words), a missing or added s, another letter case. */
export const isMisspelt = (key: string, known: string): boolean => {
  if (key.length > 24) return false
  const [a, b] = [key.toLowerCase(), known.toLowerCase()]
  if (a === b || `${a}s` === b || a === `${b}s` || a === `${b}es`) return true
  if (b.length < 4) return false
  return distance(a, b) <= (b.length >= 7 ? 2 : 1)
}

/** Levenshtein, with two swapped neighbours counted once. Both texts are short. */
const distance = (a: string, b: string): number => {
  const rows = Array.from({ length: a.length + 1 }, (_, row) =>
    Array.from({ length: b.length + 1 }, (_unused, column) => (row === 0 ? column : column === 0 ? row : 0)),
  )
  const cell = (row: number, column: number): number => rows[row]?.[column] ?? Number.POSITIVE_INFINITY
  for (let row = 1; row <= a.length; row += 1) {
    const line = rows[row] ?? []
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1] ? 0 : 1
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      line[column] = Math.min(
        cell(row - 1, column) + 1,
        cell(row, column - 1) + 1,
        cell(row - 1, column - 1) + same,
        swapped ? cell(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
  }
  return cell(a.length, b.length)
}
