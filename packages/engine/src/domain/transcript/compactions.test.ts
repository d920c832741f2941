import type { DurableEvent } from "@meridian/protocol"
import { expect, test } from "vitest"

import { EVENTS, logged } from "../../../../../test/event-log.ts"
import { foldCompactions, noCompactions, NOTHING_RESTORED, readRestoration } from "./compactions.ts"

const { compacted } = EVENTS
const requested: DurableEvent = { type: "session.next.compaction.requested.1", data: {} }
const started = (id: string): DurableEvent => ({
  type: "session.next.compaction.started.1",
  data: { compactionID: id, reason: "auto", model: "m", tokens: 100 },
})
const failed = (id: string): DurableEvent => ({
  type: "session.next.compaction.failed.1",
  data: { compactionID: id, error: { code: "x", message: "y" } },
})
const restored = (id?: string): DurableEvent => ({
  type: "session.next.compaction.restored.1",
  data: id === undefined ? {} : { compactionID: id },
})
const NONE = noCompactions(NOTHING_RESTORED)

test("a request is answered by the next start, and a start by its end or failure", () => {
  const asked = foldCompactions(NONE, logged([requested]))
  expect(asked).toEqual({ ...NONE, requested: true })
  const open = foldCompactions(asked, logged([started("c")], 1))
  expect(open).toEqual({ ...NONE, open: "c" })
  expect(foldCompactions(open, logged([failed("c")], 2))).toEqual(NONE)
  expect(foldCompactions(open, logged([compacted("c", [], 1)], 2))).toEqual({
    ...NONE,
    seq: 3,
    completed: [{ seq: 3, before: 100, after: 40 }],
    pace: { ...NONE.pace, fresh: 1, row: 1 },
  })
})

test("a compaction that was taken back leaves no trace but its end", () => {
  const restoration = { ignored: new Set(["c"]), undone: [], through: 3 }
  const folded = foldCompactions(
    noCompactions(restoration),
    logged([started("c"), compacted("c", [], 1), restored()]),
  )
  expect(folded).toEqual(noCompactions(restoration))
})

test("a restore that the fold did not know of makes it outdated", () => {
  expect(foldCompactions(NONE, logged([compacted("c", [], 1), restored()])).outdated).toBe(true)
})

test("each restore takes back what came after the compaction it names", () => {
  const log = logged([compacted("a", [], 1), compacted("b", [], 1), compacted("c", [], 1), restored("a")])
  expect(readRestoration(log)).toEqual({ ignored: new Set(["b", "c"]), undone: [], through: 4 })
  expect(readRestoration([...log, ...logged([restored("b")], 4)])).toEqual({
    ignored: new Set(["c"]),
    undone: [],
    through: 5,
  })
  expect(readRestoration([...log, ...logged([restored()], 4)])).toEqual({
    ignored: new Set(["a", "b", "c"]),
    undone: [],
    through: 5,
  })
})
