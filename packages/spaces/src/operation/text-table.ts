/** Rows as columns two spaces apart; the last column is not padded. A name with a newline in it stays one row. */
export const columns = (cells: readonly (readonly string[])[]): string => {
  const rows = cells.map((row) => row.map((cell) => cell.replaceAll(/\s*[\r\n]+\s*/g, " ")))
  const widths: number[] = []
  for (const row of rows)
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length)
  return rows
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n")
}
