/** A foreign conversation continues here: it is searched, compacted, forked and continued like any other. */
import { DatabaseSync } from "node:sqlite"

import type { ImportPiece } from "@meridian/engine"
import type { Json } from "@meridian/protocol"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"

import { brokenLaws, rebuiltDifferently } from "../engine-laws.ts"
import { createMachine } from "../engine-life.ts"
import {
  allEvents,
  allMessages,
  codeOf,
  conversation,
  openEngineScene,
  short,
  shown,
} from "../engine-scene.ts"
import { importFile, sessionFile } from "../import-scene.ts"
import { verifies } from "../verifies.ts"

const SOURCE = { format: "claude", id: "s1", digest: "d1" }
const PICTURE = { mediaType: "image/png", base64: "iVBORw0KGgo=" }
const OF = { turn: "1", model: "opus" } as const

const FORMATS = ["claude", "codex", "opencode", "pi"] as const

describe.each(FORMATS)("a session of %s", (format) => {
  verifies(
    "import.prompted",
    async () => {
      await using scene = await openEngineScene()
      const { session, created, counts } = await importFile(
        scene.engine,
        sessionFile(format),
        scene.directory,
      )
      expect([created, session.status, counts.tools]).toEqual([true, "idle", 2])
      const events = await allEvents(scene.engine, session.id)
      expect(events.filter(({ type }) => type === "session.next.prompted.1").length).toBe(counts.prompts)
      expect(events.map(({ type }) => type)).not.toContain("session.next.prompt.admitted.1")
      expect(brokenLaws(events)).toEqual([])
      expect(await scene.engine.sessions.inputs(session.id)).toEqual([])
      await scene.reopen()
      expect(rebuiltDifferently(scene.file)).toEqual([])
    },
    `${format}: visible prompts are Prompted events, and the log keeps its laws`,
  )

  test("shows its messages, its compaction is in force, and its words are found", async () => {
    await using scene = await openEngineScene([
      { tools: [{ name: "recall", input: { query: "kumquat" } }] },
      { text: "found" },
    ])
    const { engine } = scene
    const { session } = await importFile(engine, sessionFile(format), scene.directory)
    const said = await conversation(engine, session.id)
    expect(said).toEqual(
      expect.arrayContaining(["user: Read the README.", "user: And now the kumquat?", "user: Go on."]),
    )
    expect(await engine.sessions.receipts(session.id)).toMatchObject([{ status: "ended", inForce: true }])
    await engine.sessions.prompt({ sessionID: session.id, prompt: { text: "What about that fruit?" } })
    await engine.sessions.wait(session.id)
    const request = shown(scene.requests[0])
    expect(request[0]).toContain("<checkpoint>")
    expect(request.at(-1)).toBe("user: What about that fruit?")
    expect(shown(scene.requests[1]).at(-1)).toMatch(/^result: #\d+ .*kumquat/)
  })

  test("is compacted again, and forked", async () => {
    await using scene = await openEngineScene([{ text: "an answer" }, { text: "## Objective\n- the lab" }], {
      compaction: { keepTokens: 1 },
    })
    const { engine } = scene
    const { session } = await importFile(engine, sessionFile(format), scene.directory)
    await engine.sessions.prompt({ sessionID: session.id, prompt: { text: "One more." } })
    await engine.sessions.wait(session.id)
    expect(await engine.sessions.compact(session.id)).toMatchObject({ status: "ended", method: "model" })
    expect((await engine.sessions.receipts(session.id)).map(({ inForce }) => inForce)).toEqual([false, true])
    const fork = await engine.sessions.fork({ sessionID: session.id })
    const [mine, theirs] = [await allMessages(engine, session.id), await allMessages(engine, fork.id)]
    expect(theirs.map(({ type, seq }) => [type, seq])).toEqual(mine.map(({ type, seq }) => [type, seq]))
    await engine.sessions.restore({ sessionID: session.id })
    await engine.sessions.prompt({ sessionID: session.id, prompt: { text: "All of it?" } })
    await engine.sessions.wait(session.id)
    expect(shown(scene.requests.at(-1))[0]).toBe("user: Read the README.")
  })
})

test("messages a compaction kept stay messages behind its checkpoint", async () => {
  await using scene = await openEngineScene()
  const seen = async (format: "claude" | "codex" | "pi") => {
    const { session } = await importFile(scene.engine, sessionFile(format), scene.directory)
    await scene.engine.sessions.run(session.id)
    return shown(scene.requests.at(-1)).slice(1)
  }
  expect(await seen("claude")).toEqual([
    "assistant: A second answer.",
    "user: Go on.",
    "assistant: After the compaction.",
  ])
  expect(await seen("codex")).toEqual([
    "user: Read the README.",
    "user: And now the kumquat?",
    "user: Go on.",
    "assistant: After the compaction.",
  ])
  expect(await seen("pi")).toEqual([
    "user: And now the kumquat?",
    "assistant: A second answer.",
    "user: ! git status\nclean",
    "user: Go on.",
    "file",
    "assistant: After the compaction.",
  ])
})

verifies(
  "import.again",
  async () => {
    await using scene = await openEngineScene()
    const { sessions } = scene.engine
    const input = {
      location: { directory: scene.directory },
      source: SOURCE,
      history: [{ kind: "prompt", prompt: { text: "hello" } }] satisfies ImportPiece[],
    }
    const first = await sessions.import(input)
    expect(first.session.id).toBe("ses_claude_s1")
    await sessions.prompt({ sessionID: first.session.id, prompt: { text: "went on here" } })
    await sessions.wait(first.session.id)
    const now = await sessions.get(first.session.id)
    expect(await sessions.import(input)).toEqual({ session: now, created: false, counts: first.counts })
    const grown = { ...input, source: { ...SOURCE, digest: "d2" } }
    expect(await codeOf(sessions.import(grown))).toBe("IMPORT_CHANGED")
    expect((await sessions.import({ ...grown, id: "ses_beside" })).created).toBe(true)
    expect(await codeOf(sessions.import({ ...input, id: scene.session.id }))).toBe("SESSION_EXISTS")
    const both = await Promise.all([1, 2].map(() => sessions.import({ ...input, id: "ses_both" })))
    expect(both.filter(({ created }) => created)).toHaveLength(1)
  },
  "the same source gives the same session, a changed one is refused",
)

test("files in hand and the list of work survive the next compaction", async () => {
  await using scene = await openEngineScene([{ text: "ok" }, { text: "## Objective\n- go on" }], {
    compaction: { keepTokens: 1 },
  })
  const { engine, directory } = scene
  const { session } = await engine.sessions.import({
    location: { directory },
    source: SOURCE,
    history: [
      { kind: "prompt", prompt: { text: "Mend the parser." } },
      { kind: "call", ...OF, callID: "a", tool: "Edit", input: { file_path: "src/parser.ts" } },
      { kind: "todo", items: [{ content: "write the test", status: "pending" }] },
      { kind: "result", callID: "a", content: [] },
      { kind: "text", turn: "2", text: "Mended." },
    ],
  })
  await engine.sessions.prompt({ sessionID: session.id, prompt: { text: "Go on." } })
  await engine.sessions.wait(session.id)
  const receipt = await engine.sessions.compact(session.id)
  const facts = receipt?.facts?.map(({ kind, text: said }) => `${kind}: ${said}`)
  expect(facts).toEqual(expect.arrayContaining(["file: src/parser.ts", "todo: write the test"]))
})

test("every call has one outcome, whatever the source has", async () => {
  await using scene = await openEngineScene()
  const history: readonly ImportPiece[] = [
    { kind: "result", callID: "before", content: [] },
    { kind: "prompt", time: 1_000, prompt: { text: "go" } },
    { kind: "call", ...OF, callID: "a", tool: "bash", input: { command: "ls" } },
    { kind: "call", ...OF, callID: "a", tool: "mcp: strange name!", input: [1] },
    { kind: "call", ...OF, callID: "b", tool: "", raw: "{broken" },
    { kind: "result", callID: "a", content: [{ type: "text", text: "one" }] },
    { kind: "result", callID: "b", content: [], failed: true },
    { kind: "result", callID: "b", content: [] },
    { kind: "text", turn: "2", text: "next" },
    { kind: "result", callID: "a", content: [] },
    { kind: "prompt", prompt: { text: "" } },
    { kind: "call", turn: "3", callID: "c", tool: "read" },
  ]
  const { session, counts } = await scene.engine.sessions.import({
    location: { directory: scene.directory },
    source: SOURCE,
    history,
  })
  expect(counts).toMatchObject({ prompts: 1, turns: 3, tools: 4, unanswered: 2, strayResults: 3 })
  expect(session.status).toBe("interrupted")
  expect(brokenLaws(await allEvents(scene.engine, session.id))).toEqual([])
  const [, answer] = await allMessages(scene.engine, session.id)
  expect(answer).toMatchObject({
    content: [
      { callID: "a", tool: "bash", state: { status: "completed" } },
      { callID: "a_2", tool: "mcp__strange_name_", raw: "[1]", state: { error: { code: "interrupted" } } },
      { callID: "b", tool: "tool", raw: "{broken", state: { error: { code: "failed" } } },
    ],
  })
})

test("long texts are cut and too many files dropped, at the bound and not before", async () => {
  await using scene = await openEngineScene()
  const file = { mediaType: "image/png", base64: "AAAA" }
  const result = (length: number): ImportPiece[] => [
    { kind: "call", turn: `t${length}`, callID: `c${length}`, tool: "bash" },
    { kind: "result", callID: `c${length}`, content: [{ type: "text", text: "x".repeat(length) }] },
  ]
  const imported = (id: string, history: readonly ImportPiece[]) =>
    scene.engine.sessions.import({ id, location: { directory: scene.directory }, source: SOURCE, history })
  const most = 256 * 1024
  const prompt = (files: number): ImportPiece => ({
    kind: "prompt",
    prompt: { text: "look", files: Array.from({ length: files }, () => file) },
  })
  expect((await imported("ses_a", [prompt(32), ...result(most)])).counts).toMatchObject({
    cutTexts: 0,
    droppedFiles: 0,
  })
  expect((await imported("ses_b", [prompt(33), ...result(most + 1)])).counts).toMatchObject({
    cutTexts: 1,
    droppedFiles: 1,
  })
})

test("a cut leaves whole characters, and no text has half of one", async () => {
  await using scene = await openEngineScene()
  const HALF = "\uD83D"
  const text = (length: number): string => `${"x".repeat(length - 1)}\u{1F600}`
  const { session, counts } = await scene.engine.sessions.import({
    location: { directory: scene.directory },
    source: { ...SOURCE, id: text(500) },
    history: [
      { kind: "prompt", prompt: { text: `go ${HALF}`, files: [{ ...PICTURE, name: text(200) }] } },
      { kind: "text", ...OF, model: text(200), text: text(1024 * 1024) },
      { kind: "reasoning", ...OF, text: HALF },
      { kind: "call", ...OF, callID: text(200), tool: "bash", input: { [HALF]: [`a ${HALF}`, "\u{1F600}"] } },
      { kind: "call", ...OF, callID: "raw", tool: "bash", raw: HALF },
      { kind: "result", callID: text(200), content: [{ type: "text", text: text(256 * 1024) }] },
      { kind: "result", callID: "raw", content: [{ type: "text", text: HALF }], failed: true },
      { kind: "todo", items: [{ content: HALF, status: "pending" }] },
      { kind: "failed", ...OF, message: text(4_000) },
      { kind: "summary", text: HALF },
    ],
  })
  expect(counts).toMatchObject({ cutTexts: 3, mendedTexts: 6, deepInputs: 0 })
  const events = await allEvents(scene.engine, session.id)
  // JSON writes half a character as an escape, and a whole one as itself.
  expect(JSON.stringify(events)).not.toMatch(/\\ud[89a-f]/)
  expect(events.find(({ type }) => type === "session.next.tool.called.1")).toMatchObject({
    data: { input: { "\uFFFD": ["a \uFFFD", "\u{1F600}"] } },
  })
})

test("an input that is nested too deep stands as text, and every event can be read everywhere", async () => {
  await using scene = await openEngineScene()
  const nested = (levels: number): Json => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`)
  const call = (levels: number): readonly ImportPiece[] => [
    { kind: "call", turn: `t${levels}`, callID: `c${levels}`, tool: "bash", input: nested(levels) },
    { kind: "result", callID: `c${levels}`, content: [] },
  ]
  const { session, counts } = await scene.engine.sessions.import({
    location: { directory: scene.directory },
    source: SOURCE,
    history: [{ kind: "prompt", prompt: { text: "go" } }, ...[500, 501, 3_000, 20_000].flatMap(call)],
  })
  expect(counts).toMatchObject({ tools: 4, deepInputs: 3, cutTexts: 0 })
  const given = (await allEvents(scene.engine, session.id)).flatMap((event) =>
    event.type === "session.next.tool.called.1" ? [event.data] : [],
  )
  expect(given.map(({ input, raw }) => [typeof input, raw?.length])).toEqual([
    ["object", undefined],
    ["undefined", 501 * 6 + 1],
    ["undefined", 3_000 * 6 + 1],
    ["undefined", 20_000 * 6 + 1],
  ])
  await scene.engine.sessions.prompt({ sessionID: session.id, prompt: { text: "and now?" } })
  await scene.engine.sessions.wait(session.id)
  expect(shown(scene.requests.at(-1)).at(-1)).toBe("user: and now?")
  const rows = new DatabaseSync(scene.file, { readOnly: true })
  expect(rows.prepare("select count(*) as n from event where not json_valid(data)").get()).toEqual({ n: 0 })
  rows.close()
})

test("a picture in a failed result is counted", async () => {
  await using scene = await openEngineScene()
  const content = [
    { type: "text", text: "bad" },
    { type: "media", ...PICTURE },
  ] as const
  const { counts } = await scene.engine.sessions.import({
    location: { directory: scene.directory },
    source: SOURCE,
    history: [
      { kind: "call", ...OF, callID: "a", tool: "bash" },
      { kind: "result", callID: "a", content, failed: true },
      { kind: "call", ...OF, callID: "b", tool: "bash" },
      { kind: "result", callID: "b", content },
    ],
  })
  expect(counts).toMatchObject({ failedFiles: 1, droppedFiles: 0 })
})

test("what was said while calls ran stands behind all of their results", async () => {
  await using scene = await openEngineScene()
  const { session, counts } = await scene.engine.sessions.import({
    location: { directory: scene.directory },
    source: SOURCE,
    history: [
      { kind: "prompt", time: 1, prompt: { text: "go" } },
      { kind: "call", time: 2, ...OF, callID: "a", tool: "bash" },
      { kind: "call", time: 2, ...OF, callID: "b", tool: "bash" },
      { kind: "result", time: 3, callID: "a", content: [] },
      { kind: "prompt", time: 3, prompt: { text: "also the tests" } },
      { kind: "result", time: 4, callID: "b", content: [] },
      { kind: "text", time: 5, turn: "2", text: "done" },
      { kind: "call", time: 6, turn: "2", callID: "c", tool: "bash" },
      { kind: "prompt", time: 7, prompt: { text: "stop" } },
      { kind: "prompt", time: 8, prompt: { text: "really" } },
    ],
  })
  expect(counts).toMatchObject({ prompts: 4, unanswered: 1, strayResults: 0 })
  const events = await allEvents(scene.engine, session.id)
  expect(events.slice(1).map(({ type, time }) => `${short(type)} ${time}`)).toEqual([
    "prompted 1",
    "step.started 2",
    "tool.called 2",
    "tool.called 2",
    "tool.success 3",
    "tool.success 4",
    "step.ended 4",
    "prompted 4",
    "step.started 5",
    "text.ended 5",
    "tool.called 6",
    "step.ended 7",
    "tool.failed 7",
    "prompted 7",
    "prompted 8",
  ])
})

test("a history that fails while it is read leaves nothing behind, and says what it said", async () => {
  await using scene = await openEngineScene()
  const { sessions } = scene.engine
  const history = async function* (): AsyncIterable<ImportPiece> {
    for (let n = 0; n < 2_000; n += 1) yield { kind: "prompt", prompt: { text: `prompt ${n}` } }
    throw new Error("the disk went away")
  }
  const input = { location: { directory: scene.directory }, source: SOURCE }
  await expect(sessions.import({ ...input, history: history() })).rejects.toThrow("the disk went away")
  expect((await sessions.list()).items.map(({ id }) => id)).toEqual([scene.session.id])
  const stopped = AbortSignal.abort(new Error("enough"))
  await expect(sessions.import({ ...input, history: [] }, { signal: stopped })).rejects.toThrow("enough")
  const controller = new AbortController()
  const slow = async function* (): AsyncIterable<ImportPiece> {
    for (let n = 0; ; n += 1) {
      if (n === 1_000) controller.abort(new Error("enough"))
      yield { kind: "prompt", prompt: { text: `prompt ${n}` } }
    }
  }
  await expect(sessions.import({ ...input, history: slow() }, { signal: controller.signal })).rejects.toThrow(
    "enough",
  )
  expect((await sessions.list()).items).toHaveLength(1)
  await scene.reopen()
  expect(rebuiltDifferently(scene.file)).toEqual([])
})

test("an engine that is closed while it imports keeps nothing of it", async () => {
  await using scene = await openEngineScene()
  const { engine } = scene
  let closed: Promise<void> | undefined
  const history = async function* (): AsyncIterable<ImportPiece> {
    for (let n = 0; n < 3_000; n += 1) {
      if (n === 1_500) closed = engine.close()
      yield { kind: "prompt", prompt: { text: `prompt ${n}` } }
    }
  }
  const input = { location: { directory: scene.directory }, source: SOURCE, history: history() }
  expect(await codeOf(engine.sessions.import(input))).toBe("ENGINE_CLOSED")
  await closed
  const next = await scene.reopen()
  expect((await next.sessions.list()).items.map(({ id }) => id)).toEqual([scene.session.id])
  const raw = new DatabaseSync(scene.file, { readOnly: true })
  expect(raw.prepare("select count(*) as count from event").get()).toEqual({ count: 1 })
  raw.close()
})

test("bad requests are typed failures", async () => {
  await using scene = await openEngineScene()
  const { sessions } = scene.engine
  const good = { location: { directory: scene.directory }, source: SOURCE, history: [] }
  const bad = [
    { ...good, id: "a b" },
    { ...good, source: { ...SOURCE, format: "A b" } },
    { ...good, source: { ...SOURCE, digest: "" } },
    { ...good, location: { directory: "relative" } },
    { ...good, began: -1 },
    { ...good, began: 9e15 },
  ]
  const codes = await Promise.all(bad.map((input) => codeOf(sessions.import(input))))
  expect(new Set(codes)).toEqual(new Set(["INVALID_INPUT"]))
  // @ts-expect-error a caller without types
  expect(await codeOf(sessions.import({ ...good, history: 5 }))).toBe("INVALID_INPUT")
})

test("a process that dies anywhere in an import leaves all of it or nothing", async () => {
  await using scene = await openEngineScene()
  await scene.engine.close()
  using machine = createMachine()
  const history: readonly ImportPiece[] = Array.from({ length: 1_200 }, (_, n) => ({
    kind: "prompt",
    prompt: { text: `prompt ${n}` },
  }))
  const seen = new Set<number>()
  for (let dieAt = 1; dieAt < 40; dieAt += 1) {
    const id = `ses_${dieAt}`
    const life = machine.start(dieAt)
    await life
      .open(scene.options)
      .then((engine) =>
        engine.sessions.import({ id, location: { directory: scene.directory }, source: SOURCE, history }),
      )
      .catch((cause: unknown) => {
        if (!life.isDead()) throw cause
      })
    life.die()
    const next = await machine.start().open(scene.options)
    const found = (await next.sessions.list({ limit: 200 })).items.find((session) => session.id === id)
    seen.add(found?.seq ?? 0)
    await next.close()
  }
  expect([...seen].toSorted((a, b) => a - b)).toEqual([0, 1_201])
  expect(rebuiltDifferently(scene.file)).toEqual([])
})

const text = fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom("a", "b", "1", "2"))
const time = fc.option(fc.oneof(fc.integer(), fc.double()), { nil: undefined })
const ofTurn = { turn: fc.constantFrom("1", "2", "3"), key: text, model: text, agent: text }
const number = fc.double()
const usage = fc.record({
  input: number,
  output: number,
  reasoning: number,
  cacheRead: number,
  cacheWrite: number,
})
const piece = fc.oneof(
  fc.record({ kind: fc.constant("prompt" as const), key: text, prompt: fc.record({ text }) }),
  fc.record({ kind: fc.constantFrom("text" as const, "reasoning" as const), ...ofTurn, text }),
  fc.record({
    kind: fc.constant("call" as const),
    ...ofTurn,
    callID: text,
    tool: text,
    input: fc.jsonValue(),
  }),
  fc.record({
    kind: fc.constant("result" as const),
    callID: text,
    content: fc.array(fc.record({ type: fc.constant("text" as const), text }), { maxLength: 2 }),
    failed: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("usage" as const), turn: ofTurn.turn, usage, cost: number }),
  fc.record({ kind: fc.constant("failed" as const), ...ofTurn, message: text }),
  fc.record({ kind: fc.constant("summary" as const), text, keep: fc.array(text) }),
)

test("any pieces in any order become a log that keeps the laws and is derived the same again", async () => {
  await using scene = await openEngineScene()
  let n = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(piece, time), { maxLength: 40 }), async (pieces) => {
      const { session } = await scene.engine.sessions.import({
        id: `ses_any_${(n += 1)}`,
        location: { directory: scene.directory },
        source: SOURCE,
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- arbitrary JSON is JSON
        history: pieces.map(([made, at]) => (at === undefined ? made : { ...made, time: at }) as ImportPiece),
      })
      expect(brokenLaws(await allEvents(scene.engine, session.id))).toEqual([])
      await scene.engine.sessions.fork({ sessionID: session.id })
    }),
    { numRuns: 150 },
  )
  await scene.reopen()
  expect(rebuiltDifferently(scene.file)).toEqual([])
})

test.each([
  ["nothing", undefined, "A piece of the history must be an object, not absent."],
  [
    "a kind nobody knows",
    { kind: "song", text: "la" },
    '`kind` must be one of prompt, text, reasoning, call, result, todo, usage, failed, summary, not "song".',
  ],
  ["a prompt without its words", { kind: "prompt" }, "`prompt` is missing."],
  [
    "a result that is no list",
    { kind: "result", callID: "1", content: "x" },
    "`content` must be a list, not text.",
  ],
])("a piece that is %s is refused in words, and no session comes of it", async (_what, wrong, words) => {
  await using scene = await openEngineScene()
  const { sessions } = scene.engine
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a program without types may send
  const history = [{ kind: "prompt", prompt: { text: "hello" } }, wrong] as ImportPiece[]
  const imported = sessions.import({ location: { directory: scene.directory }, source: SOURCE, history })
  await expect(imported).rejects.toMatchObject({ code: "INVALID_INPUT", message: words })
  expect((await sessions.list()).items.map(({ id }) => id)).toEqual([scene.session.id])
})
