/**
 * Goal: whatever sources, providers, users and crashes do, the model sees one baseline that is true to the log, at most one
 * checkpoint, the pending prompt word for word, and no native data from before a boundary. Method: seeded walks over a real
 * engine on a real file. Each request is checked, and the log at the end. MERIDIAN_SIM_SEED=n replays one walk;
 * MERIDIAN_SIM_WALKS=n makes more.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import type { Engine, EngineOptions, Reply, ScriptRequest } from "@meridian/engine"
import { expect, test } from "vitest"

import { openEngineWith } from "../../packages/engine/src/open-engine.ts"

const seeded = (seed: number) => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return { below: (bound: number) => Math.floor(next() * bound), chance: (share: number) => next() < share }
}

interface Message {
  readonly role: string
  readonly content: unknown
}

const LONG = "lorem ipsum dolor sit amet ".repeat(40)
const SESSION = "ses_walk"

const promptOf = (request: ScriptRequest): readonly Message[] => {
  const body: { readonly prompt?: readonly Message[] } = Object(request.body)
  return body.prompt ?? []
}

/** What must hold for every request of a turn. */
const checkRequest = (request: ScriptRequest, pending: string): void => {
  const prompt = promptOf(request)
  const texts = prompt.map((message) => JSON.stringify(message.content))
  expect(prompt.slice(0, 2).map((message) => message.role)).toEqual(["system", "system"])
  expect(texts.filter((text) => text.includes("Environment:\\n- working directory")).length).toBe(1)
  const checkpoint = texts.findIndex((text) => text.includes("<checkpoint>"))
  expect(texts.filter((text) => text.includes("<checkpoint>")).length).toBeLessThanOrEqual(1)
  const real = prompt.filter(
    (message) => message.role === "user" && !JSON.stringify(message.content).includes("<checkpoint>"),
  )
  expect(
    real.some((message) => JSON.stringify(message.content).includes(JSON.stringify(pending).slice(1, -1))),
  ).toBe(true)
  // The turn kept next to a checkpoint is older than it: its signatures belong to a prefix that is gone.
  if (checkpoint >= 0)
    expect(JSON.stringify(prompt[checkpoint + 2] ?? "").includes("crossing-signature")).toBe(false)
}

const walk = async (seed: number): Promise<void> => {
  const random = seeded(seed)
  const folder = mkdtempSync(join(tmpdir(), "meridian-walk-"))
  const source = { value: "v0" as string | null | undefined }
  const violations: unknown[] = []
  let pending = ""
  let turns = 0
  let dead = false
  const answer = (request: ScriptRequest): Reply => {
    if (request.lastText.endsWith("Write the checkpoint now."))
      return random.chance(0.3) ? { error: "server" } : { text: `## Objective\n- walk ${seed}` }
    turns += 1
    // An error thrown here would look like a provider's failure, and the test would miss it.
    try {
      checkRequest(request, pending)
    } catch (cause) {
      violations.push(cause)
    }
    if (random.chance(0.1)) return { error: "auth" }
    return {
      reasoning: { text: "thinking", signature: "crossing-signature" },
      text: `answer ${turns} ${LONG}`,
    }
  }
  const options: EngineOptions = {
    database: join(folder, "engine.sqlite"),
    models: [{ id: "a/one", provider: "scripted", contextWindow: 5_000, maxOutput: 300, script: answer }],
    permissions: [{ action: "*", resource: "*", effect: "allow" }],
    context: [
      {
        key: "test/value",
        observe: () => source.value,
        baseline: (value: string) => `Value is ${value}`,
        update: (before: string, value: string) => `Value went from ${before} to ${value}`,
        removed: (before: string) => `Value ${before} is gone`,
      },
    ],
    compaction: { keepTokens: 1 },
    limits: { leaseMs: 100 },
    retry: { attempts: 1, baseMs: 1 },
  }
  const tap = (): void => {
    if (dead) throw new Error("the process is dead")
  }
  const open = async (): Promise<Engine> => {
    dead = false
    const opened = await openEngineWith(options, { sqlite: { tap } })
    await opened.sessions.create({ id: SESSION, location: { directory: folder } })
    return opened
  }
  let engine = await open()
  const ask = async (): Promise<void> => {
    pending = `prompt ${random.below(1_000_000)} "quoted"`
    await engine.sessions.prompt({ sessionID: SESSION, prompt: { text: pending } })
    await engine.sessions.wait(SESSION).catch(() => undefined)
  }
  await ask()
  for (let step = 0; step < 14; step += 1) {
    switch (random.below(8)) {
      case 0:
        source.value = `v${random.below(4)}`
        break
      case 1:
        source.value = random.chance(0.5) ? undefined : null
        break
      case 2:
        await engine.sessions.compact(SESSION).catch(() => undefined)
        break
      case 3:
        await engine.sessions.interrupt(SESSION)
        break
      case 4: {
        dead = true
        await engine.close().catch(() => undefined)
        engine = await open()
        break
      }
      default:
        await ask()
    }
  }
  await checkLog(engine)
  await engine.close()
  if (violations.length > 0) throw violations[0]
  rmSync(folder, { recursive: true, force: true })
}

/** The log itself: no gap, every compaction ended, and the snapshot equals the fold of the events. */
const checkLog = async (engine: Engine): Promise<void> => {
  let seq = 0
  const open = new Set<string>()
  let told: string | undefined
  let snapshot: string | undefined
  for await (const event of engine.sessions.events({ sessionID: SESSION })) {
    if (event.type === "synced") continue
    expect(event.seq).toBe((seq += 1))
    if (event.type === "session.next.compaction.started.1") open.add(event.data.compactionID)
    if (event.type === "session.next.compaction.ended.2") open.delete(event.data.compactionID)
    if (event.type === "session.next.compaction.failed.1") open.delete(event.data.compactionID)
    if (event.type === "session.next.epoch.started.1") {
      told = /Value is (\S+)/.exec(event.data.baseline)?.[1]
      snapshot = valueOf(event.data.snapshot)
    }
    if (event.type === "session.next.context.updated.1") {
      const { text, changed, removed } = event.data
      told =
        /Value is (\S+)|Value went from \S+ to (\S+)/
          .exec(text)
          ?.slice(1)
          .find((value) => value !== undefined) ?? (text.includes("is gone") ? undefined : told)
      snapshot = removed.includes("test/value") ? undefined : (valueOf(changed) ?? snapshot)
    }
    expect(snapshot).toBe(told)
  }
  expect([...open]).toEqual([])
}

const valueOf = (snapshot: Readonly<Record<string, { readonly value: unknown }>>): string | undefined => {
  const value = snapshot["test/value"]?.value
  return typeof value === "string" ? value : undefined
}

const { MERIDIAN_SIM_SEED: only, MERIDIAN_SIM_WALKS: wanted = "120" } = process.env // oxlint-disable-line node/no-process-env -- how many walks, and which
const walks = Number(wanted)

test(
  `${only === undefined ? walks : 1} walks of context and compaction keep the laws`,
  { timeout: 600_000 },
  async () => {
    const seeds =
      only === undefined ? Array.from({ length: walks }, (_unused, index) => index + 1) : [Number(only)]
    for (const seed of seeds)
      await walk(seed).catch((cause: unknown) => {
        throw new Error(`replay with MERIDIAN_SIM_SEED=${seed}`, { cause })
      })
  },
)
