/** Easily misread details: whose words they are, what a compaction kept, and losses that would go unnoticed. */
import { describe, expect, test } from "vitest"

import { readLines, told } from "../../../../test/import-scene.ts"

const kinds = (losses: readonly { readonly kind: string; readonly count: number }[]) =>
  Object.fromEntries(losses.map(({ kind, count }) => [kind, count]))

const PNG = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } }

const claude = (uuid: string, parentUuid: string | null, type: string, content: unknown, more = {}) => ({
  type,
  uuid,
  parentUuid,
  sessionId: "s1",
  message: { role: type, content, ...(type === "assistant" ? { id: `m-${uuid}`, model: "opus" } : {}) },
  ...more,
})

const queued = (uuid: string, parentUuid: string, attachment: object) => ({
  type: "attachment",
  uuid,
  parentUuid,
  sessionId: "s1",
  attachment: { type: "queued_command", ...attachment },
})

const say = (role: string, content: unknown, more = {}) => ({
  type: "response_item",
  payload: { type: "message", role, content, ...more },
})
const text = (words: string) => [{ type: "input_text", text: words }]
const META = { type: "session_meta", payload: { id: "t1", cwd: "/x" } }

describe("a compaction of Codex whose items have no id", () => {
  const compacted = (...kept: string[]) => ({
    type: "compacted",
    payload: {
      message: "Another language model started to solve this problem. Use this:\nshort",
      replacement_history: kept.map((words) => say("user", text(words)).payload),
    },
  })

  test("keeps matching prompts, the newest of equal ones, and not its own summary", async () => {
    const { pieces, losses } = await readLines([
      META,
      say("user", text("again")),
      say("assistant", text("one")),
      say("user", text("paint it")),
      say("user", text("again")),
      compacted("paint it", "again", "short"),
      say("user", text("more")),
    ])
    const prompts = pieces.flatMap((piece) => (piece.kind === "prompt" ? [piece.key] : []))
    const summary = pieces.find(({ kind }) => kind === "summary")
    expect(summary).toMatchObject({ keep: [prompts[1], prompts[2]] })
    expect(losses).toEqual([])
  })

  test("reports prompts it could not find, and gives no two prompts the same name", async () => {
    const { pieces, losses } = await readLines([
      META,
      say("user", text("first")),
      say("user", text("second")),
      compacted("second", "never said"),
      say("user", text("third")),
      say("user", text("fourth")),
      compacted("second", "fourth"),
    ])
    const keys = pieces.flatMap((piece) => (piece.kind === "prompt" ? [piece.key] : []))
    expect(new Set(keys).size).toBe(4)
    expect(pieces.findLast(({ kind }) => kind === "summary")).toMatchObject({ keep: [keys[1], keys[3]] })
    expect(losses.map((loss) => loss.text)).toEqual(["1 message kept beside a summary not found before it"])
  })
})

describe("a compaction of pi", () => {
  const entry = (id: string, parentId: string | null, more: object) => ({ id, parentId, ...more })
  const message = (role: string, content: unknown) => ({ type: "message", message: { role, content } })
  const lines = (first: string) => [
    { type: "session", id: "p1", cwd: "/x" },
    entry("1", null, message("user", "old")),
    entry("2", "1", { type: "model_change", provider: "a", modelId: "m" }),
    entry("3", "2", message("user", "kept")),
    entry("4", "3", message("assistant", [{ type: "text", text: "kept too" }])),
    entry("5", "4", { type: "compaction", summary: "short", firstKeptEntryId: first }),
    entry("6", "5", message("user", "next")),
  ]

  test("keeps the messages after an entry that is not a message itself", async () => {
    const { pieces, losses } = await readLines(lines("2"))
    expect(pieces.find(({ kind }) => kind === "summary")).toMatchObject({ keep: ["3", "4"] })
    expect(losses).toEqual([])
  })

  test("reports a missing entry", async () => {
    const { pieces, losses } = await readLines(lines("9"))
    expect(pieces.find(({ kind }) => kind === "summary")).toMatchObject({ keep: [] })
    expect(kinds(losses)).toEqual({ kept: 1 })
  })
})

describe("whose words they are in Claude Code", () => {
  test("text queued by the harness is a note, and text queued by a person is read with its pictures, even at the end", async () => {
    const { pieces, losses } = await readLines([
      claude("1", null, "user", "go"),
      claude("2", "1", "assistant", [{ type: "text", text: "on it" }]),
      queued("3", "2", { prompt: "task x is done", commandMode: "task-notification" }),
      queued("4", "3", { prompt: "be quick", commandMode: "prompt", isMeta: true }),
      queued("5", "4", { prompt: "and this", commandMode: "prompt" }),
      queued("6", "5", { prompt: [{ type: "text", text: "see" }, PNG] }),
    ])
    expect(told(pieces)).toEqual(["user: go", "opus: on it", "user: and this", "user: see +1"])
    expect(kinds(losses)).toEqual({ notes: 2 })
  })

  test("text beside a result is the person's, unless it is wrapped or marked as the harness's", async () => {
    const result = { type: "tool_result", tool_use_id: "t", content: "x" }
    const beside = (words: string) => [result, { type: "text", text: words }]
    const use = { type: "tool_use", id: "t", name: "Read", input: {} }
    const read = (content: unknown, more = {}) =>
      readLines([
        claude("1", null, "user", "go"),
        claude("2", "1", "assistant", [use]),
        claude("3", "2", "user", content, more),
      ])
    const typed = await read(beside("also the tests"))
    expect(told(typed.pieces)).toEqual(["user: go", "call t Read", "result t", "user: also the tests"])
    expect(typed.losses).toEqual([])
    for (const note of [
      await read(beside("<system-reminder>be careful</system-reminder>")),
      await read(beside("be careful"), { isMeta: true }),
    ]) {
      expect(told(note.pieces)).toEqual(["user: go", "call t Read", "result t"])
      expect(kinds(note.losses)).toEqual({ notes: 1 })
    }
  })
})

describe("plain text instead of blocks", () => {
  const LINES = {
    claude: [claude("1", null, "user", "ask"), claude("2", "1", "assistant", "answer")],
    codex: [META, say("user", "ask"), say("assistant", "answer")],
    pi: [
      { type: "session", id: "p1" },
      { type: "message", message: { role: "user", content: "ask" } },
      { type: "message", message: { role: "assistant", content: "answer" } },
    ],
  }
  test.each(["claude", "codex", "pi"] as const)("is read from %s", async (format) => {
    const { pieces, losses } = await readLines(LINES[format])
    expect(told(pieces)).toEqual(["user: ask", expect.stringMatching(/: answer$/)])
    expect(losses).toEqual([])
  })

  test("a session of blank words is empty", async () => {
    await expect(readLines([META, say("user", []), say("assistant", "")])).rejects.toMatchObject({
      code: "IMPORT_EMPTY",
    })
  })
})

test("lines of Claude Code that name no parent follow the line before them", async () => {
  const none = { parentUuid: undefined }
  const { pieces, losses } = await readLines([
    claude("1", null, "user", "one", none),
    claude("2", null, "assistant", "two", none),
    claude("3", null, "user", "three", none),
  ])
  expect(told(pieces)).toEqual(["user: one", "opus: two", "user: three"])
  expect(losses).toEqual([])
})

describe("bytes that are not UTF-8", () => {
  const broken = (whole: string): Buffer => Buffer.from(whole.replaceAll("é", "\u00FF"), "latin1")

  test("are reported by line, and an original replacement mark is no loss", async () => {
    const lines = ["pars\u00E9r", "caf\u00E9", "plain"].map((words, at) =>
      JSON.stringify(claude(String(at + 1), at === 0 ? null : String(at), "user", words)),
    )
    const { pieces, losses } = await readLines(broken(lines.join("\n")))
    expect(told(pieces)).toEqual(["user: pars\uFFFDr", "user: caf\uFFFD", "user: plain"])
    expect(losses.map((loss) => loss.text)).toEqual([
      "2 lines with bytes that are not UTF-8: each is shown as a replacement mark",
    ])
    expect((await readLines([claude("1", null, "user", "a \uFFFD b")])).losses).toEqual([])
  })

  test("also in a document", async () => {
    const message = (id: string, words: string) => ({
      info: { id, role: "user" },
      parts: [{ type: "text", text: words }],
    })
    const whole = { info: { id: "s" }, messages: [message("1", "\u00E9"), message("2", "\u00E9 \u00E9")] }
    const { losses } = await readLines(broken(JSON.stringify(whole, null, 2)))
    expect(kinds(losses)).toEqual({ mangled: 2 })
  })
})

describe("OpenCode", () => {
  const said = (id: string, words: string) => ({ id, type: "text", text: words })
  const document = (revert: object) =>
    JSON.stringify({
      info: { id: "s", revert },
      messages: [
        { info: { id: "m1", role: "user" }, parts: [said("p1", "ask")] },
        {
          info: { id: "m2", role: "assistant", modelID: "k" },
          parts: [said("p2", "stays"), said("p3", "taken back"), said("p4", "too"), { type: "step-finish" }],
        },
        { info: { id: "m3", role: "user" }, parts: [said("p5", "gone")] },
      ],
    })

  test("reverting a part removes only what follows it", async () => {
    const { pieces, losses } = await readLines(document({ messageID: "m2", partID: "p3" }))
    expect(told(pieces)).toEqual(["user: ask", "k: stays"])
    expect(kinds(losses)).toEqual({ reverted: 1, revertedParts: 2 })
  })

  test("a missing part leaves its message whole", async () => {
    const { pieces, losses } = await readLines(document({ messageID: "m2", partID: "p9" }))
    expect(told(pieces)).toEqual(["user: ask", "k: stays", "k: taken back", "k: too"])
    expect(kinds(losses)).toEqual({ reverted: 1 })
  })

  test.each([
    ["cut inside a text", -7, /: it is an OpenCode export that is cut short\.$/],
    ["cut between entries", -2, /: it is an OpenCode export that is cut short\.$/],
  ])("an export that is %s is refused as cut short", async (_name, end, cause) => {
    await expect(readLines(document({}).slice(0, end))).rejects.toMatchObject({
      code: "IMPORT_FORMAT_UNKNOWN",
      message: expect.stringMatching(cause),
    })
  })

  test("an export that is broken in the middle is refused with the place", async () => {
    await expect(readLines('{"info": {"id": "s"},\n "messages": [1 2]}')).rejects.toMatchObject({
      message: expect.stringMatching(/not valid JSON near line 2, column 17\.$/),
    })
    await expect(
      readLines('{"info": {"id": "s"},\n "messages": [x, "end of JSON input at position 1"]}'),
    ).rejects.toMatchObject({
      message: expect.stringMatching(/not valid JSON\.$/),
    })
  })
})

test("an export without its session is refused as such", async () => {
  await expect(readLines('{"messages": []}')).rejects.toMatchObject({
    code: "IMPORT_FORMAT_UNKNOWN",
    message: expect.stringMatching(/: its `info` does not say which session it is\.$/),
  })
})

test("an empty file is refused as empty", async () => {
  await expect(readLines("")).rejects.toMatchObject({
    code: "IMPORT_FORMAT_UNKNOWN",
    message: expect.stringMatching(/: it is empty\.$/),
  })
})

test("an item of a list of work is cut between characters", async () => {
  const todos = [{ content: `${"x".repeat(999)}\u{1F600}`, status: "pending" }]
  const use = { type: "tool_use", id: "t", name: "TodoWrite", input: { todos } }
  const { pieces } = await readLines([claude("1", null, "assistant", [use])])
  expect(pieces.find(({ kind }) => kind === "todo")).toMatchObject({ items: [{ content: "x".repeat(999) }] })
})
