/**
 * Goal: wherever a process dies during a compaction, the previous boundary stays in force, the attempt is visibly ended at
 * the next start, and the session goes on. Method: die at every commit in turn, reopen the same file, look.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import type { Reply, ScriptRequest } from "@meridian/engine"
import { Failure } from "@meridian/protocol"
import { expect, test } from "vitest"

import { openEngineWith } from "../../packages/engine/src/open-engine.ts"

const LONG = "lorem ipsum dolor sit amet ".repeat(60)
const isSummary = (request: ScriptRequest): boolean =>
  JSON.stringify(request.body).includes("Write the checkpoint now")

const open = (file: string, requests: string[], tap?: (point: string) => void) =>
  openEngineWith(
    {
      database: file,
      models: [
        {
          id: "a/one",
          provider: "scripted",
          contextWindow: 4_500,
          maxOutput: 300,
          script: (request: ScriptRequest): Reply => {
            requests.push(JSON.stringify(request.body))
            return isSummary(request) ? { text: "## Objective\n- go on" } : { text: `answer ${LONG}` }
          },
        },
      ],
      permissions: [{ action: "*", resource: "*", effect: "allow" }],
      compaction: { keepTokens: 1 },
      limits: { leaseMs: 200 },
    },
    tap === undefined ? {} : { sqlite: { tap } },
  )

/** Runs until the tap says that the process is dead; says whether it ever did. */
const runUntilDeath = async (file: string, directory: string, dieAt: number): Promise<boolean> => {
  let commits = 0
  let dead = false
  const tap = (point: string): void => {
    if (point === "commit" && !dead) {
      commits += 1
      if (commits === dieAt) dead = true
    }
    // As a failure of the store: a timer of a process that is gone has nobody to tell.
    if (dead) throw new Failure("DATABASE_UNWRITABLE", { file, why: "the process is dead" })
  }
  const engine = await open(file, [], tap)
  try {
    await engine.sessions.create({ id: "ses_c", location: { directory } })
    for (let number = 1; number <= 8; number += 1) {
      await engine.sessions.prompt({
        id: `msg_${number}`,
        sessionID: "ses_c",
        prompt: { text: `question ${number}` },
      })
      await engine.sessions.wait("ses_c")
    }
  } catch {
    // What a dead process does not hear.
  }
  await engine.close().catch(() => undefined)
  return dead
}

test("dying at any commit around a compaction leaves one truth and a session that goes on", async () => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-crash-"))
  let deaths = 0
  let visiblyEnded = 0
  for (let dieAt = 20; ; dieAt += 1) {
    const file = join(folder, `${dieAt}.sqlite`)
    if (!(await runUntilDeath(file, folder, dieAt))) break
    deaths += 1
    const requests: string[] = []
    const engine = await open(file, requests)
    await engine.sessions.create({ id: "ses_c", location: { directory: folder } })
    await engine.sessions.prompt({ sessionID: "ses_c", prompt: { text: "the last question" } })
    await engine.sessions.wait("ses_c")
    const receipts = await engine.sessions.receipts("ses_c")
    expect(receipts.every((receipt) => receipt.status !== "started")).toBe(true)
    visiblyEnded += receipts.filter((receipt) => receipt.status === "failed").length
    const last = requests.findLast((request) => !request.includes("Write the checkpoint now")) ?? ""
    expect(last).toContain("the last question")
    expect(last.match(/<checkpoint>/g)?.length ?? 0).toBeLessThanOrEqual(1)
    await engine.close()
  }
  rmSync(folder, { recursive: true, force: true })
  expect(deaths).toBeGreaterThan(10)
  expect(visiblyEnded).toBeGreaterThan(0)
})
