/**
 * The commands that read sessions of every harness also read those of a server: export, search and recall. They write
 * nothing there.
 */
import { asObject, listAt, parseObject, textAt, wordAt } from "@meridian/protocol"
import { sharedPostgres } from "@meridian/testkit/shared-postgres"
import { Client } from "pg"
import { beforeAll, expect } from "vitest"

import { directScene, type DirectScene } from "../direct-scene.ts"
import { verifies } from "../verifies.ts"

let server = ""
beforeAll(async () => {
  server = await sharedPostgres()
})

const say = async (scene: DirectScene, prompt: string, ...flags: readonly string[]): Promise<void> => {
  const ran = await scene.run("run", "spawn", "--harness", "direct", "-p", prompt, "--json", ...flags)
  expect(ran).toMatchObject({ code: 0 })
}

const resultsOf = async (scene: DirectScene, ...args: readonly string[]) =>
  listAt(parseObject((await scene.run("search", ...args, "--json")).stdout), "results").map((row) =>
    ["id", "snippet", "continue"].map((field) => textAt(asObject(row), field) ?? ""),
  )

const idsOf = async (scene: DirectScene, ...flags: readonly string[]) =>
  listAt(parseObject((await scene.run("session", "list", "--json", ...flags)).stdout), "sessions").map(
    (row) => wordAt(asObject(row), "session_id"),
  )

/** Every row of a schema, and how often it was written. */
const contentOf = async (schema: string): Promise<unknown> => {
  const client = new Client({ connectionString: server })
  await client.connect()
  try {
    const { rows } = await client.query(
      `select (select json_agg(s order by key) from ${schema}.session s) as sessions,
         (select count(*) from ${schema}.event) as events, (select json_agg(w) from ${schema}.worker w) as workers,
         (select json_agg(xmin) from ${schema}.store) as store`,
    )
    return rows
  } finally {
    await client.end()
  }
}

verifies(
  "cluster.read",
  async () => {
    const scene = await directScene({
      script: [{ text: "the heron stands on one leg" }],
      env: { MERIDIAN_DATABASE: `${server}?schema=exports` },
    })
    await say(scene, "tell me of birds")
    const [id = ""] = await idsOf(scene)
    const before = await contentOf("exports")
    const exported = await scene.run("session", "export", id)
    expect(exported).toMatchObject({ code: 0 })
    expect(exported.stdout).toContain("tell me of birds")
    expect(exported.stdout).toContain("the heron stands on one leg")
    const recalled = await scene.run("recall", "heron leg", "--json")
    const [hit] = listAt(parseObject(recalled.stdout), "hits").map(asObject)
    expect(textAt(hit, "text")).toContain("heron")
    const expanded = await scene.run("expand", textAt(hit, "place") ?? "")
    expect(expanded.stdout).toContain("the heron stands on one leg")
    expect(await contentOf("exports")).toEqual(before)
    const away = await scene.run("session", "export", id, "--database", `${server}?schema=exports_none`)
    expect(away.stderr).toMatch(/^ERROR \[DATABASE_OLD\]/)
    const there = await scene.run("session", "export", "ses_none")
    expect(there.stderr).toMatch(/^ERROR \[SESSION_NOT_FOUND\]/)
  },
  "export, recall and expand",
)

verifies(
  "cluster.read",
  async () => {
    const database = `${server}?schema=searched`
    const scene = await directScene({
      script: [{ text: "a marsh harrier" }, { text: "a kingfisher" }, { text: "a wren" }],
    })
    await say(scene, "on this machine")
    const other = { ...scene.env, MERIDIAN_DATABASE: database }
    const remote = { ...scene, run: (...args: readonly string[]) => scene.runWith(other, ...args) }
    await say(remote, "on the server")
    const [id = ""] = await idsOf(remote)
    const before = await contentOf("searched")
    expect(await resultsOf(scene, "kingfisher")).toEqual([])
    expect(await resultsOf(remote, "kingfisher")).toEqual([
      [id, "a kingfisher", expect.stringContaining(`--continue ${id}`)],
    ])
    const named = await resultsOf(scene, "kingfisher", "--database", database)
    expect(named).toEqual([[id, "a kingfisher", expect.stringContaining("--database")]])
    expect(await resultsOf(remote, "harrier")).toHaveLength(1)
    expect(await contentOf("searched")).toEqual(before)
    // New content is added, and deleted content leaves.
    await say(remote, "once more")
    expect(await resultsOf(remote, "wren")).toHaveLength(1)
    expect(await remote.run("session", "delete", id, "--yes")).toMatchObject({ code: 0 })
    expect(await resultsOf(remote, "kingfisher")).toEqual([])
    // A server that does not answer hides no other results.
    const nowhere = "postgres://meridian@127.0.0.1:1/meridian"
    const found = await scene.run("search", "harrier", "--database", nowhere)
    expect(found.stdout).toContain("a marsh harrier")
    expect(found.stderr).toContain(nowhere)
  },
  "search, which adds what is new",
)
