/** `meridian recall` and `meridian expand`: everything that was said in a project, in any harness. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"

import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { expect, test } from "vitest"

import { sessionFile } from "../import-scene.ts"
import { verifies } from "../verifies.ts"
import { BINARY, document, emptyFolder, meridian, SEARCH_PATH } from "./cli-binary.ts"

const write = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const line = (value: object): string => `${JSON.stringify(value)}\n`

const claude = (
  cwd: string,
  uuid: string,
  parentUuid: string | null,
  type: "user" | "assistant",
  text: string,
) =>
  line({
    type,
    uuid,
    parentUuid,
    sessionId: "s",
    cwd,
    timestamp: "2026-01-02T03:04:05Z",
    message: {
      role: type,
      content: type === "user" ? text : [{ type: "text", text }],
      ...(type === "assistant" ? { id: uuid, model: "m" } : {}),
    },
  })

/** The same words in four harnesses, and in a project that is not ours. */
const scene = () => {
  const home = emptyFolder("meridian-recall-")
  const project = join(home, "work/app")
  mkdirSync(project, { recursive: true })
  const folder = (path: string): string => path.replaceAll(/[^A-Za-z0-9]/g, "-")
  const projects = join(home, ".claude/projects")
  const talk = (cwd: string) =>
    claude(cwd, "a", null, "user", "Use the colour quokka for the sign.") +
    "{ damaged\n" +
    claude(cwd, "b", "a", "assistant", "Done, quokka it is.")
  write(join(projects, folder(project), "11111111-claude.jsonl"), talk(project))
  write(join(projects, folder(`${project}-other`), "22222222-other.jsonl"), talk(`${project}-other`))
  write(
    join(home, ".codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-33333333-codex.jsonl"),
    line({
      timestamp: "2026-01-02T03:04:05Z",
      type: "session_meta",
      payload: { id: "33333333-codex", cwd: join(project, "sub") },
    }) +
      line({
        timestamp: "2026-01-02T03:04:04Z",
        type: "response_item",
        payload: {
          type: "message",
          role: "user",
          content: [{ type: "input_text", text: "Is the quokka ready?" }],
        },
      }),
  )
  const database = join(home, ".local/share/opencode/opencode.db")
  mkdirSync(dirname(database), { recursive: true })
  const opencode = new DatabaseSync(database)
  opencode.exec(
    "CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, title TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER); CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT); CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT)",
  )
  opencode
    .prepare("INSERT INTO session VALUES (?, NULL, ?, 'Signs', NULL, ?, ?)")
    .run("ses_oc", project, 1_767_323_043_000, 1_767_323_045_000)
  opencode
    .prepare("INSERT INTO message VALUES (?, ?, ?, ?)")
    .run("msg_1", "ses_oc", 1, JSON.stringify({ role: "user", time: { created: 1_767_323_043_000 } }))
  opencode
    .prepare("INSERT INTO part VALUES (?, ?, ?, ?)")
    .run("prt_1", "msg_1", "ses_oc", JSON.stringify({ type: "text", text: "Paint the quokka green." }))
  opencode.close()
  const env = { HOME: home, MERIDIAN_REPO_ROOT: project }
  const call = (...args: readonly string[]) => meridian(args, { cwd: project, env })
  return { home, project, env, call }
}

verifies("recall.every-harness", async () => {
  const { project, home, call } = scene()
  const imported = join(home, "session.jsonl")
  cpSync(sessionFile("claude"), imported)
  expect((await call("session", "import", imported, "--directory", project)).code).toBe(0)
  const found = document(await call("recall", "quokka", "--json"))
  expect(found).toMatchObject({ conversations: 4 })
  const hits: unknown = typeof found === "object" && found !== null ? Reflect.get(found, "hits") : []
  expect(hits).toEqual([
    expect.objectContaining({
      place: "claude:11111111-claude#1",
      harness: "claude",
      role: "user",
      at: "2026-01-02T03:04:05.000Z",
      text: "Use the colour quokka for the sign.",
    }),
    expect.objectContaining({ place: "codex:33333333-codex#2", harness: "codex", role: "user" }),
    expect.objectContaining({
      place: "opencode:ses_oc#1",
      harness: "opencode",
      text: "Paint the quokka green.",
    }),
    expect.objectContaining({ place: "claude:11111111-claude#3", role: "assistant" }),
  ])
  expect(document(await call("recall", "kumquat", "--json"))).toMatchObject({
    hits: [{ harness: "engine", role: "user" }],
  })
})

test("one conversation can be searched alone, and a place is read with its surroundings", async () => {
  const { call } = scene()
  expect(document(await call("recall", "quokka", "--session", "ses_oc", "--json"))).toMatchObject({
    conversations: 1,
    hits: [{ place: "opencode:ses_oc#1" }],
  })
  expect(document(await call("expand", "claude:11111111-claude#1", "--json"))).toEqual({
    place: "claude:11111111-claude#1",
    harness: "claude",
    session: "11111111-claude",
    entries: [
      {
        number: 1,
        role: "user",
        text: "Use the colour quokka for the sign.",
        at: "2026-01-02T03:04:05.000Z",
      },
      { number: 3, role: "assistant", text: "Done, quokka it is.", at: "2026-01-02T03:04:05.000Z" },
    ],
  })
  expect(document(await call("expand", "claude:11111111-claude#3-9", "--json"))).toMatchObject({
    entries: [{ number: 3 }],
  })
})

test("secrets are hidden, control characters do not reach a terminal, and the sources stay as they are", async () => {
  const { home, project, env } = scene()
  const path = join(home, ".claude/projects", project.replaceAll(/[^A-Za-z0-9]/g, "-"), "44444444.jsonl")
  write(
    path,
    claude(
      project,
      "a",
      null,
      "user",
      "the wombat key is sk-ant-api03-Xq7Rt2LmV9sKd4HwPz8NbYc1 and mine is hunter2hunter2 \u001b[31mred",
    ),
  )
  const before = readFileSync(path)
  const ran = await meridian(["recall", "wombat"], {
    cwd: project,
    env: { ...env, MY_TOKEN: "hunter2hunter2" },
  })
  expect(ran.stdout).toContain("the wombat key is [hidden: ")
  for (const hidden of ["sk-ant", "hunter2", "\u001b"]) expect(ran.stdout).not.toContain(hidden)
  expect(readFileSync(path)).toEqual(before)
})

test.each([
  [["recall", "  "], "USAGE", 2],
  [["expand", "somewhere"], "USAGE", 2],
  [["expand", "claude:unknown#1"], "RECALL_PLACE_UNKNOWN", 1],
] as const)("%j is refused with %s", async (args, code, exit) => {
  const { call } = scene()
  const ran = await call(...args)
  expect([ran.code, ran.stderr]).toEqual([exit, expect.stringContaining(`ERROR [${code}]: `)])
})

test("damaged and foreign stores are skipped, and an empty result is reported politely", async () => {
  const { home, project, call } = scene()
  write(join(home, ".local/share/opencode/opencode.db"), "not a database")
  write(join(project, ".meridian/engine.sqlite"), "not a database")
  write(join(home, ".codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-x.jsonl"), "\u0000\u0001")
  const ran = await call("recall", "platypus")
  expect([ran.code, ran.stdout]).toEqual([0, "Nothing found in 2 conversations.\n"])
})

verifies("recall.tools", async () => {
  const { project, env } = scene()
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BINARY, "serve"],
    cwd: project,
    env: { ...env, PATH: SEARCH_PATH },
  })
  const client = new Client({ name: "test", version: "1.0.0" })
  await client.connect(transport)
  const { tools } = await client.listTools()
  expect(
    tools.filter(({ name }) => name === "recall" || name === "expand").map(({ annotations }) => annotations),
  ).toEqual([
    { readOnlyHint: true, openWorldHint: false },
    { readOnlyHint: true, openWorldHint: false },
  ])
  const found = await client.callTool({ name: "recall", arguments: { query: "colour of the sign" } })
  expect(found.structuredContent).toMatchObject({
    hits: [{ place: "claude:11111111-claude#1", harness: "claude" }],
  })
  const read = await client.callTool({ name: "expand", arguments: { range: "claude:11111111-claude#1-3" } })
  expect(read.structuredContent).toMatchObject({ entries: [{ number: 1 }, { number: 3 }] })
  await client.close()
})
