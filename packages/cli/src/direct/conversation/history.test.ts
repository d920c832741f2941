import { expect, test } from "vitest"

import { historyRows, waitingRows } from "./history.ts"
import { styleFor } from "./style.ts"

const style = styleFor({ NO_COLOR: "1", TERM: "xterm" })
const waiting = (...texts: readonly string[]) => texts.map((text) => ({ prompt: { text } }))

test("waiting messages are shown, each on one row, and the rest is counted", () => {
  expect(waitingRows([], { width: 60, style })).toEqual([])
  expect(waitingRows(waiting("one"), { width: 60, style })).toEqual([
    "1 message waits; your next message takes it along:",
    "  > one",
  ])
  const rows = waitingRows(waiting("a\nb", "x".repeat(99), "c", "d", "e", "f"), { width: 60, style })
  expect(rows.slice(0, 2)).toEqual(["6 messages wait; your next message takes them along:", "  > a b"])
  expect(rows.at(-1)).toBe("  … and 1 more")
  expect([rows.length, rows[2]?.length]).toEqual([7, 60])
})

test("a failed call says why, however long the call is", () => {
  const shown = (command: string) =>
    historyRows(
      {
        leftOut: 0,
        messages: [
          {
            id: "msg_1",
            type: "assistant",
            seq: 1,
            time: 0,
            agent: "build",
            model: "a/b",
            content: [
              {
                type: "tool",
                callID: "call",
                tool: "bash",
                input: { command },
                state: { status: "error", error: { code: "denied", message: "Permission was refused." } },
              },
            ],
          },
        ],
      },
      { width: 60, style },
    )
  expect(shown("ls")).toEqual(["✗ bash ls: Permission was refused."])
  expect(shown("x".repeat(200))[0]).toMatch(/^✗ bash x+…: Permission was refused\.$/)
})

test("an answer is laid out as it was when it was written", () => {
  const message = {
    id: "msg_1",
    type: "assistant",
    seq: 1,
    time: 0,
    agent: "build",
    model: "a/b",
    content: [{ type: "text", text: "# Found\n\nIt is **here**: `x`\n\n| a | b |\n| - | - |\n| 1 | 2 |" }],
  } as const
  const rows = historyRows(
    { leftOut: 0, messages: [message] },
    { width: 60, style: styleFor({ TERM: "xterm-256color" }) },
  )
  const text = rows.join("\n")
  expect(text).not.toMatch(/\*\*|`|^# |\| - \|/m)
  // oxlint-disable-next-line eslint/no-control-regex -- colours are what this is about
  expect(text.replaceAll(/\u001B\[[\d;]*m/g, "")).toContain("It is here: x")
  // Without styles it stays as it was.
  const plain = historyRows({ leftOut: 0, messages: [message] }, { width: 60, style })
  expect(plain).toContain("It is **here**: `x`")
})
