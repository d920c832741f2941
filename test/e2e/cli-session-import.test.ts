import { once } from "node:events"
/** `meridian session import`: what it prints, what it refuses, what it costs. */
import {
  appendFileSync,
  copyFileSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { afterAll, beforeAll, expect, test } from "vitest"

import { sessionFile } from "../import-scene.ts"
import { meridian } from "./cli-binary.ts"

let folder = ""
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "meridian-import-test-")))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const inFolder = (name: string): string => {
  const made = join(folder, name)
  mkdirSync(made)
  return made
}

test("reports what was imported and what was lost, and finds it again", async () => {
  const cwd = inFolder("tells")
  const file = sessionFile("claude")
  const first = await meridian(["session", "import", file], { cwd })
  expect([first.code, first.stderr]).toEqual([0, ""])
  expect(first.stdout).toBe(
    [
      "Imported Claude Code session 0f0e0d0c-1111-4222-8333-444455556666 as ses_claude_0f0e0d0c-1111-4222-8333-444455556666.",
      `3 prompts, 4 turns, 2 tool calls, 1 compaction. It works in ${cwd}.`,
      "Lost on the way:",
      "  - 1 thinking block kept as text: it has no signature that another model accepts",
      "  - 20 notes of the harness to its model left out",
      "  - its directory is not on this machine",
      "Go on with it: meridian direct --continue ses_claude_0f0e0d0c-1111-4222-8333-444455556666",
      "",
    ].join("\n"),
  )
  const again = await meridian(["session", "import", file, "--json"], { cwd })
  expect(JSON.parse(again.stdout)).toMatchObject({
    session_id: "ses_claude_0f0e0d0c-1111-4222-8333-444455556666",
    imported: false,
    format: "claude",
    directory: cwd,
    events: 23,
    prompts: 3,
    turns: 4,
    tools: 2,
    compactions: 1,
    losses: [
      { kind: "thinking", count: 1, text: expect.any(String) },
      { kind: "notes", count: 20, text: expect.any(String) },
      { kind: "directory", count: 1, text: expect.any(String) },
    ],
  })
  const listed = await meridian(["session", "list"], { cwd })
  expect(listed.stdout).toContain("ses_claude_0f0e0d0c-1111-4222-8333-444455556666  idle")
  expect(readFileSync(join(cwd, ".meridian/.gitignore"), "utf8")).toContain("engine.sqlite")
})

test("the command it names continues the conversation", async () => {
  const cwd = inFolder("goes-on")
  const imported = await meridian(["session", "import", sessionFile("codex"), "--json"], { cwd })
  const { continue_command }: { readonly continue_command?: unknown } = Object(JSON.parse(imported.stdout))
  const [program, ...args] = String(continue_command).split(" ")
  expect(program).toBe("meridian")
  const went = await meridian([...args, "--headless"], { cwd, input: "What was it about?" })
  expect([went.code, went.stdout]).toEqual([0, expect.stringContaining("echo: What was it about?")])
})

test("a file that has grown is refused, unless it gets its own session", async () => {
  const cwd = inFolder("grown")
  const file = join(cwd, "pi.jsonl")
  copyFileSync(sessionFile("pi"), file)
  const database = join(cwd, "other.sqlite")
  const run = (...more: string[]) =>
    meridian(["session", "import", file, "--database", database, ...more], { cwd })
  expect((await run("--directory", folder)).stdout).toContain(`It works in ${folder}.`)
  appendFileSync(
    file,
    `${JSON.stringify({ type: "message", id: "z", parentId: "a0000018", message: { role: "user", content: "more" } })}\n`,
  )
  const refused = await run()
  expect([refused.code, refused.stdout]).toEqual([1, ""])
  expect(refused.stderr).toContain("ERROR [IMPORT_CHANGED]")
  const beside = await run("--session", "ses_mine")
  expect([beside.code, beside.stdout]).toEqual([0, expect.stringContaining("as ses_mine.")])
  expect((await run("--session", "ses_mine")).stdout).toContain("Already imported")
})

test("reads stdin, and leaves no temporary file", async () => {
  const cwd = inFolder("stdin")
  const temporary = inFolder("temporary")
  const piped = await meridian(["session", "import", "-", "--json"], {
    cwd,
    input: readFileSync(sessionFile("opencode"), "utf8"),
    env: { TMPDIR: temporary },
  })
  expect([piped.code, JSON.parse(piped.stdout)]).toMatchObject([
    0,
    { format: "opencode", prompts: 3, tools: 2 },
  ])
  expect(readdirSync(temporary).filter((name) => name.startsWith("meridian-import"))).toEqual([])
})

test("what cannot be imported is refused in one line, and nothing is made", async () => {
  const cwd = inFolder("refused")
  writeFileSync(join(cwd, "notes.txt"), "just notes\n")
  const cases = [
    ["notes.txt", "IMPORT_FORMAT_UNKNOWN"],
    ["missing.jsonl", "IMPORT_UNREADABLE"],
    [".", "IMPORT_UNREADABLE"],
  ] as const
  for (const [file, code] of cases) {
    const { code: exit, stdout, stderr } = await meridian(["session", "import", file], { cwd })
    expect([exit, stdout, stderr.split("\n").length]).toEqual([1, "", 2])
    expect(stderr).toContain(`ERROR [${code}]`)
  }
  const elsewhere = await meridian(["session", "import", sessionFile("pi"), "--directory", "nowhere"], {
    cwd,
  })
  expect(elsewhere.stderr).toContain("ERROR [LOCATION_NOT_FOUND]")
  const named = await meridian(["session", "import", sessionFile("pi"), "--session", "a b"], { cwd })
  expect(named.stderr).toContain("ERROR [INVALID_INPUT]")
  expect((await meridian(["session", "import"], { cwd })).code).toBe(2)
  expect(existsSync(join(cwd, "engine.sqlite"))).toBe(false)
})

const claudeLine = (sessionId: string, content: string, more: object = {}): string =>
  `${JSON.stringify({ type: "user", uuid: "1", parentUuid: null, sessionId, message: { role: "user", content }, ...more })}\n`

test("a file's words about itself reach the terminal as short plain text", async () => {
  const cwd = inFolder("hostile")
  const file = join(cwd, "session.jsonl")
  const HOSTILE = "\u001B[31mred\u001B]0;owned\u0007\u009B2J\r\nx\u202E"
  writeFileSync(
    file,
    claudeLine(`${HOSTILE}${"z".repeat(5_000)}`, `fix ${HOSTILE}${"\u{1F600}".repeat(100)}`),
  )
  const told = await meridian(["session", "import", file], { cwd })
  expect([told.code, told.stdout.length < 600]).toEqual([0, true])
  // oxlint-disable-next-line eslint/no-control-regex -- control characters are what this is about
  expect(told.stdout).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202E]/)
  const again = await meridian(["session", "import", file, "--json"], { cwd })
  const { source_id, title }: { readonly source_id?: unknown; readonly title?: unknown } = Object(
    JSON.parse(again.stdout),
  )
  expect([String(source_id).length, String(title).isWellFormed()]).toEqual([200, true])
  expect(title).toMatch(/^fix red[^\p{C}]+\.\.\.$/u)
  const listed = await meridian(["session", "list"], { cwd })
  // oxlint-disable-next-line eslint/no-control-regex -- as above
  expect(listed.stdout).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202E]/)
})

test("times that no date can show count as unknown", async () => {
  const cwd = inFolder("times")
  for (const timestamp of [9e15, 1e300, "+275760-09-13T00:00:00.000Z"]) {
    const file = join(cwd, "session.jsonl")
    writeFileSync(file, claudeLine(`s${timestamp}`, "go", { timestamp }))
    const { code, stderr } = await meridian(["session", "import", file], { cwd })
    expect([code, stderr]).toEqual([0, ""])
  }
})

test("reports an input nested too deep, and a picture in a failed result", async () => {
  const cwd = inFolder("deep")
  const file = join(cwd, "session.jsonl")
  const png = { type: "image", source: { media_type: "image/png", data: "iVBORw0KGgo=" } }
  const answer = JSON.stringify({
    type: "assistant",
    uuid: "2",
    parentUuid: "1",
    sessionId: "deep",
    message: { role: "assistant", content: [{ type: "tool_use", id: "t", name: "Read", input: "DEEP" }] },
  }).replace('"DEEP"', `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`)
  const result = { type: "tool_result", tool_use_id: "t", is_error: true, content: [png] }
  const last = claudeLine("deep", "", {
    uuid: "3",
    parentUuid: "2",
    message: { role: "user", content: [result] },
  })
  writeFileSync(file, `${claudeLine("deep", "go")}${answer}\n${last}`)
  const { code, stdout } = await meridian(["session", "import", file], { cwd })
  expect(code).toBe(0)
  expect(stdout).toContain("  - 1 image or file of failed calls dropped: an error is text\n")
  expect(stdout).toContain("  - 1 input of calls kept as text: nested too deep\n")
})

test("says what is wrong with a file, and calls stdin by one name", async () => {
  const cwd = inFolder("wrong")
  const whole = readFileSync(sessionFile("opencode"), "utf8")
  const refusal = async (input: string) => {
    const { code, stderr } = await meridian(["session", "import", "-"], { cwd, input })
    expect(code).toBe(1)
    return stderr
  }
  expect(await refusal(whole.slice(0, -200))).toContain(
    "stdin is not a session that can be imported: it is an OpenCode export that is cut short.",
  )
  expect(await refusal("")).toContain("stdin is not a session that can be imported: it is empty.")
  expect(await refusal("notes\n")).toContain("stdin is not a session that can be imported.")
  const nowhere = await meridian(["session", "import", sessionFile("pi"), "--directory", ""], { cwd })
  expect([nowhere.code, nowhere.stdout]).toEqual([2, ""])
  expect(nowhere.stderr).toContain("--directory is empty.")
})

test("a session of 90 MB is read in bounded memory", async () => {
  const cwd = inFolder("large")
  const file = join(cwd, "large.jsonl")
  const stream = createWriteStream(file)
  stream.write(`${JSON.stringify({ type: "session", version: 3, id: "large", cwd })}\n`)
  const text = "lorem ipsum dolor sit amet ".repeat(400)
  let parentId: string | null = null
  for (let n = 0; n < 8_000; n += 1) {
    const id = n.toString(16).padStart(8, "0")
    const role = n % 2 === 0 ? "user" : "assistant"
    const message = { role, content: [{ type: "text", text: `${n} ${text}` }] }
    if (!stream.write(`${JSON.stringify({ type: "message", id, parentId, message })}\n`))
      await once(stream, "drain")
    parentId = id
  }
  stream.end()
  await once(stream, "close")
  const { code, stdout } = await meridian(["session", "import", file, "--json"], {
    cwd,
    // A heap too small for half of it.
    env: { NODE_OPTIONS: "--max-old-space-size=48" },
  })
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { prompts: 4_000, turns: 4_000 }])
})
