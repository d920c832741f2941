import * as fc from "fast-check"
import { expect, test } from "vitest"

import { readInstructions, readSessionState } from "./session-state.ts"

const line = fc.oneof(
  fc.constantFrom(
    "[Focus: a] 2026-01-02",
    "[Focus: b] 2026-01-01",
    "## 2026-01-03",
    "## Next Operator Brief",
    "Reality Check — fine",
    "## Open Work",
    "### Blockers",
    "- did it",
    "  - nested",
    "* Decision: keep it",
    "1. Open Work: the thing",
    "   goes on here",
    "**Blockers:** none currently",
    "- Blockers: a key",
    "- Pending Tests:",
    "- [ ] open",
    "- [x] done",
    "plain words",
    "in spec-execute",
    "---",
    "",
  ),
  fc.string({ maxLength: 40 }).filter((text) => !/[`~]{3}|<!--|-->|[\r\n]/.test(text)),
)
const log = fc.array(line, { maxLength: 25 })

test("neither the mark at the start nor the kind of line end changes what a log says", () => {
  fc.assert(
    fc.property(log, (lines) => {
      const plain = readSessionState(lines.join("\n"))
      expect(readSessionState(`\ufeff${lines.join("\n")}`)).toEqual(plain)
      expect(readSessionState(lines.join("\r\n"))).toEqual(plain)
    }),
  )
})

test("a fenced block or a comment anywhere changes nothing", () => {
  fc.assert(
    fc.property(log, log, fc.nat(), (lines, hidden, at) => {
      const place = at % (lines.length + 1)
      const withBlock = (open: string, close: string): string =>
        [...lines.slice(0, place), open, ...hidden, close, ...lines.slice(place)].join("\n")
      const plain = readSessionState(lines.join("\n"))
      expect(readSessionState(withBlock("```md", "```"))).toEqual(plain)
      expect(readSessionState(withBlock("~~~~", "~~~~"))).toEqual(plain)
    }),
  )
})

test("no text makes the parsers fail, and no value holds a line break", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary", maxLength: 400 }),
        log.map((lines) => lines.join("\n")),
      ),
      (text) => {
        for (const state of [readSessionState(text), readInstructions(text)]) {
          const values = Object.values(state).flat(2)
          expect(values.filter((value) => value?.includes("\n"))).toEqual([])
        }
      },
    ),
  )
})
