import type { RowHeights } from "./row-heights.ts"

export interface Viewport {
  readonly scrollTop: number
  readonly height: number
}

/** The document contains at most this many rows, however tall the window and however small the rows. */
export const MOST_ROWS = 120
/** Rows beyond each edge, so that a fast scroll shows no gap. */
const BEYOND = 8

/** The rows to draw: from `from` up to but excluding `to`. */
export const visibleRows = (
  heights: RowHeights,
  viewport: Viewport,
): { readonly from: number; readonly to: number } => {
  const count = heights.count()
  if (count === 0) return { from: 0, to: 0 }
  const first = heights.indexAt(Math.max(0, viewport.scrollTop))
  const last = heights.indexAt(Math.max(0, viewport.scrollTop + viewport.height))
  const from = Math.max(0, first - BEYOND)
  return { from, to: Math.min(count, last + 1 + BEYOND, from + MOST_ROWS) }
}

/** Whether the reader is at the end and wants to stay there when more arrives. */
export const isAtEnd = (viewport: Viewport, total: number): boolean =>
  viewport.scrollTop + viewport.height >= total - 48
