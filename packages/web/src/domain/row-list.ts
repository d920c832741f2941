import type { Row } from "./row.ts"

/** Rows in their order, each found by its key; a later row with the same key takes its place. */
export interface RowList {
  readonly rows: readonly Row[]
  readonly push: (row: Row) => void
  readonly find: <Kind extends Row["kind"]>(
    key: string,
    kind: Kind,
  ) => Extract<Row, { readonly kind: Kind }> | undefined
  /** By key; nothing happens when there is none. */
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
