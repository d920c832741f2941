/** Caps of a run that the engine carries out, through the shipped program. */
import type { ScriptStep } from "@meridian/engine/script"
import { expect } from "vitest"

import { directScene } from "../direct-scene.ts"
import { verifies } from "../verifies.ts"
import { document } from "./cli-binary.ts"

/** 100,000 tokens of this model are 30 cents; no two calls are the same. */
const acting = (n: number): ScriptStep => ({
  tools: [{ name: "glob", input: { pattern: `*.${n}` } }],
  usage: { input: 100_000, output: 0 },
})

const SPAWN = ["run", "spawn", "--harness", "direct", "-p", "look around"] as const

verifies("run-cap.engine", async () => {
  const scene = await directScene({ script: [1, 2, 3, 4].map(acting).concat({ text: "All seen." }) })
  const ran = await scene.run(...SPAWN, "--max-cost", "0.5")
  expect([ran.code, ran.stdout]).toEqual([4, ""])
  expect(ran.stderr).toContain("WARNING [RUN_ASKS]")
  expect(scene.asked()).toHaveLength(2)
  const show = async () => document(await scene.run("run", "show", "r1", "--space", "s1", "--json"))
  const paused = await show()
  expect(paused).toMatchObject({
    status: "paused",
    waiting_for: "budget",
    attempts: [{ why: "budget", cost_usd: 0.6 }],
  })
  const again = await scene.run("run", "resume", "r1", "--space", "s1")
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("ERROR [BUDGET_SPENT]")])
  const low = await scene.run("run", "resume", "r1", "--space", "s1", "--max-cost", "0.6")
  expect(low.stderr).toContain("ERROR [CAP_BELOW_SPENT]")
  expect((await scene.run("run", "resume", "r1", "--space", "s1", "--max-cost", "3")).code).toBe(0)
  await scene.run("run", "wait", "r1", "--space", "s1")
  expect(await show()).toMatchObject({
    status: "succeeded",
    harness_session_id: Reflect.get(Object(paused), "harness_session_id"),
  })
  const asked = scene.asked()
  expect(asked).toHaveLength(5)
  // What was done before is in the conversation that goes on, and so is what is left.
  expect(asked.at(-1)).toContain("*.1")
})
