import { expect, test } from "vitest"

import { compactionView, MOST_SEEN, survivors } from "./compaction-view.ts"
import type { CompactionRow, NoticeRow, Row } from "./row.ts"

const user = (seq: number): Row => ({
  kind: "user",
  key: `msg_${seq}`,
  seq,
  time: seq,
  messageID: `msg_${seq}`,
  body: { text: `said ${seq}`, cut: 0 },
  files: 0,
})

const compaction = (seq: number, through: number, kept: readonly string[] = []): CompactionRow => ({
  kind: "compaction",
  key: `cmp_${seq}`,
  seq,
  time: seq,
  compactionID: `cmp_${seq}`,
  reason: "auto",
  model: "m",
  status: "ended",
  end: {
    method: "model",
    summary: `summary ${seq}`,
    recent: "",
    range: { from: 1, through },
    kept,
    messages: 1,
    tokens: { before: 2, after: 1 },
    cost: 0,
    usage: { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 },
    removedQuotes: [],
    facts: [],
  },
})

const restored = (seq: number, restores: string): NoticeRow => ({
  kind: "notice",
  what: "info",
  key: `notice_${seq}`,
  seq,
  time: seq,
  text: "",
  restores,
})

const texts = (rows: readonly Row[], row: CompactionRow) => {
  const { before, after } = compactionView(rows, row)
  return { before: before.map((seen) => seen.text), after: after.map((seen) => seen.text) }
}

test("before it the model saw the messages, after it the summary and what was kept or came later", () => {
  const row = compaction(5, 3, ["msg_1"])
  const rows = [user(1), user(2), user(3), user(4), row, user(6)]
  expect(texts(rows, row)).toEqual({
    before: ["said 1", "said 2", "said 3", "said 4"],
    after: ["summary 5", "said 1", "said 4"],
  })
  expect(compactionView(rows, row).before.map((seen) => seen.stays)).toEqual([true, false, false, true])
})

test("a second compaction started from the first one's checkpoint", () => {
  const first = compaction(3, 2, ["msg_2"])
  const second = compaction(5, 4)
  const rows = [user(1), user(2), first, user(4), second]
  expect(texts(rows, second)).toEqual({ before: ["summary 3", "said 2", "said 4"], after: ["summary 5"] })
})

test("after a restore, the whole history or the older checkpoint is what gets compacted", () => {
  const first = compaction(2, 1)
  const second = compaction(4, 3)
  const third = compaction(6, 3)
  expect(texts([user(1), first, restored(5, ""), third], third).before).toEqual(["said 1"])
  const rows = [user(1), first, user(3), second, restored(5, first.compactionID), third]
  expect(texts(rows, third).before).toEqual(["summary 2", "said 3"])
})

test("a failed compaction changed nothing", () => {
  const { end: _end, ...rest } = compaction(2, 1)
  const row: CompactionRow = { ...rest, status: "failed" }
  expect(texts([user(1), row], row)).toEqual({ before: ["said 1"], after: ["said 1"] })
})

test("each side lists no more than its bound, the newest, and says how many are missing", () => {
  const count = MOST_SEEN + 5
  const rows = Array.from({ length: count }, (_, place) => user(place + 1))
  const row = compaction(count + 1, 1)
  const view = compactionView([...rows, row], row)
  expect([view.before.length, view.hiddenBefore]).toEqual([MOST_SEEN, 5])
  expect([view.after.length, view.hiddenAfter]).toEqual([MOST_SEEN, 5])
  expect(view.after[0]?.text).toBe(`summary ${count + 1}`)
  expect(view.after.at(-1)?.text).toBe(`said ${count}`)
})

const baseline = (seq: number, text: string): NoticeRow => ({
  kind: "notice",
  what: "info",
  key: `notice_${seq}`,
  seq,
  time: seq,
  text: "Instructions",
  detail: { text, cut: 0 },
  isBaseline: true,
})

const turn = (seq: number): Row => ({
  kind: "turn",
  key: `turn_${seq}`,
  seq,
  time: seq,
  messageID: `turn_${seq}`,
  turn: seq,
  agent: "build",
  model: "m",
  outcome: "ended",
  retries: 0,
})

test("the instructions in force come first on both sides: the old ones before, the renewed ones after", () => {
  const row = compaction(4, 3)
  const rows = [
    baseline(1, "old"),
    user(2),
    row,
    baseline(5, "with a brief"),
    turn(6),
    baseline(7, "too late"),
  ]
  expect(texts(rows, row)).toEqual({
    before: ["old", "said 2"],
    after: ["with a brief", "summary 4"],
  })
  const without = [baseline(1, "old"), user(2), row, turn(6), baseline(7, "too late")]
  expect(texts(without, row).after).toEqual(["old", "summary 4"])
})

test("a fact has survived when the model sees it word for word", () => {
  const row = compaction(4, 3)
  const { after } = compactionView([user(2), row, baseline(5, "## Rules\n- never edit vendor")], row)
  const facts = [{ text: "never edit vendor" }, { text: "cents stay integers" }]
  expect([...survivors(facts, after)]).toEqual([{ text: "never edit vendor" }])
})
