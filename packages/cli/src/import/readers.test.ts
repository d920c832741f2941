/** What each reader makes of a file: the active conversation, and every loss by its name. */
import { describe, expect, test } from "vitest"

import { readLines, readPieces, sessionFile, told } from "../../../../test/import-scene.ts"

const kinds = (losses: readonly { readonly kind: string; readonly count: number }[]) =>
  Object.fromEntries(losses.map(({ kind, count }) => [kind, count]))

const SPENT = { input: 1200, output: 7, reasoning: 0, cacheRead: 300, cacheWrite: 0 }

describe("files the programs wrote", () => {
  test("Claude Code", async () => {
    const { file, pieces, losses } = await readPieces(sessionFile("claude"))
    expect(file).toMatchObject({
      format: "claude",
      about: {
        id: "0f0e0d0c-1111-4222-8333-444455556666",
        directory: "/home/dev/project",
        title: "Read the README.",
      },
    })
    expect(told(pieces)).toEqual([
      "user: Read the README.",
      "thinks: I should look first.",
      "claude-opus-5-5: Looking.",
      "call toolu_1_0 Read",
      "call toolu_1_1 Bash",
      "result toolu_1_0",
      "failed toolu_1_1",
      "claude-opus-5-5: It says lab.",
      "user: And now the kumquat?",
      "claude-opus-5-5: A second answer.",
      "summary keeps 1",
      "user: Go on.",
      "claude-opus-5-5: After the compaction.",
    ])
    expect(pieces.findLast(({ kind }) => kind === "usage")).toMatchObject({ usage: SPENT })
    expect(kinds(losses)).toEqual({ thinking: 1, notes: 20 })
  })

  test("Codex", async () => {
    const { file, pieces, losses } = await readPieces(sessionFile("codex"))
    expect(file).toMatchObject({ format: "codex", about: { directory: "/home/dev/project" } })
    expect(told(pieces)).toEqual([
      "user: Read the README.",
      "thinks: I should look first.",
      "fake-model: Looking.",
      "call call_1_0 exec_command",
      "call call_1_1 exec_command",
      "result call_1_0",
      "result call_1_1",
      "fake-model: It says lab.",
      "user: And now the kumquat?",
      "fake-model: A second answer.",
      "fake-model: Summary: the README says lab.",
      expect.stringMatching(/^summary keeps \d$/),
      "user: Go on.",
      "fake-model: After the compaction.",
    ])
    expect(pieces.filter(({ kind }) => kind === "usage")).toHaveLength(5)
    expect(kinds(losses)).toEqual({ thinking: 1, notes: 3 })
  })

  test("OpenCode", async () => {
    const { file, pieces, losses } = await readPieces(sessionFile("opencode"))
    expect(file).toMatchObject({
      format: "opencode",
      about: { title: "Title", directory: "/home/dev/project" },
    })
    expect(told(pieces)).toEqual([
      "user: Read the README.",
      "thinks: I should look first.",
      "fake/small: Looking.",
      "call call_2_0 read",
      "result call_2_0",
      "call call_2_1 bash",
      "failed call_2_1",
      "fake/small: It says lab.",
      "user: And now the kumquat?",
      "fake/small: A second answer.",
      "summary keeps 0",
      expect.stringContaining("fake/small: echo: Continue"),
      "user: Go on.",
      "fake/small: Summary: the README says lab.",
    ])
    expect(kinds(losses)).toEqual({ thinking: 1, notes: 1 })
  })

  test("pi", async () => {
    const { file, pieces, losses } = await readPieces(sessionFile("pi"))
    expect(file).toMatchObject({ format: "pi", about: { title: "The lab", directory: "/home/dev/project" } })
    expect(told(pieces)).toEqual([
      "user: Read the README.",
      "thinks: I should look first.",
      "anthropic/claude-sonnet-4-5: Looking.",
      "call toolu_1 read",
      "call toolu_2 bash",
      "result toolu_1",
      "failed toolu_2",
      "anthropic/claude-sonnet-4-5: It says lab.",
      "user: And now the kumquat?",
      "anthropic/claude-sonnet-4-5: A second answer.",
      "summary keeps 2",
      "user: ! git status\nclean",
      "user: Go on. +1",
      "anthropic/claude-sonnet-4-5: After the compaction.",
    ])
    expect(kinds(losses)).toEqual({ branches: 1, branchMessages: 2, summaries: 1, thinking: 1, notes: 1 })
  })
})

const claude = (
  uuid: string,
  parentUuid: string | null,
  type: string,
  content: unknown,
  more: object = {},
) => ({
  type,
  uuid,
  parentUuid,
  sessionId: "s1",
  timestamp: "2026-01-01T00:00:00.000Z",
  message: { role: type, content, ...(type === "assistant" ? { id: `m-${uuid}`, model: "opus" } : {}) },
  ...more,
})

describe("Claude Code", () => {
  test("takes the newest branch and says how much the others held", async () => {
    const { pieces, losses } = await readLines([
      claude("1", null, "user", "first"),
      claude("2", "1", "assistant", [{ type: "text", text: "one" }]),
      claude("3", "2", "user", "given up"),
      claude("4", "3", "assistant", [{ type: "text", text: "two" }]),
      claude("5", "2", "user", "instead"),
      claude("6", "5", "assistant", [{ type: "text", text: "three" }]),
    ])
    expect(told(pieces)).toEqual(["user: first", "opus: one", "user: instead", "opus: three"])
    expect(losses.map(({ text }) => text)).toEqual([
      "1 abandoned branch left out",
      "2 messages of abandoned branches left out",
    ])
  })

  test("leaves sidechains out, and reads the file of a sub-agent as what it is", async () => {
    const side = { isSidechain: true }
    const lines = [
      claude("a", null, "user", "look into it", side),
      claude("b", "a", "assistant", [{ type: "text", text: "looked" }], side),
    ]
    const { pieces, losses } = await readLines([
      claude("1", null, "user", "first"),
      ...lines,
      claude("2", "1", "assistant", [{ type: "text", text: "one" }]),
    ])
    expect(told(pieces)).toEqual(["user: first", "opus: one"])
    expect(kinds(losses)).toEqual({ sidechains: 1, sidechainMessages: 2 })
    expect(told((await readLines(lines)).pieces)).toEqual(["user: look into it", "opus: looked"])
  })

  test("continues after a damaged line, and counts one that was cut off", async () => {
    const text = [
      JSON.stringify(claude("1", null, "user", "first")),
      `{"type":"assistant","uuid":"2","parentUu`,
      JSON.stringify(claude("3", "2", "user", "second")),
      JSON.stringify(claude("4", "3", "assistant", [{ type: "text", text: "yes" }])).slice(0, -9),
    ].join("\n")
    const { pieces, losses } = await readLines(text)
    expect(told(pieces)).toEqual(["user: first", "user: second"])
    expect(losses.map((loss) => loss.text)).toEqual(["2 damaged lines skipped"])
  })

  test("tells the person's words from the harness's additions, keeps pictures, drops missing ones", async () => {
    const png = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } }
    const far = { type: "image", source: { type: "url", url: "https://example.com/a.png" } }
    const { pieces, losses } = await readLines([
      claude("1", null, "user", [{ type: "text", text: "look" }, png, far]),
      claude("2", "1", "user", "<command-name>/review</command-name><command-args>now please</command-args>"),
      claude("3", "2", "user", "Caveat: nothing", { isMeta: true }),
      claude("4", "3", "user", "[Request interrupted by user]"),
      claude("5", "4", "user", "<bash-input>ls</bash-input>"),
      { ...claude("6", "5", "attachment", ""), attachment: { type: "queued_command", prompt: "and this" } },
      claude("7", "6", "assistant", [{ type: "redacted_thinking", data: "x" }, { type: "strange" }]),
      claude("8", "7", "assistant", [{ type: "text", text: "API Error: 500" }], { isApiErrorMessage: true }),
    ])
    expect(told(pieces)).toEqual([
      "user: look +1",
      "user: /review now please",
      "user: ! ls",
      "user: and this",
      "error: API Error: 500",
    ])
    expect(kinds(losses)).toEqual({ images: 1, notes: 2, encrypted: 1, unknown: 1 })
  })

  test("reads each line once, although a resumed session repeats them", async () => {
    const lines = [
      claude("1", null, "user", "first"),
      claude("2", "1", "assistant", [{ type: "text", text: "a" }]),
    ]
    expect(told((await readLines([...lines, ...lines])).pieces)).toEqual(["user: first", "opus: a"])
  })
})

const item = (payload: object) => ({ timestamp: "2026-01-01T00:00:00.000Z", type: "response_item", payload })
const META = { timestamp: "2026-01-01T00:00:00.000Z", type: "session_meta", payload: { id: "t1", cwd: "/x" } }

describe("Codex", () => {
  test("reads every kind of call, and a new answer begins after results", async () => {
    const { pieces, losses } = await readLines([
      META,
      item({
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: "<environment_context>" }],
      }),
      item({
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "go" },
          { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=" },
        ],
      }),
      item({ type: "reasoning", summary: [], encrypted_content: "x" }),
      item({ type: "local_shell_call", call_id: "c1", action: { type: "exec", command: ["ls"] } }),
      item({
        type: "function_call_output",
        call_id: "c1",
        output: '{"output":"a","metadata":{"exit_code":1}}',
      }),
      item({ type: "custom_tool_call", call_id: "c2", name: "apply_patch", input: "*** Begin Patch" }),
      item({ type: "custom_tool_call_output", call_id: "c2", output: "Done" }),
      item({ type: "function_call", call_id: "c3", name: "shell", arguments: "not json" }),
      item({ type: "web_search_call", id: "ws_1", action: { type: "search", query: "q" } }),
      item({ type: "tool_search_call" }),
    ])
    expect(told(pieces)).toEqual([
      "user: go +1",
      "call c1 local_shell",
      "failed c1",
      "call c2 apply_patch",
      "result c2",
      "call c3 shell",
      "call ws_1 web_search",
      "result ws_1",
    ])
    expect(pieces.flatMap((piece) => (piece.kind === "call" ? [piece.turn] : []))).toEqual([
      "1",
      "2",
      "3",
      "3",
    ])
    expect(kinds(losses)).toEqual({ encrypted: 1, notes: 1, unknown: 1 })
  })

  test("reads rollouts without envelopes, and keeps prompts beside a summary that names none", async () => {
    const { file, pieces } = await readLines([
      { id: "old", timestamp: "2025-06-01T00:00:00Z", instructions: null },
      { type: "message", role: "user", content: [{ type: "input_text", text: "first" }] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "yes" }] },
      { type: "compacted", payload: { message: "Short." } },
      { type: "message", role: "user", content: [{ type: "input_text", text: "second" }] },
    ])
    expect([file.format, file.about.id]).toEqual(["codex", "old"])
    expect(told(pieces)).toEqual(["user: first", "undefined: yes", "summary keeps 1", "user: second"])
  })
})

describe("other facts about the work", () => {
  const todos = [
    { content: "one", status: "completed" },
    { content: "two", status: "in_progress" },
    { content: "three", status: "strange" },
  ]
  const LIST = "todo: one completed, two in_progress"

  test("the task list is imported from Claude Code, Codex and OpenCode", async () => {
    const use = { type: "tool_use", id: "t", name: "TodoWrite", input: { todos } }
    const inClaude = await readLines([claude("1", null, "assistant", [use])])
    expect(told(inClaude.pieces)).toEqual(["call t TodoWrite", LIST])
    const plan = todos.map(({ content, status }) => ({ step: content, status }))
    const call = {
      type: "function_call",
      call_id: "c",
      name: "update_plan",
      arguments: JSON.stringify({ plan }),
    }
    expect(told((await readLines([META, item(call)])).pieces)).toEqual(["call c update_plan", LIST])
    const part = {
      type: "tool",
      tool: "todowrite",
      callID: "c",
      state: { status: "completed", input: { todos } },
    }
    const message = { info: { id: "m", role: "assistant" }, parts: [part] }
    const whole = JSON.stringify({ info: { id: "s" }, messages: [message] })
    expect(told((await readLines(whole)).pieces)).toEqual(["call c todowrite", LIST, "result c"])
  })

  test("turns rolled back in Codex are left out", async () => {
    const say = (role: string, text: string) =>
      item({ type: "message", role, content: [{ type: "input_text", text }] })
    const { pieces, losses } = await readLines([
      META,
      say("user", "first"),
      say("assistant", "one"),
      say("user", "second"),
      say("assistant", "two"),
      say("user", "third"),
      { type: "event_msg", payload: { type: "thread_rolled_back", num_turns: 2 } },
      say("user", "instead"),
    ])
    expect(told(pieces)).toEqual(["user: first", "undefined: one", "user: instead"])
    expect(kinds(losses)).toEqual({ reverted: 3 })
  })

  test("results of parallel calls are found beside the path, even after progress lines", async () => {
    const use = (id: string) => [{ type: "tool_use", id, name: "Read", input: {} }]
    const result = (id: string) => [{ type: "tool_result", tool_use_id: id, content: "x" }]
    const answer = { message: { id: "m", role: "assistant", model: "opus" } }
    const block = (uuid: string, parent: string, id: string) => ({
      ...claude(uuid, parent, "assistant", []),
      message: { ...answer.message, content: use(id) },
    })
    const { pieces, losses } = await readLines([
      claude("1", null, "user", "go"),
      block("2", "1", "a"),
      block("3", "2", "b"),
      claude("p", "2", "progress", ""),
      claude("4", "p", "user", result("a")),
      claude("5", "3", "user", result("b")),
      claude("6", "5", "assistant", [{ type: "text", text: "done" }]),
    ])
    expect(told(pieces)).toEqual([
      "user: go",
      "call a Read",
      "call b Read",
      "result a",
      "result b",
      "opus: done",
    ])
    expect(losses).toEqual([])
  })
})

describe("OpenCode", () => {
  const message = (info: object, ...parts: object[]) => ({ info: { sessionID: "s", ...info }, parts })
  const text = (said: string) => ({ type: "text", text: said })
  test("leaves reverted messages out, keeps the tail of a compaction, settles no call without a result", async () => {
    const { pieces, losses } = await readLines(
      JSON.stringify({
        info: { id: "ses_1", directory: "/x", revert: { messageID: "m7" } },
        messages: [
          message({ id: "m1", role: "user" }, text("first"), {
            type: "file",
            mime: "image/png",
            url: "file:///a.png",
          }),
          message(
            { id: "m2", role: "assistant", modelID: "k2" },
            {
              type: "tool",
              tool: "bash",
              callID: "c1",
              state: { status: "running", input: { command: "x" } },
            },
          ),
          message({ id: "m3", role: "user" }, text("second")),
          message({ id: "m4", role: "user" }, { type: "compaction", auto: false, tail_start_id: "m3" }),
          message({ id: "m5", role: "assistant", summary: true }, text("short")),
          message({ id: "m6", role: "assistant", error: { name: "Aborted", data: { message: "stopped" } } }),
          message({ id: "m7", role: "user" }, text("taken back")),
          message({ id: "m8", role: "assistant" }, text("gone")),
        ],
      }),
    )
    expect(told(pieces)).toEqual([
      "user: first",
      "call c1 bash",
      "user: second",
      expect.stringMatching(/^summary keeps/),
      "error: stopped",
    ])
    expect(pieces.find(({ kind }) => kind === "summary")).toMatchObject({
      manual: true,
      keep: ["m3", "m4", "m5", "m6", "m7", "m8"],
    })
    expect(kinds(losses)).toEqual({ reverted: 2, images: 1 })
  })
})

describe("anything else", () => {
  test.each([
    ["an empty file", ""],
    ["text", "hello\nworld\n"],
    ["other JSON", '{"a":1}\n{"b":2}\n'],
    ["a list", "[1,2,3]"],
    ["a broken document", '{"info": {"id": "x"}, "messages": ['],
    ["bytes", new Uint8Array([0, 255, 254, 10, 13, 0])],
  ])("%s is refused with what could be imported", async (_name, bytes) => {
    await expect(readLines(bytes)).rejects.toMatchObject({
      code: "IMPORT_FORMAT_UNKNOWN",
      next: expect.stringMatching(/Claude Code.*Codex.*opencode export.*pi/),
    })
  })

  test("a session without words is refused as empty", async () => {
    await expect(readLines([META])).rejects.toMatchObject({ code: "IMPORT_EMPTY" })
  })
})
