import * as fc from "fast-check"
import { expect, test } from "vitest"

import { estimateTokens } from "../text/estimate-tokens.ts"
import { findLaunchRecord, LAUNCH_LIMITS } from "./launch-record.ts"
import { renderLaunch } from "./render-launch.ts"

const start = (chat: string, session: string, at: string, agent = `/${chat}.md`) => ({
  event: "start",
  chat_id: chat,
  harness_session_id: session,
  started_at: at,
  agent_path: agent,
})

test("the newest start wins, and the later line where two began at the same time", () => {
  const find = (...events: readonly unknown[]) => findLaunchRecord(events, "ses")?.chatId
  expect(find(start("c1", "ses", "2026-01-02"), start("c2", "ses", "2026-01-01"))).toBe("c1")
  expect(find(start("c1", "ses", "2026-01-01"), start("c2", "ses", "2026-01-01"))).toBe("c2")
  expect(find(start("c1", "other", "2026-01-01"))).toBeUndefined()
})

test("an update gives a chat its session, also one of several", () => {
  const update = (session: string) => ({ event: "update", chat_id: "c1", harness_session_id: session })
  const events = [
    start("c1", "", "2026-01-01"),
    update("ses_a"),
    update("ses_b"),
    { event: "stop", chat_id: "c1" },
  ]
  expect(findLaunchRecord(events, "ses_a")?.agentPath).toBe("/c1.md")
  expect(findLaunchRecord(events, "ses_b")?.agentPath).toBe("/c1.md")
})

test("no event of another shape is a record, and an empty id matches nothing", () => {
  fc.assert(
    fc.property(fc.array(fc.anything()), (events) => {
      expect(findLaunchRecord(events, "ses")).toBeUndefined()
    }),
  )
  expect(findLaunchRecord([start("c1", "", "2026-01-01")], "")).toBeUndefined()
})

test("skills are taken once each, up to the limit", () => {
  const skill_paths = ["/a.md", "/a.md", 7, "", ...Array.from({ length: 50 }, (_, at) => `/s${at}.md`)]
  const record = findLaunchRecord([{ ...start("c1", "ses", ""), skill_paths }], "ses")
  expect(record?.skillPaths).toHaveLength(LAUNCH_LIMITS.skills)
  expect(record?.skillPaths[1]).toBe("/s0.md")
})

test("the block keeps its budget: the agent first, a text that does not fit is cut and says so", () => {
  const long = Array.from({ length: 200 }, (_, at) => `line ${at}`).join("\n")
  const text = renderLaunch(
    [
      { kind: "agent", path: "/a.md", name: "coder", text: `---\nname: x: y\n---\n${long}` },
      { kind: "skill", path: "/s.md", name: "plan", text: "Plan first." },
    ],
    200,
  )
  expect(estimateTokens(text)).toBeLessThanOrEqual(200)
  expect(text).toContain("## Agent: coder\n\nline 0\nline 1\n")
  expect(text).toContain("[cut here for lack of room]")
  expect(renderLaunch([{ kind: "skill", path: "/s.md", name: "plan", text: long }], 20)).toBe("")
})
