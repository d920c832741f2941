import xterm from "@xterm/headless"
import { expect, test } from "vitest"

import { openLiveLines } from "./live-lines.ts"

const openScreen = (columns: number) => {
  const screen = new xterm.Terminal({ cols: columns, rows: 12, convertEol: true, allowProposedApi: true })
  const size = { columns, rows: 12 }
  const text = (): Promise<string> =>
    new Promise((resolve) =>
      screen.write("", () => {
        const { active } = screen.buffer
        const rows = Array.from({ length: active.length }, (_, row) => active.getLine(row))
        resolve(
          rows
            .map((row) => row?.translateToString(true))
            .join("\n")
            .trimEnd(),
        )
      }),
    )
  return {
    lines: openLiveLines(
      (written) => screen.write(written),
      () => size,
    ),
    text,
    resize: (next: number) => {
      size.columns = next
      screen.resize(next, 12)
    },
  }
}

test("lines change in place, written text stays above them, and they disappear", async () => {
  const { lines, text } = openScreen(30)
  lines.show(["r1 one", "r2 two"])
  lines.write("a warning\n")
  lines.show(["r1 three"])
  expect(await text()).toBe("a warning\nr1 three")
  lines.show([])
  expect(await text()).toBe("a warning")
})

test("a terminal that is made narrower keeps no remains of them", async () => {
  const { lines, text, resize } = openScreen(60)
  lines.write("before\n")
  lines.show(["r1 12s · bash something rather long · a task · 1 tool"])
  // The terminal wraps the line before any program knows of it.
  await text()
  resize(20)
  lines.show(["r1 13s · bash something rather long"])
  expect(await text()).toBe("before\nr1 13s · bash some…")
  resize(10)
  lines.show([])
  expect(await text()).toBe("before")
})
