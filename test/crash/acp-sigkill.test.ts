/**
 * SIGKILL of `meridian acp` at random moments: while it opens, replays, works, asks, runs a command, compacts. The client
 * is the official library. MERIDIAN_KILLS=200 kills more often; it prints its counts.
 */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"

import { methods, type SessionNotification } from "@agentclientprotocol/sdk"
import { openEngine, type Engine, type SessionEvent } from "@meridian/engine"
import type { Reply } from "@meridian/engine/script"
import { startScriptedProvider } from "@meridian/testkit"
import { expect, onTestFinished } from "vitest"

import { choose, startAcp, type AcpClient } from "../acp-scene.ts"
import { directScene, type DirectScene } from "../direct-scene.ts"
import { brokenLaws, integrityOf } from "../engine-laws.ts"
import { allEvents } from "../engine-scene.ts"
import { createRandom } from "../sim/random.ts"
import { verifies } from "../verifies.ts"

/* oxlint-disable node/no-process-env -- the switches of this test */
const kills = Number(process.env["MERIDIAN_KILLS"] ?? 12)
const seed = Number(process.env["MERIDIAN_SIM_SEED"] ?? 1)
/* oxlint-enable node/no-process-env */

const random = createRandom(seed)

/** Commands that announce their beginning and end, each with its own name; sometimes only words. */
const modelOf = (): (() => Reply) => {
  let count = 0
  return () => {
    count += 1
    const name = `sh/${count}`
    const command = `echo start ${name} >> marks; sleep 0.0${random.below(9)}; echo end ${name} >> marks`
    if (random.chance(0.55)) return { text: `I run ${name}.`, tools: [{ name: "bash", input: { command } }] }
    if (random.chance(0.3))
      return { tools: [{ name: "todo", input: { todos: [{ content: name, status: "in_progress" }] } }] }
    return { reasoning: "Hm.", text: `Done ${name}.` }
  }
}

/** How many updates an event leads to, written down here a second time by hand. */
const updatesOf = (event: SessionEvent): number => {
  if (event.type === "session.next.text.ended.1" || event.type === "session.next.reasoning.ended.1")
    return event.data.text === "" ? 0 : 1
  if (event.type === "session.next.permission.replied.1") return event.data.reply === "reject" ? 0 : 1
  return TOLD_ONCE.has(event.type) ? 1 : 0
}

const TOLD_ONCE: ReadonlySet<string> = new Set([
  "session.next.prompt.promoted.1",
  "session.next.tool.called.1",
  "session.next.tool.success.1",
  "session.next.tool.failed.1",
  "session.next.tool.resumed.1",
  "session.next.permission.asked.1",
  "session.next.todo.updated.1",
  "session.next.step.ended.2",
])

const seqsOf = (updates: readonly SessionNotification[]): readonly number[] =>
  updates.flatMap(({ _meta }) => (typeof _meta?.["meridian/seq"] === "number" ? [_meta["meridian/seq"]] : []))

const look = async <Result>(
  scene: DirectScene,
  use: (engine: Engine) => Promise<Result>,
): Promise<Result> => {
  const database = join(scene.project, ".meridian/engine.sqlite")
  const engine = await openEngine({ database, models: [], recover: false })
  try {
    return await use(engine)
  } finally {
    await engine.close()
  }
}

const eventsOf = (engine: Engine, session: string): Promise<readonly SessionEvent[]> =>
  allEvents(engine, session)

const counts = { loads: 0, replayed: 0, questionsAgain: 0, prompts: 0, commands: 0 }

/** Loads the session, and compares the updates with the log. */
const load = async (scene: DirectScene, client: AcpClient, session: string): Promise<void> => {
  const open = await look(scene, (engine) => engine.permissions.list({ sessionID: session }))
  await client.open(scene.project, session)
  const told = seqsOf(client.updates)
  const last = told.at(-1) ?? 0
  const events = await look(scene, (engine) => eventsOf(engine, session))
  const expected = events.flatMap((event) =>
    "seq" in event && event.seq <= last ? Array.from({ length: updatesOf(event) }, () => event.seq) : [],
  )
  expect(told).toEqual(expected)
  counts.loads += 1
  counts.replayed += told.length
  if (open.length === 0) return
  // Questions that were unanswered when the process died come again.
  await client.asked(1)
  counts.questionsAgain += open.length
}

verifies(
  "acp.kills",
  async () => {
    const provider = await startScriptedProvider({ respond: modelOf() })
    onTestFinished(provider.close)
    const scene = await directScene({ env: { ANTHROPIC_BASE_URL: `${provider.url}/v1` } })
    const start = (): Promise<AcpClient> =>
      startAcp({
        env: scene.env,
        cwd: scene.project,
        answer: async () => {
          await delay(random.below(120))
          return choose(random.chance(0.85) ? "once" : "reject")
        },
      })
    const complaints: string[] = []
    const first = await start()
    const session = await first.open(scene.project)
    await first.kill()

    for (let kill = 1; kill <= kills; kill += 1) {
      const client = await start()
      const moment = random.below(10)
      if (moment === 0) {
        const wish = { cwd: scene.project, mcpServers: [] }
        client.agent.request(methods.agent.session.new, wish).catch(() => undefined)
      } else if (moment === 1) client.open(scene.project, session).catch(() => undefined)
      else {
        await load(scene, client, session)
        const words = moment === 2 ? "/compact" : `Prompt ${kill}.`
        client.say(session, words).catch(() => undefined)
        counts.prompts += 1
      }
      // The moment is what this test is about.
      await delay(random.below(450))
      await client.kill()
      complaints.push(...client.complaints)
    }

    const last = await start()
    await load(scene, last, session)
    expect(["end_turn", "cancelled"]).toContain(await last.say(session, "The last."))
    expect(await last.end()).toBe(0)
    complaints.push(...last.complaints)
    const events = await look(scene, (engine) => eventsOf(engine, session))
    const file = join(scene.project, "marks")
    const marks = existsSync(file) ? readFileSync(file, "utf8").split("\n") : []
    const started = marks.filter((line) => line.startsWith("start "))
    counts.commands = started.length
    expect(started).toEqual([...new Set(started)])
    expect(complaints).toEqual([])
    expect(brokenLaws(events)).toEqual([])
    expect(integrityOf(join(scene.project, ".meridian/engine.sqlite"))).toBe("ok")
    process.stdout.write(`${kills} kills, seed ${seed}: ${JSON.stringify(counts)}\n`)
  },
  `${kills} kills`,
)
