/**
 * Fits sections into a number of bytes. What is dropped, in this order:
 *   1. bullets of the ordinary sections, lowest rank first (`sections.ts`), one at a time from the less important end;
 *   2. the length of what is left, then decisions and blockers down to one each, then the length again.
 * Headings are never dropped here, nor the objective, the stage, the gate or the next action.
 */
import { ESSENTIAL } from "./sections.ts"
import { type Shelf, shrink, sizeOf } from "./shelf.ts"

export const fitShelves = (
  shelves: readonly Shelf[],
  maxBytes: number,
  /** `essential`: only ordinary bullets may be dropped. */
  options: { readonly sparing?: "essential" } = {},
): { readonly shelves: readonly Shelf[]; readonly fits: boolean } => {
  const fitting = [...shelves]
  const sizes = fitting.map(sizeOf)
  let total = sizes.reduce((sum, size) => sum + size, 0)

  const over = (): boolean => total > maxBytes
  const replace = (index: number, shelf: Shelf): void => {
    const size = sizeOf(shelf)
    total += size - (sizes[index] ?? 0)
    sizes[index] = size
    fitting[index] = shelf
  }
  const drop = (chosen: (shelf: Shelf) => boolean, least: number): void => {
    for (const index of byRank(fitting, chosen))
      while (over()) {
        const shelf = fitting[index]
        const smaller = shelf === undefined ? shelf : shrink(shelf, least)
        if (smaller === undefined || smaller === shelf) break
        replace(index, smaller)
      }
  }
  const cut = (maxLength: number): void => {
    for (const index of byRank(fitting, ({ maxLength: length }) => length > maxLength)) {
      const shelf = fitting[index]
      if (over() && shelf !== undefined) replace(index, { ...shelf, maxLength })
    }
  }

  drop(isOrdinary, 0)
  if (options.sparing === "essential") return { shelves: fitting, fits: !over() }
  cut(160)
  drop((shelf) => !isOrdinary(shelf), 1)
  cut(80)
  cut(40)
  return { shelves: fitting, fits: !over() }
}

const isOrdinary = ({ section }: Shelf): boolean => section.rank < ESSENTIAL

const byRank = (shelves: readonly Shelf[], chosen: (shelf: Shelf) => boolean): readonly number[] =>
  shelves
    .flatMap((shelf, index) => (chosen(shelf) ? [{ rank: shelf.section.rank, index }] : []))
    .toSorted((left, right) => left.rank - right.rank)
    .map(({ index }) => index)
