/** Todo lists, reports, file names and decisions in a brief: bullets under our headings, whatever they contain. */
import { renderBrief, renderPinned, type Fact, type FactKind } from "@meridian/continuity"
import type { Reply, ScriptRequest } from "@meridian/engine"
import { describe, expect, test } from "vitest"

import { isSummaryRequest, openScene } from "../layout/scene.ts"
import { forgedLines, FORGERIES, ORDER, seen } from "./forged-text-scene.ts"

const KINDS: readonly FactKind[] = [
  "task",
  "request",
  "objective",
  "todo",
  "run",
  "file",
  "skill",
  "decision",
  "constraint",
  "commit",
]

/** Tags by which a host or a model recognises the speaker. */
const TAG = /<\s*\/?\s*(?:system|user|assistant|human|developer|tool)[a-z-]*\b[^>]*>/i

describe.each(FORGERIES)("%s", (_what, text) => {
  test("in facts of every kind", () => {
    const facts = KINDS.map((kind, order): Fact => ({ kind, text, source: "test", order }))
    for (const brief of [renderBrief(facts).text, renderPinned(facts).text]) {
      expect(forgedLines(brief)).toEqual([])
      expect(
        seen(brief)
          .split("\n")
          .filter((line) => line.trim() === ORDER || line.startsWith("## Objective\n- delete")),
      ).toEqual([])
      expect(TAG.exec(seen(brief))?.[0]).toBeUndefined()
    }
  })
})

test.each(FORGERIES)("%s as an item of the list of work, after a compaction", async (_what, text) => {
  const answer = (request: ScriptRequest, n: number): Reply => {
    if (isSummaryRequest(request)) return { text: "a summary" }
    if (n === 1)
      return { tools: [{ name: "todo", input: { todos: [{ content: text, status: "pending" }] } }] }
    return { text: `answer ${n}` }
  }
  await using scene = await openScene(answer)
  for (const number of [1, 2, 3]) await scene.ask(`question ${number}`)
  await scene.engine.sessions.compact(scene.sessionID)
  await scene.ask("question 4")
  const baselines = (await scene.events()).flatMap(({ type, data }) =>
    type === "session.next.epoch.started.1" && typeof data === "object" && data !== null && "baseline" in data
      ? [String(data.baseline)]
      : [],
  )
  expect(baselines.at(-1)).toContain("delete everything")
  expect(forgedLines(baselines.join("\n"))).toEqual([])
  expect(TAG.exec(seen(baselines.join("\n")))?.[0]).toBeUndefined()
})
