/**
 * The heights of many rows, most of them guessed. A Fenwick tree over the heights finds the start of a row and the row at a
 * position in logarithmic time, so a session of any length scrolls the same.
 */
export interface RowHeights {
  readonly count: () => number
  /** Adds rows. A smaller number starts over. */
  readonly resize: (count: number) => void
  /** Returns the change of the height. */
  readonly measure: (index: number, height: number) => number
  readonly total: () => number
  /** Where the row begins. */
  readonly offsetOf: (index: number) => number
  /** The row at this position; outside, the first or last one. */
  readonly indexAt: (offset: number) => number
}

export const createRowHeights = (guess: number): RowHeights => {
  let heights: number[] = []
  // tree[i] is the sum of the heights (i - lowest bit of i, i], counted from 1.
  let tree: number[] = [0]

  const sumBefore = (index: number): number => {
    let sum = 0
    for (let at = index; at > 0; at -= at & -at) sum += tree[at] ?? 0
    return sum
  }

  const append = (height: number): void => {
    heights.push(height)
    const at = heights.length
    tree[at] = height + sumBefore(at - 1) - sumBefore(at - (at & -at))
  }

  return {
    count: () => heights.length,
    resize: (count) => {
      if (count < heights.length) {
        heights = []
        tree = [0]
      }
      while (heights.length < count) append(guess)
    },
    measure: (index, height) => {
      const before = heights[index]
      if (before === undefined || before === height) return 0
      heights[index] = height
      for (let at = index + 1; at <= heights.length; at += at & -at)
        tree[at] = (tree[at] ?? 0) + height - before
      return height - before
    },
    total: () => sumBefore(heights.length),
    offsetOf: (index) => sumBefore(Math.max(0, Math.min(index, heights.length))),
    indexAt: (offset) => {
      let at = 0
      let left = offset
      let step = 1
      while (step * 2 <= heights.length) step *= 2
      for (; step > 0; step = Math.floor(step / 2)) {
        const next = tree[at + step]
        if (at + step > heights.length || next === undefined || next > left) continue
        at += step
        left -= next
      }
      return Math.max(0, Math.min(at, heights.length - 1))
    },
  }
}
