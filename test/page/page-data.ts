/** The sessions and spaces of the tests, and how a test looks at them. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { messageId, type DurableEvent } from "@meridian/protocol"
import { Effect } from "effect"
import type { Page } from "playwright-core"

import { createAppend } from "../../packages/engine/src/store/sqlite/append.ts"
import { openDatabase } from "../../packages/engine/src/store/sqlite/database.ts"
import { createEventReader } from "../../packages/engine/src/store/sqlite/events.ts"
import { createProjector } from "../../packages/engine/src/store/sqlite/projector.ts"
import type { HttpScene } from "../http-scene.ts"

/** Markup in a title, in a tool's output and in the model's words. */
export const HOSTILE = `<img src=x onerror="document.title='owned'">`
export const SUMMARY = "Goal: fix the parser. The failing case is a quote at the end of a line."

export const ASK_FOR_BASH = [
  { action: "*", resource: "*", effect: "allow" },
  { action: "bash", resource: "*", effect: "ask" },
] as const

export const withSession =
  (prompt?: string) =>
  async ({ client, directory }: HttpScene): Promise<void> => {
    writeFileSync(join(directory, "parser.ts"), `// ${HOSTILE}\nexport const parse = () => {}\n`)
    await client.sessions.create({ id: "ses_1", location: { directory }, title: `Fix the parser ${HOSTILE}` })
    if (prompt === undefined) return
    await client.sessions.prompt({ sessionID: "ses_1", prompt: { text: prompt } })
    await client.sessions.wait({ sessionID: "ses_1" })
  }

export const READ_AND_ANSWER = [
  {
    text: "I read the parser first.",
    tools: [{ name: "read", input: { path: "parser.ts" } }],
    usage: { input: 21_000, output: 200 },
  },
  { text: `It is empty. ${HOSTILE}`, usage: { input: 64_000, output: 300 } },
] as const

export const row = (page: Page, label: RegExp | string) =>
  page.getByRole("article", { name: label, exact: true })
export const isLive = (page: Page) => page.locator(".stream.is-live").waitFor()

export const writeMessages = (file: string, count: number): void => {
  const events = Array.from({ length: count / 2 }, (_, index) => turn(index + 1)).flat()
  const database = openDatabase({ file })
  const append = createAppend({
    database,
    projector: createProjector(database.raw),
    keyOf: createEventReader(database).keyOf,
    atWork: () => 0,
  })
  const written = append({
    session: "ses_1",
    after: 1,
    time: Date.now(),
    events,
    durability: "acknowledged",
  })
  if (Effect.runSync(written).kind !== "committed") throw new Error("the session is not as it was made")
  database.close()
}

const turn = (number: number): readonly DurableEvent[] => [
  {
    type: "session.next.prompted.1",
    data: { messageID: messageId(`msg_u${number}`), prompt: { text: `question ${number}` } },
  },
  {
    type: "session.next.step.started.1",
    data: { assistantMessageID: messageId(`msg_a${number}`), agent: "build", model: "fake/one" },
  },
  {
    type: "session.next.text.ended.1",
    data: { assistantMessageID: messageId(`msg_a${number}`), text: `answer ${number}` },
  },
  {
    type: "session.next.step.ended.2",
    data: {
      assistantMessageID: messageId(`msg_a${number}`),
      finish: "stop",
      usage: { input: 10 * number, output: 5, reasoning: 0, cacheRead: 0, cacheWrite: 0 },
      cost: 0,
    },
  },
]

/** Writes the files of a space as `meridian` leaves them. */
export const writeSpace = async ({ stateRoot }: HttpScene): Promise<void> => {
  const space = join(stateRoot, ".spaces", "s1")
  mkdirSync(join(space, "runs", "r1"), { recursive: true })
  const lines = (rows: readonly object[]): string => rows.map((line) => `${JSON.stringify(line)}\n`).join("")
  const started_at = "2026-11-15T10:00:00.000Z"
  writeFileSync(
    join(space, "space.json"),
    JSON.stringify({
      schema_version: 1,
      id: "s1",
      name: "feature-auth",
      status: "active",
      started_at,
      finished_at: null,
    }),
  )
  writeFileSync(
    join(space, "sessions.jsonl"),
    lines([
      {
        v: 1,
        event: "start",
        chat_id: "c1",
        harness: "claude",
        harness_session_id: "",
        model: "opus",
        started_at,
      },
      { v: 1, event: "stop", chat_id: "c1", stopped_at: started_at },
    ]),
  )
  const run = (id: string, fields: object, end: object): readonly object[] => [
    {
      v: 1,
      event: "start",
      id,
      status: "running",
      depth: 1,
      skills: [],
      skill_paths: [],
      started_at,
      ...fields,
    },
    { v: 1, event: "finalize", id, exit_code: 0, finished_at: started_at, by: "worker", ...end },
  ]
  writeFileSync(
    join(space, "runs.jsonl"),
    lines([
      ...run(
        "r1",
        { model: "opus", harness: "claude", agent: "planner" },
        { status: "succeeded", duration_secs: 90, total_cost_usd: 0.5 },
      ),
      ...run(
        "r2",
        { model: "gpt", harness: "codex", parent_run_id: "r1" },
        { status: "succeeded", duration_secs: 12, total_cost_usd: 0.25 },
      ),
      ...run(
        "r3",
        { model: "gpt", harness: "codex", parent_run_id: "r2" },
        { status: "failed", error: "timeout", duration_secs: 4, total_cost_usd: 0.125 },
      ),
    ]),
  )
  writeFileSync(join(space, "runs", "r1", "report.md"), "The plan is done.\n")
  await Promise.resolve()
}
