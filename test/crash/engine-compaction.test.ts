/**
 * Goal: wherever a process dies during a compaction, the previous boundary stays in force, the attempt is visibly ended at
 * the next start, and the session continues. Method: die before and after every commit and flush in turn, reopen the same
 * file, look.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import type { EngineOptions, Reply, ScriptRequest } from "@meridian/engine"
import { expect, test } from "vitest"

import { createMachine, type Life, type Machine } from "../engine-life.ts"
import { STORES } from "../engine-stored.ts"

const LONG = "lorem ipsum dolor sit amet ".repeat(60)
const isSummary = (request: ScriptRequest): boolean =>
  JSON.stringify(request.body).includes("Write the checkpoint now")

const optionsOf = (file: string, life: Life, requests: string[] = []): EngineOptions => ({
  database: file,
  models: [
    {
      id: "a/one",
      provider: "scripted",
      contextWindow: 4_500,
      maxOutput: 300,
      script: async (request: ScriptRequest): Promise<Reply> => {
        await life.reach()
        requests.push(JSON.stringify(request.body))
        return isSummary(request) ? { text: "## Objective\n- go on" } : { text: `answer ${LONG}` }
      },
    },
  ],
  permissions: [{ action: "*", resource: "*", effect: "allow" }],
  compaction: { keepTokens: 1 },
  limits: { leaseMs: 200 },
})

/** Runs until the process dies. Returns whether it did. */
const runUntilDeath = async (machine: Machine, file: string, directory: string, dieAt: number) => {
  const life = machine.start(dieAt)
  const played = play(file, directory, life).catch((cause: unknown) => {
    if (!life.isDead()) throw cause
  })
  await Promise.race([played, life.died])
  return life.isDead()
}

const play = async (file: string, directory: string, life: Life): Promise<void> => {
  const engine = await life.open(optionsOf(file, life))
  await engine.sessions.create({ id: "ses_c", location: { directory } })
  for (let number = 1; number <= 8; number += 1) {
    await engine.sessions.prompt({
      id: `msg_${number}`,
      sessionID: "ses_c",
      prompt: { text: `question ${number}` },
    })
    await engine.sessions.wait("ses_c")
  }
  await engine.close()
}

test.each(STORES)(
  "dying anywhere around a compaction, over the %s store, leaves one truth",
  async (store) => {
    const folder = mkdtempSync(join(tmpdir(), "meridian-crash-"))
    let deaths = 0
    let visiblyEnded = 0
    for (let dieAt = 20; ; dieAt += 1) {
      using machine = createMachine({ store })
      const file = join(folder, `${dieAt}.sqlite`)
      if (!(await runUntilDeath(machine, file, folder, dieAt))) break
      deaths += 1
      const requests: string[] = []
      const life = machine.start()
      const engine = await life.open(optionsOf(file, life, requests))
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
    expect(deaths).toBeGreaterThan(30)
    expect(visiblyEnded).toBeGreaterThan(0)
  },
)
