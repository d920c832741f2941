import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { ANY, isJsonObject, jsonSchema, type Json } from "@meridian/protocol"
import { OPERATIONS } from "@meridian/spaces"
import { expect, test } from "vitest"

import { openHttpScene } from "../../../../test/http-scene.ts"
import { RUN_DIFF, RUN_DISCARDED, RUN_TOLD } from "../contract/run-work.ts"
import { CHAT, RUN, RUN_ROW, SPACE, SPACE_ROW } from "../contract/spaces.ts"
import { camelName, isDirectory } from "./spaces-reader.ts"

/** A schema as lines: where, what, and `?` for optional fields. Names as in HTTP, without directories. */
const lines = (schema: Json | undefined, where = ""): readonly string[] => {
  if (!isJsonObject(schema)) return []
  const { type, enum: values, items, properties, required } = schema
  const own = `${where} ${JSON.stringify(values ?? type)}`
  if (isJsonObject(items)) return [own, ...lines(items, `${where}[]`)]
  if (!isJsonObject(properties)) return [own]
  const needed = Array.isArray(required) ? required : []
  return Object.entries(properties)
    .filter(([key]) => !isDirectory(key, /\w+(?=\W*$)/.exec(where)?.[0] ?? ""))
    .flatMap(([key, value]) => lines(value, `${where}.${camelName(key)}${needed.includes(key) ? "" : "?"}`))
    .toSorted((left, right) => left.localeCompare(right))
}

const linesOf = (name: string): readonly string[] =>
  lines(jsonSchema(OPERATIONS.find(({ meta }) => meta.name === name)?.meta.output ?? ANY))

const linesWithin = (name: string, list: string): readonly string[] =>
  linesOf(name).flatMap((line) => (line.startsWith(`.${list}[]`) ? [line.slice(`.${list}[]`.length)] : []))

test.each([
  ["space.list", SPACE_ROW, linesWithin("space.list", "spaces")],
  ["space.show", SPACE, linesOf("space.show")],
  ["space.show", CHAT, linesWithin("space.show", "chats")],
  ["run.list", RUN_ROW, linesWithin("run.list", "runs")],
  ["run.show", RUN, linesOf("run.show")],
  ["run.diff", RUN_DIFF, linesOf("run.diff")],
  ["run.discard", RUN_DISCARDED, linesOf("run.discard")],
  ["run.send", RUN_TOLD, linesOf("run.send")],
])("HTTP tells of %s what the operation tells, but no directory", (_name, shape, told) => {
  expect(lines(jsonSchema(shape))).toEqual(told)
  expect(told.length).toBeGreaterThan(2)
})

test("spaces, chats and runs are read from the files of the project", async () => {
  await using scene = await openHttpScene()
  const folder = join(scene.stateRoot, ".spaces/s1")
  mkdirSync(join(folder, "runs/r1"), { recursive: true })
  const at = "2026-01-02T03:04:05.000Z"
  writeFileSync(
    join(folder, "space.json"),
    JSON.stringify({ schema_version: 1, id: "s1", name: "demo", status: "active", started_at: at }),
  )
  const { spaces } = scene.client
  expect(await spaces.list()).toEqual({
    items: [{ spaceId: "s1", status: "active", name: "demo", startedAt: at, lastActiveAt: at }],
  })
  expect(await spaces.get({ spaceID: "s1" })).toEqual({
    spaceId: "s1",
    status: "active",
    name: "demo",
    startedAt: at,
    chats: [],
    runIds: [],
    runs: [],
  })
  expect(await spaces.chats({ spaceID: "s1" })).toEqual({ items: [] })
  expect(await spaces.runs({ spaceID: "s1" })).toEqual({ items: [] })
  await expect(spaces.get({ spaceID: "s9" })).rejects.toMatchObject({ code: "SPACE_NOT_FOUND", status: 404 })
  await expect(spaces.get({ spaceID: "../s1" })).rejects.toMatchObject({ status: 404 })
  await expect(spaces.run({ spaceID: "s1", runID: "r1" })).rejects.toMatchObject({
    code: "RUN_NOT_FOUND",
    status: 404,
  })
})

test("a chat in a host shows what its compactions kept and lost; one of the engine or without a session shows nothing", async () => {
  const receipt = {
    number: 1,
    at: "2026-01-02T03:04:05.000Z",
    summary: "Nothing worth keeping.",
    kept: [],
    putBack: ["task: Fix it."],
    lost: ["file: src/a.ts"],
    invented: ["drop it"],
    contradicted: true,
    injectedTokens: 12,
  }
  const asked: string[] = []
  await using scene = await openHttpScene([], {
    hostCompactions: (harness, session) => {
      asked.push(`${harness}:${session}`)
      return [receipt]
    },
  })
  const folder = join(scene.stateRoot, ".spaces/s1")
  mkdirSync(folder, { recursive: true })
  const at = "2026-01-02T03:04:05.000Z"
  writeFileSync(
    join(folder, "space.json"),
    JSON.stringify({ schema_version: 1, id: "s1", name: "demo", status: "active", started_at: at }),
  )
  const started = { v: 1, event: "start", harness: "claude", model: "", started_at: at }
  writeFileSync(
    join(folder, "sessions.jsonl"),
    [
      { ...started, chat_id: "c1", harness_session_id: "0f0e" },
      { ...started, chat_id: "c2" },
    ]
      .map((record) => `${JSON.stringify(record)}\n`)
      .join(""),
  )
  const { spaces } = scene.client
  expect(await spaces.compactions({ spaceID: "s1", chatID: "c1" })).toEqual({ items: [receipt] })
  expect(await spaces.compactions({ spaceID: "s1", chatID: "c2" })).toEqual({ items: [] })
  await expect(spaces.compactions({ spaceID: "s1", chatID: "c9" })).rejects.toMatchObject({
    code: "CHAT_NOT_FOUND",
    status: 404,
  })
  expect(asked).toEqual(["claude:0f0e"])
})
