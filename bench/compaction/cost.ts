/** What a compaction costs besides the model, and how much of a request stays the same from turn to turn. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

import { openEngine, type Engine, type Reply, type ScriptRequest } from "../../packages/engine/dist/index.js"
import { median } from "../engine/scene.ts"

const open = (file: string, script: (request: ScriptRequest) => Reply): Promise<Engine> =>
  openEngine({
    database: file,
    models: [{ id: "s/one", provider: "scripted", contextWindow: 10_000_000, maxOutput: 4_000, script }],
    permissions: [{ action: "*", resource: "*", effect: "allow" }],
    tools: [
      {
        name: "noop",
        description: "A kilobyte.",
        input: { type: "object" },
        execute: () => "r".repeat(1_024),
      },
    ],
    compaction: { auto: false },
  })

/** Turns with a tool call and its result, then one compaction, compared with one read of the same events. Medians, warm. */
export const measureCompaction = async (
  turns: number,
  rounds: number,
): Promise<{ readonly ours: number; readonly read: number }> => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-compaction-"))
  const file = join(folder, "engine.sqlite")
  let calls = 0
  const engine = await open(file, (request) => {
    if (request.lastText.endsWith("Write the checkpoint now.")) return { text: "## Objective\n- x" }
    calls += 1
    return calls % 2 === 1 ? { tools: [{ name: "noop", input: { n: calls } }] } : { text: "t".repeat(400) }
  })
  const raw = new DatabaseSync(file)
  const select = raw.prepare(
    "select event.data from event join session on session.key = event.id / 2147483648 where session.id = ? order by event.id",
  )
  const times = { ours: [] as number[], read: [] as number[] }
  for (let round = 0; round < rounds; round += 1) {
    const { id: sessionID } = await engine.sessions.create({ location: { directory: folder } })
    for (let turn = 0; turn < turns; turn += 1) {
      await engine.sessions.prompt({ sessionID, prompt: { text: "p".repeat(200) } })
      await engine.sessions.wait(sessionID)
    }
    const startRead = performance.now()
    for (const row of select.iterate(sessionID)) JSON.parse(String(row["data"]))
    times.read.push(performance.now() - startRead)
    const startOurs = performance.now()
    await engine.sessions.compact(sessionID)
    times.ours.push(performance.now() - startOurs)
  }
  raw.close()
  await engine.close()
  rmSync(folder, { recursive: true, force: true })
  return { ours: median(times.ours.slice(1)), read: median(times.read.slice(1)) }
}

/** The share of a request's bytes with which the next one begins unchanged; the minimum over the session. */
export const measurePrefix = async (turns: number): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-prefix-"))
  const shares: number[] = []
  let before = ""
  let calls = 0
  const engine = await open(":memory:", (request) => {
    const body: { readonly prompt?: unknown } = Object(request.body)
    const now = JSON.stringify(body.prompt).slice(0, -1)
    if (before !== "") shares.push(commonPrefix(before, now) / before.length)
    before = now
    calls += 1
    return calls % 3 === 1 ? { tools: [{ name: "noop", input: { n: calls } }] } : { text: "fine" }
  })
  const { id: sessionID } = await engine.sessions.create({ location: { directory: folder } })
  for (let turn = 0; turn < turns; turn += 1) {
    await engine.sessions.prompt({ sessionID, prompt: { text: `question ${turn}` } })
    await engine.sessions.wait(sessionID)
  }
  await engine.close()
  rmSync(folder, { recursive: true, force: true })
  return Math.min(...shares)
}

const commonPrefix = (left: string, right: string): number => {
  let length = 0
  while (length < left.length && left.charCodeAt(length) === right.charCodeAt(length)) length += 1
  return length
}
