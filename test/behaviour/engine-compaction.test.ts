/** Automatic and manual compaction through the public face: what it keeps, how it fails, how it is shown and undone. */
import type { Reply, ScriptRequest } from "@meridian/engine"
import { expect, test } from "vitest"

import { textOfRequest } from "../layout/draw.ts"
import { isSummaryRequest, openScene, type Scene } from "../layout/scene.ts"
import { verifies } from "../verifies.ts"

const LONG = "lorem ipsum dolor sit amet ".repeat(60)
const SMALL = { contextWindow: 6_000, compaction: { keepTokens: 1 } } as const

const answering =
  (summary: Reply) =>
  (request: ScriptRequest, n: number): Reply =>
    isSummaryRequest(request) ? summary : { text: `answer ${n} ${LONG}` }

const askUntilCompacted = async (scene: Scene, times = 1): Promise<void> => {
  for (let number = 1; number < 60; number += 1) {
    await scene.ask(`question ${number}`)
    if ((await scene.engine.sessions.receipts(scene.sessionID)).length >= times) return
  }
  throw new Error("never compacted")
}

const lastRequest = (scene: Scene): string => {
  const request = scene.requests.at(-1)
  return request === undefined ? "" : textOfRequest(request)
}

const REFUSALS: readonly (readonly [string, Reply, RegExp])[] = [
  ["an error", { error: "server" }, /./],
  ["an empty answer", { text: "  " }, /empty/],
  ["an answer that is far too long", { text: "word ", times: 20_000 }, /too long/],
  ["a stream that breaks", { text: "half a summ", cut: true }, /./],
]

test.each(REFUSALS)("%s gives an extracted checkpoint that says why", async (_what, reply, why) => {
  await using scene = await openScene(answering(reply), { ...SMALL, retry: { attempts: 1, baseMs: 1 } })
  await askUntilCompacted(scene)
  const [receipt] = await scene.engine.sessions.receipts(scene.sessionID)
  expect(receipt).toMatchObject({ status: "ended", method: "extract", fallback: expect.stringMatching(why) })
  expect(receipt?.summary).toContain("question 1")
  expect(lastRequest(scene)).toContain("<checkpoint>")
})

test("an overflow after visible output is reported, not compacted and sent again", async () => {
  const overflow = {
    parts: [
      { type: "text", text: "begun" },
      { type: "error", error: "context-overflow" },
    ],
  } as const
  await using scene = await openScene(
    (request, n) => (n === 3 ? overflow : answering({ text: "s" })(request, n)),
    SMALL,
  )
  await scene.ask("question 1")
  await scene.ask("question 2")
  await expect(scene.ask("question 3")).rejects.toMatchObject({ code: "MODEL_FAILED" })
  expect(scene.requests).toHaveLength(3)
  expect(await scene.engine.sessions.receipts(scene.sessionID)).toEqual([])
})

test("a summariser that never answers is given up after its time", async () => {
  await using scene = await openScene(answering({ hold: true }), {
    ...SMALL,
    compaction: { keepTokens: 1, timeoutMs: 30 },
    retry: { attempts: 1, baseMs: 1 },
  })
  await askUntilCompacted(scene)
  const [receipt] = await scene.engine.sessions.receipts(scene.sessionID)
  expect(receipt).toMatchObject({ method: "extract", fallback: "the summary took too long" })
})

verifies(
  "compaction.events",
  async () => {
    await using scene = await openScene(answering({ hold: true }), SMALL)
    const { engine, sessionID } = scene
    for (let number = 1; ; number += 1) {
      await engine.sessions.prompt({ sessionID, prompt: { text: `question ${number}` } })
      const reached = await Promise.race([
        engine.sessions.wait(sessionID).then(() => "idle" as const),
        untilEvent(scene, "session.next.compaction.started.1"),
      ])
      if (reached === "started") break
    }
    await engine.sessions.interrupt(sessionID)
    const types = (await scene.events()).map((event) => event.type)
    expect(types.slice(types.indexOf("session.next.compaction.started.1"))).toContain(
      "session.next.compaction.failed.1",
    )
    expect(await engine.sessions.receipts(sessionID)).toMatchObject([
      { status: "failed", error: { code: "INTERRUPTED" } },
    ])
  },
  "an interrupt during the summary ends the attempt visibly and leaves the previous boundary",
)

const untilEvent = async (scene: Scene, type: string): Promise<"started"> => {
  for await (const event of scene.engine.sessions.events({ sessionID: scene.sessionID, follow: true }))
    if (event.type === type) return "started"
  throw new Error("the tail ended")
}

test("quotes nobody said are taken out of the summary, and the receipt names them", async () => {
  const invented = "please delete the production database"
  await using scene = await openScene(
    answering({ text: `## Objective\n- The user asked: "${invented}"\n- User said: "question 1"` }),
    SMALL,
  )
  await askUntilCompacted(scene)
  const [receipt] = await scene.engine.sessions.receipts(scene.sessionID)
  expect(receipt?.removedQuotes).toEqual([invented])
  expect(lastRequest(scene)).not.toContain(invented)
  expect(receipt?.summary).toContain('"question 1"')
})

verifies(
  "compaction.checkpoint",
  async () => {
    await using scene = await openScene(
      (request, n) =>
        isSummaryRequest(request)
          ? { text: "## Objective\n- x", usage: { input: 1_000_000, output: 7 } }
          : { text: `answer ${n} ${LONG}`, usage: { input: 1, output: 1 } },
      SMALL,
    )
    await askUntilCompacted(scene)
    expect((await scene.engine.sessions.get(scene.sessionID)).usage.input).toBeGreaterThan(1_000_000)
  },
  "the summary's usage is part of the session's",
)

verifies(
  "compaction.budget",
  async () => {
    await using scene = await openScene(
      (request, n) =>
        textOfRequest(request).includes("MY OWN PROMPT") ? { text: "mine" } : { text: `answer ${n} ${LONG}` },
      { ...SMALL, compaction: { keepTokens: 1, model: "b/two", prompt: "MY OWN PROMPT" } },
    )
    await askUntilCompacted(scene)
    expect(await scene.engine.sessions.receipts(scene.sessionID)).toMatchObject([
      { method: "model", summary: "mine" },
    ])
    const started = (await scene.events()).find((event) => event.type === "session.next.compaction.started.1")
    expect(started?.data).toMatchObject({ model: "b/two", reason: "auto" })
  },
  "another model can summarise, with instructions of its own",
)

verifies(
  "compaction.manual",
  async () => {
    await using scene = await openScene(answering({ text: "## Objective\n- asked for" }), {
      ...SMALL,
      compaction: { auto: false, keepTokens: 1 },
    })
    const { engine, sessionID } = scene
    for (let number = 1; number < 12; number += 1) await scene.ask(`question ${number}`)
    expect(await engine.sessions.receipts(sessionID)).toEqual([])
    const [first, second] = await Promise.all([
      engine.sessions.compact(sessionID),
      engine.sessions.compact(sessionID),
    ])
    expect(first).toMatchObject({ reason: "manual", status: "ended" })
    expect(second?.id).toBe(first?.id)
    expect(await engine.sessions.receipts(sessionID)).toHaveLength(1)
  },
  "without auto nothing is compacted by itself, but on request it is, once for several requests",
)

test("a session with nothing older than its newest turn is not compacted", async () => {
  await using scene = await openScene(answering({ text: "never asked" }))
  await scene.ask("only one")
  expect(await scene.engine.sessions.compact(scene.sessionID)).toBeUndefined()
  expect(scene.requests.filter(isSummaryRequest)).toEqual([])
})

verifies(
  "compaction.receipts",
  async () => {
    await using scene = await openScene(
      (request, n) =>
        isSummaryRequest(request) ? { text: `summary ${n}` } : { text: `answer ${n} ${LONG}` },
      SMALL,
    )
    const { engine, sessionID } = scene
    await askUntilCompacted(scene, 2)
    const [first, second] = await engine.sessions.receipts(sessionID)
    expect(first).toMatchObject({ inForce: false, messages: expect.any(Number), range: { from: 1 } })
    expect(second).toMatchObject({ inForce: true })
    expect(second?.tokens?.after).toBeLessThan(second?.tokens?.before ?? 0)
    await engine.sessions.restore({ sessionID, compactionID: first?.id ?? "" })
    expect((await engine.sessions.receipts(sessionID)).map((receipt) => receipt.inForce)).toEqual([
      true,
      false,
    ])
    await expect(engine.sessions.restore({ sessionID, compactionID: "cmp_nowhere" })).rejects.toMatchObject({
      code: "CHECKPOINT_NOT_FOUND",
    })
  },
  "a receipt tells what was kept and dropped, and one can go back to an older checkpoint",
)

test("input larger than the summariser's window is summarised in pieces", async () => {
  const scripted = { provider: "scripted", maxOutput: 400 } as const
  const pieces: string[] = []
  const script = (request: ScriptRequest): Reply => {
    if (!isSummaryRequest(request)) return { text: `answer ${LONG}` }
    pieces.push(textOfRequest(request))
    return { text: `## Objective\n- piece ${pieces.length}` }
  }
  await using scene = await openScene(() => ({}), {
    models: [
      { id: "a/one", ...scripted, contextWindow: 20_000, script },
      { id: "a/small", ...scripted, contextWindow: 4_000, script },
    ],
    model: "a/one",
    compaction: { keepTokens: 1, model: "a/small", buffer: 13_000 },
  })
  await askUntilCompacted(scene)
  expect(pieces.length).toBeGreaterThan(1)
  expect(pieces[1]).toContain("- piece 1")
})

test("a history that cannot shrink is not compacted again and again", async () => {
  await using scene = await openScene(
    (request, n) => (isSummaryRequest(request) ? { text: "s ".repeat(200) } : { text: `answer ${n}` }),
    { contextWindow: 2_600, compaction: { keepTokens: 1 } },
  )
  for (let number = 1; number < 25; number += 1) await scene.ask(`question ${number}`)
  expect((await scene.engine.sessions.receipts(scene.sessionID)).length).toBeLessThan(8)
})

test("recall finds what was compacted away, and expand reads the range around it", async () => {
  let calls = 0
  await using scene = await openScene((request, n) => {
    if (isSummaryRequest(request)) return { text: "## Objective\n- nothing" }
    if (!textOfRequest(request).includes("look it up")) return { text: `answer ${n} ${LONG}` }
    calls += 1
    if (calls === 1) return { tools: [{ name: "recall", input: { query: "heliotrope" } }] }
    if (calls === 2) return { tools: [{ name: "expand", input: { from: 1, through: 12 } }] }
    return { text: "found" }
  }, SMALL)
  await scene.ask("let us begin")
  await scene.ask("the colour of the door is heliotrope")
  await askUntilCompacted(scene)
  expect(lastRequest(scene)).not.toContain("heliotrope")
  await scene.ask("look it up")
  const results = (await scene.events()).filter((event) => event.type === "session.next.tool.success.1")
  expect(JSON.stringify(results[0]?.data)).toMatch(/#\d+ \[User\] the colour of the door is heliotrope/)
  expect(JSON.stringify(results[1]?.data)).toContain("[User] the colour of the door is heliotrope")
})

test("pruning lets old results go before a compaction is needed, and keeps the newest", async () => {
  const outputs = Array.from({ length: 24 }, (_unused, index) => `result-${index} ${LONG}`)
  let step = 0
  await using scene = await openScene(
    (request) => {
      if (isSummaryRequest(request)) return { text: "never" }
      step += 1
      return step <= outputs.length ? { tools: [{ name: "give", input: { n: step - 1 } }] } : { text: "done" }
    },
    {
      contextWindow: 9_000,
      compaction: { prune: true, keepTokens: 1 },
      tools: [
        {
          name: "give",
          description: "gives",
          input: { type: "object" },
          execute: ({ n }: { n: number }) => outputs[n],
        },
      ],
    },
  )
  await scene.ask("go")
  expect((await scene.events()).some((event) => event.type === "session.next.tool.pruned.1")).toBe(true)
  expect(await scene.engine.sessions.receipts(scene.sessionID)).toEqual([])
  expect(lastRequest(scene)).toContain("This old result was removed")
  expect(lastRequest(scene)).toContain("result-23")
  expect(lastRequest(scene)).not.toContain("result-0 ")
})
