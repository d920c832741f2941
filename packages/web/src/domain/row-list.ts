import type { Row } from "./row.ts"

/** Rows in order, each found by its key. A later row with the same key replaces it. */
export interface RowList {
  readonly rows: readonly Row[]
  readonly push: (row: Row) => void
  readonly find: <Kind extends Row["kind"]>(
    key: string,
    kind: Kind,
  ) => Extract<Row, { readonly kind: Kind }> | undefined
  /** By key. Does nothing when there is no such row. */
  readonly replace: (row: Row) => void
}

export const createRowList = (): RowList => {
  const rows: Row[] = []
  const placeOf = new Map<string, number>()
  return {
    rows,
    push: (row) => {
      placeOf.set(row.key, rows.length)
      rows.push(row)
    },
    find: <Kind extends Row["kind"]>(key: string, kind: Kind) => {
      const row = rows[placeOf.get(key) ?? -1]
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the kind was just compared
      return row?.kind === kind ? (row as Extract<Row, { readonly kind: Kind }>) : undefined
    },
    replace: (row) => {
      const place = placeOf.get(row.key)
      if (place !== undefined) rows[place] = row
    },
  }
}
