/** Exactly what the model sees: the baseline, what changed, what a compaction leaves, and what a switch and a move do. */
import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import type { EngineOptions, Reply, ScriptRequest } from "@meridian/engine"
import { expect, test } from "vitest"

import { verifies } from "../verifies.ts"
import { drawRequest, textOfRequest } from "./draw.ts"
import { isSummaryRequest, openScene, type Scene } from "./scene.ts"

const PERSONA = "test persona"
const agents = [{ name: "build", prompt: PERSONA }]

/** Only the embedder's own source, so that the pictures show nothing of this machine. */
const names = (scene: Scene): Readonly<Record<string, string>> => ({
  [baselineOf(scene)]: "<baseline>",
  [PERSONA]: "<agent>",
})

const baselineOf = (scene: Scene, at = 0): string => {
  const body: unknown = scene.requests[at]?.body
  const prompt: unknown = typeof body === "object" && body !== null && "prompt" in body ? body.prompt : []
  const second: unknown = Array.isArray(prompt) ? prompt[1] : undefined
  return typeof second === "object" && second !== null && "content" in second ? String(second.content) : ""
}

const draw = (scene: Scene, at: number, more: Readonly<Record<string, string>> = {}): string => {
  const request = scene.requests.at(at)
  return request === undefined ? "" : drawRequest(request, { ...more, ...names(scene) })
}

const said = (text: string) => (): Reply => ({ text })

verifies(
  "epoch.initial",
  async () => {
    await using scene = await openScene(said("hello"), { agents })
    await scene.ask("hi")
    expect(draw(scene, -1)).toMatchInlineSnapshot(`
    "00 system    <agent>
    01 system    <baseline>
    02 user      hi"
  `)
    expect(baselineOf(scene)).toContain("Environment:")
    expect(baselineOf(scene)).toContain("you are the model a/one")
    expect(baselineOf(scene)).toMatch(/Today is \d{4}-\d{2}-\d{2}\./)
  },
  "a fresh session shows the agent, one baseline and the prompt",
)

verifies(
  "epoch.reconcile",
  async () => {
    await using scene = await openScene(said("ok"), { agents })
    writeFileSync(join(scene.directory, "AGENTS.md"), "Use tabs.")
    await scene.ask("first")
    writeFileSync(join(scene.directory, "AGENTS.md"), "Use spaces, two of them.")
    await scene.ask("second")
    await scene.ask("third")
    expect(draw(scene, -1)).toMatchInlineSnapshot(`
    "00 system    <agent>
    01 system    <baseline>
    02 user      first
    03 assistant ok
    04 user      second
    05 system    The project instructions changed. The following is complete and supersedes all project instructions given before; anything else stays in force: /  ...
    06 assistant ok
    07 user      third"
  `)
  },
  "changed instructions are one chronological message; the baseline stays as it was",
)

verifies(
  "epoch.removal",
  async () => {
    await using scene = await openScene(said("ok"), { agents })
    const file = join(scene.directory, "AGENTS.md")
    writeFileSync(file, "Use tabs.")
    await scene.ask("first")
    unlinkSync(file)
    await scene.ask("second")
    expect(draw(scene, -1)).toContain(
      "system    The project instructions given before were removed and no longer apply.",
    )
  },
  "removing the last instruction is a revocation",
)

const valueSource = (value: { current: unknown }): NonNullable<EngineOptions["context"]>[number] => ({
  key: "test/weather",
  observe: () => value.current,
  baseline: (weather: string) => `Weather: ${weather}`,
  update: (before: string, now: string) => `Weather went from ${before} to ${now}`,
  removed: (before: string) => `No more weather (was ${before})`,
})

verifies(
  "epoch.unavailable-later",
  async () => {
    const weather = { current: "rain" as unknown }
    await using scene = await openScene(said("ok"), { agents, context: [valueSource(weather)] })
    await scene.ask("first")
    weather.current = undefined
    await scene.ask("second")
    weather.current = "sun"
    await scene.ask("third")
    weather.current = null
    await scene.ask("fourth")
    expect(draw(scene, -1)).toMatchInlineSnapshot(`
    "00 system    <agent>
    01 system    <baseline>
    02 user      first
    03 assistant ok
    04 user      second
    05 assistant ok
    06 user      third
    07 system    Weather went from rain to sun
    08 assistant ok
    09 user      fourth
    10 system    No more weather (was sun)"
  `)
    expect(baselineOf(scene)).toContain("Weather: rain")
  },
  "an unavailable source keeps what was said, and says nothing",
)

verifies(
  "epoch.unavailable-first",
  async () => {
    const weather = { current: undefined as unknown }
    await using scene = await openScene(said("ok"), { agents, context: [valueSource(weather)] })
    const { engine, sessionID } = scene
    await engine.sessions.prompt({ sessionID, prompt: { text: "hi" } })
    await expect(engine.sessions.wait(sessionID)).rejects.toMatchObject({ code: "CONTEXT_UNAVAILABLE" })
    expect([scene.requests.length, (await engine.sessions.inputs(sessionID)).length]).toEqual([0, 1])
    weather.current = "rain"
    for await (const event of engine.sessions.events({ sessionID, follow: true }))
      if (event.type === "session.next.step.ended.2") break
    expect([scene.requests.length, (await engine.sessions.inputs(sessionID)).length]).toEqual([1, 0])
  },
  "while the first context is unavailable the prompt stays pending, and it runs when the source is there",
)

const LONG = "lorem ipsum dolor sit amet ".repeat(60)
const summarising =
  (summary: (n: number) => string) =>
  (request: ScriptRequest, n: number): Reply =>
    isSummaryRequest(request) ? { text: summary(n) } : { text: `answer ${n} ${LONG}` }

const SMALL = { agents, contextWindow: 6_000, compaction: { keepTokens: 1 } } as const

const askUntilCompacted = async (scene: Scene, times: number): Promise<void> => {
  for (let number = 1; number < 60; number += 1) {
    await scene.ask(`question ${number}`)
    const events = await scene.events()
    if (events.filter((event) => event.type === "session.next.compaction.ended.2").length >= times) return
  }
  throw new Error("never compacted")
}

const checkpointNames = (scene: Scene): Readonly<Record<string, string>> => ({
  [baselineOf(scene, scene.requests.length - 1)]: "<fresh baseline>",
  [LONG]: "...",
})

verifies(
  "epoch.compaction",
  async () => {
    await using scene = await openScene(
      summarising((n) => `## Objective\n- summary of request ${n}`),
      SMALL,
    )
    await askUntilCompacted(scene, 1)
    const picture = draw(scene, -1, checkpointNames(scene))
    expect(picture.replaceAll(/\d+ to \d+/g, "A to B").replaceAll(/(question|answer|request) \d+/g, "$1 N"))
      .toMatchInlineSnapshot(`
      "00 system    <agent>
      01 system    <fresh baseline>
      02 user      <checkpoint> / The conversation before this point was compacted. Events A to B are kept in full: search them with the tool recall, read them with ...
      03 user      question N
      04 assistant answer N ...
      05 user      question N"
    `)
    expect(baselineOf(scene, scene.requests.length - 1)).toContain("## Stage-Aware Continuation")
  },
  "a compaction leaves a fresh baseline, one checkpoint, the newest turn and the pending prompt",
)

verifies(
  "compaction.rolling",
  async () => {
    await using scene = await openScene(
      summarising((n) => `## Objective\n- summary of request ${n}`),
      SMALL,
    )
    await askUntilCompacted(scene, 2)
    const summaries = scene.requests.filter(isSummaryRequest).map(textOfRequest)
    expect(summaries[1]).toContain("<previous-checkpoint>")
    expect(summaries[1]).toContain("summary of request")
    expect(draw(scene, -1).match(/<checkpoint>/g)).toHaveLength(1)
  },
  "a second compaction updates the first summary instead of summarising it again",
)

verifies(
  "compaction.overflow",
  async () => {
    let overflows = 0
    await using scene = await openScene(
      (request, n) => {
        if (isSummaryRequest(request)) return { text: "## Objective\n- go on" }
        if (textOfRequest(request).includes("the large one") && overflows++ === 0)
          return { error: "context-overflow" }
        return { text: `answer ${n}` }
      },
      { agents },
    )
    await scene.ask("one")
    await scene.ask("two")
    await scene.ask("the large one")
    expect(draw(scene, -1, { [baselineOf(scene, scene.requests.length - 1)]: "<fresh baseline>" })).toMatch(
      /^00 system {4}<agent>\n01 system {4}<fresh baseline>\n02 user {6}<checkpoint>.*\n03 user {6}two\n04 assistant answer 2\n05 user {6}the large one$/,
    )
    const types = (await scene.events()).map((event) => event.type)
    expect(types.filter((type) => type.includes("compaction"))).toEqual([
      "session.next.compaction.started.1",
      "session.next.compaction.ended.2",
    ])
  },
  "a request the provider finds too large is compacted once and sent once more",
)

test("a second overflow is the ordinary failure: no loop, no replay", async () => {
  let asked = 0
  await using scene = await openScene(
    (request) => {
      if (isSummaryRequest(request)) return { text: "## Objective\n- go on" }
      asked += 1
      return asked > 2 ? { error: "context-overflow" } : { text: "fine" }
    },
    { agents },
  )
  await scene.ask("one")
  await scene.ask("two")
  await expect(scene.ask("three")).rejects.toMatchObject({ code: "MODEL_FAILED" })
  expect(asked).toBe(4)
})

verifies(
  "epoch.switch",
  async () => {
    await using scene = await openScene(
      (_request, n) =>
        n === 1 ? { reasoning: { text: "think", signature: "sig" }, text: "one" } : { text: "two" },
      { agents },
    )
    await scene.ask("first")
    await scene.engine.sessions.switchModel({ sessionID: scene.sessionID, model: "b/two" })
    await scene.ask("second")
    const picture = draw(scene, -1)
    expect(picture).toContain("03 assistant think | one")
    expect(picture).toContain("05 system    The environment changed.")
  },
  "after a model switch visible reasoning is ordinary text and the new model is told who it is",
)

verifies(
  "epoch.move",
  async () => {
    await using scene = await openScene(said("ok"), { agents })
    writeFileSync(join(scene.directory, "AGENTS.md"), "Rules of the first place.")
    await scene.ask("first")
    const elsewhere = mkdtempSync(join(tmpdir(), "meridian-elsewhere-"))
    writeFileSync(join(elsewhere, "AGENTS.md"), "Rules of the second place.")
    await scene.engine.sessions.move({ sessionID: scene.sessionID, location: { directory: elsewhere } })
    await scene.ask("second")
    rmSync(elsewhere, { recursive: true })
    const last = scene.requests.at(-1)
    expect(last === undefined ? "" : textOfRequest(last)).not.toContain("Rules of the first place.")
    expect(baselineOf(scene, scene.requests.length - 1)).toContain("Rules of the second place.")
  },
  "a move clears the epoch: the destination gets a complete baseline of its own",
)
