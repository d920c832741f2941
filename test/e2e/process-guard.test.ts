/** The guard of tool processes is a dead man's switch: when the engine falls silent, its commands end. */
import { spawn } from "node:child_process"
import { once } from "node:events"

import { expect, test } from "vitest"

import { openProcessGuard } from "../../packages/engine/src/tool/process-guard.ts"

test("a command lives while its engine is expected, and ends when no word came in time", async () => {
  const guard = openProcessGuard()
  await guard.ready()
  const child = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" })
  await once(child, "spawn")
  const gone = once(child, "exit")
  guard.watch(child.pid ?? 0)
  guard.expect(600_000)
  guard.expect(1)
  expect(await gone).toEqual([null, "SIGKILL"])
  await guard.close()
})

test("a newer word takes the place of the older one, and a command that is done is nobody's concern", async () => {
  const guard = openProcessGuard()
  await guard.ready()
  const [kept, watched] = [1, 2].map(() => spawn("sleep", ["1000"], { detached: true, stdio: "ignore" }))
  if (kept === undefined || watched === undefined) return
  await Promise.all([once(kept, "spawn"), once(watched, "spawn")])
  guard.watch(kept.pid ?? 0)()
  guard.watch(watched.pid ?? 0)
  const gone = once(watched, "exit")
  guard.expect(1)
  await gone
  expect(kept.exitCode).toBeNull()
  expect(kept.signalCode).toBeNull()
  kept.kill("SIGKILL")
  await once(kept, "exit")
  await guard.close()
})
