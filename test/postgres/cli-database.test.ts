/** The command on a real Postgres: conversations live on the server, and users see its nodes. */
import { join } from "node:path"

import { asObject, listAt, parseObject, textAt, wordAt } from "@meridian/protocol"
import { createClient } from "@meridian/server/client"
import { sharedPostgres } from "@meridian/testkit/shared-postgres"
import { beforeAll, expect, test } from "vitest"

import { directScene } from "../direct-scene.ts"
import { startServer } from "../e2e/server-process.ts"
import { verifies } from "../verifies.ts"

let server = ""
beforeAll(async () => {
  server = await sharedPostgres()
})

test("a conversation on a server is listed, renamed and continued from every command", async () => {
  const database = `${server}?schema=talk`
  const scene = await directScene({
    script: [{ text: "first answer" }, { text: "second answer" }],
    env: { MERIDIAN_DATABASE: database },
  })
  const first = await scene.run("run", "spawn", "--harness", "direct", "-p", "hello", "--json")
  const begun = parseObject(first.stdout)
  expect(textAt(begun, "report")).toContain("first answer")
  const listed = await scene.run("session", "list", "--json")
  const sessions = listAt(parseObject(listed.stdout), "sessions")
  expect(sessions).toHaveLength(1)
  const id = wordAt(asObject(sessions[0]), "session_id")
  expect(await scene.run("session", "rename", id, "The first talk")).toMatchObject({ code: 0 })
  expect((await scene.run("session", "list")).stdout).toContain("The first talk")
  const second = await scene.run(
    "run",
    "continue",
    wordAt(begun, "run_id"),
    "--space",
    wordAt(begun, "space_id"),
    "-p",
    "go on",
  )
  expect(second.stdout).toContain("second answer")
  expect(scene.asked().at(-1)).toContain("first answer")
})

test("a server is checked, made ready and shown, and a password in an argument is refused", async () => {
  const database = `${server}?schema=ops`
  const scene = await directScene()
  const check = await scene.run("database", "check", "--database", database, "--json")
  const findings = listAt(parseObject(check.stdout), "findings").map(asObject)
  expect(findings.map((finding) => [wordAt(finding, "name"), wordAt(finding, "verdict")])).toEqual([
    ["version", "good"],
    ["encryption", "good"],
    ["round trip", expect.any(String)],
    ["clock", "good"],
    ["fsync", "bad"],
    ["full_page_writes", "good"],
    ["synchronous_commit", "good"],
    ["standby", "good"],
    ["pooler", "good"],
    ["hints", "good"],
    ["limits", "good"],
    ["schema", "good"],
  ])
  expect(check.code).toBe(1)
  expect(await scene.run("database", "migrate", "--database", database)).toMatchObject({
    code: 0,
    stdout: `up to date: ${database}\n`,
  })
  expect((await scene.run("cluster", "--database", database)).stdout).toBe(
    "0 sessions, 0 at work, 0 waiting for a node\n",
  )
  const secret = server.replace("meridian@", "meridian:hunter2@")
  const refused = await scene.run("cluster", "--database", secret)
  expect(refused).toMatchObject({ code: 2, stdout: "" })
  expect(refused.stderr).toMatch(/^ERROR \[DATABASE_PASSWORD\]/)
  expect(refused.stderr).not.toContain("hunter2")
})

test("sessions move between a file and a server, whole and once", async () => {
  const database = `${server}?schema=moves`
  const scene = await directScene({ script: [{ text: "first answer" }, { text: "second answer" }] })
  const begun = parseObject(
    (await scene.run("run", "spawn", "--harness", "direct", "-p", "hello", "--json")).stdout,
  )
  const listIds = async (...flags: readonly string[]): Promise<readonly string[]> =>
    listAt(parseObject((await scene.run("session", "list", "--json", ...flags)).stdout), "sessions").map(
      (row) => wordAt(asObject(row), "session_id"),
    )
  const [id = ""] = await listIds()
  expect((await scene.run("session", "copy", "--all", "--to", database)).stdout).toBe(`copied  ${id}\n`)
  expect((await scene.run("session", "copy", id, "--to", database)).stdout).toBe(`was there  ${id}\n`)
  expect(await listIds("--database", database)).toEqual([id])
  const exported = await scene.run("session", "export", id, "--format", "json")
  const away = join(scene.project, "away.sqlite")
  const moved = await scene.run("session", "copy", id, "--from", database, "--to", away, "--move")
  expect(moved).toMatchObject({ code: 0, stdout: `copied  ${id}\n` })
  expect(await listIds("--database", database)).toEqual([])
  expect(await listIds("--database", away)).toEqual([id])
  expect((await scene.run("session", "export", id, "--format", "json")).stdout).toBe(exported.stdout)
  const again = await scene.run("session", "copy", "ses_none", "--to", database)
  expect(again.stderr).toMatch(/^ERROR \[SESSION_NOT_FOUND\]/)
  await scene.run(
    "run",
    "continue",
    wordAt(begun, "run_id"),
    "--space",
    wordAt(begun, "space_id"),
    "-p",
    "go on",
  )
  // An older copy is updated.
  expect((await scene.run("session", "copy", id, "--to", away)).stdout).toBe(`copied  ${id}\n`)
  const itself = await scene.run("session", "copy", "--all", "--from", away, "--to", away, "--move")
  expect(itself).toMatchObject({ code: 2, stdout: "" })
  expect(itself.stderr).toMatch(/^ERROR \[SAME_DATABASE\]/)
  expect(await listIds("--database", away)).toEqual([id])
})

verifies("cluster.archive", async () => {
  const database = `${server}?schema=archives`
  const scene = await directScene({
    script: [{ text: "kept for later" }],
    env: { MERIDIAN_DATABASE: database },
  })
  await scene.run("run", "spawn", "--harness", "direct", "-p", "hello", "--json")
  const listed = async (...flags: readonly string[]) =>
    listAt(parseObject((await scene.run("session", "list", "--json", ...flags)).stdout), "sessions").map(
      (row) => wordAt(asObject(row), "session_id"),
    )
  const [id = ""] = await listed()
  expect(await scene.run("session", "archive", id, "--to", "old.sqlite")).toMatchObject({
    code: 0,
    stdout: `Session ${id} is in the archive: old.sqlite.\n`,
  })
  expect([await listed(), await listed("--database", "old.sqlite")]).toEqual([[], [id]])
  expect((await scene.run("session", "archive", id, "--from", "old.sqlite")).stderr).toMatch(
    /^ERROR \[USAGE\]/,
  )
  expect(await scene.run("session", "archive", id, "--undo", "--from", "old.sqlite")).toMatchObject({
    code: 0,
  })
  expect([await listed(), await listed("--database", "old.sqlite")]).toEqual([[id], []])
  expect(await scene.run("session", "archive", id)).toMatchObject({ code: 0 })
  expect(await listed()).toEqual([])
  expect(await scene.run("session", "archive", id, "--undo")).toMatchObject({ code: 0 })
})

verifies("cluster.shown", async () => {
  const database = `${server}?schema=shown`
  const scene = await directScene({ env: { MERIDIAN_DATABASE: database } })
  const node = await startServer(
    scene.project,
    ["--port", "0", "--workspace", `shared=${scene.project}`, "--sessions", "7"],
    { ...scene.env },
  )
  const client = createClient({ url: node.url, token: node.token })
  const location = { directory: "app", workspace: "elsewhere" }
  await client.sessions.create({ id: "ses_lost", location })
  await client.sessions.prompt({ sessionID: "ses_lost", prompt: { text: "hello" } })
  const { nodes, waiting, ...totals } = await client.server.cluster({})
  expect(totals).toEqual({ sessions: 1, working: 0 })
  expect(nodes).toEqual([
    expect.objectContaining({ alive: true, places: 7, workspaces: ["shared"], address: node.url }),
  ])
  expect(waiting).toEqual([
    { id: "ses_lost", workspace: "elsewhere", reason: expect.stringContaining("elsewhere") },
  ])
  const told = parseObject((await scene.run("cluster", "--json")).stdout)
  const withoutBeat = ({ beat: _beat, ...rest }: Record<string, unknown>) => rest
  expect({
    ...told,
    nodes: listAt(told, "nodes").map((row) => withoutBeat(asObject(row) ?? {})),
  }).toEqual({
    ...totals,
    nodes: nodes.map(({ id, ...row }) => withoutBeat(Object.assign({ node_id: id }, row))),
    waiting: waiting.map(({ id, ...row }) => Object.assign({ session_id: id }, row)),
  })
  await node.end("SIGKILL")
})

test("what cannot be used as a database is told, and no file is made of it", async () => {
  const scene = await directScene()
  const codeOf = async (...args: readonly string[]): Promise<string | undefined> =>
    /^ERROR \[(\w+)\]/.exec((await scene.run(...args)).stderr)?.[1]
  expect([
    await codeOf("session", "list", "--database", "mysql://root@host/db"),
    await codeOf("session", "list", "--database", "postgres://"),
    await codeOf("session", "list", "--database", "postgres://meridian@127.0.0.1:1/meridian"),
    await codeOf("database", "check"),
    await codeOf("session", "list", "--database", `${server}_none`),
    await codeOf("session", "list", "--database", `${server}?sslmode=verify-full`),
  ]).toEqual([
    "DATABASE_ADDRESS",
    "DATABASE_ADDRESS",
    "DATABASE_UNREACHABLE",
    "DATABASE_NO_SERVER",
    "DATABASE_REFUSED",
    "DATABASE_TLS",
  ])
})
