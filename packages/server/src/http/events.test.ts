import { connect } from "node:net"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

import { openEngine } from "@meridian/engine"
import { expect, test } from "vitest"

import { gate, scriptedModel } from "../../../../test/engine-scene.ts"
import { failureIn, openHttpScene, type HttpScene } from "../../../../test/http-scene.ts"
import { openSse, type RawFrame, type SseReader } from "../../../../test/read-sse.ts"
import { verifies } from "../../../../test/verifies.ts"

const sessionID = "ses_1"

const open = (
  scene: HttpScene,
  query = "",
  headers: Readonly<Record<string, string>> = {},
): Promise<SseReader> =>
  openSse(`${scene.server.url}/api/session/${sessionID}/event${query}`, {
    authorization: `Bearer ${scene.server.token}`,
    ...headers,
  })

/** A session with this many events: its creation and waiting inputs. */
const fill = async (scene: HttpScene, events: number, text = "x"): Promise<void> => {
  await scene.client.sessions.create({ id: sessionID, location: { directory: scene.directory } })
  for (let seq = 2; seq <= events; seq += 1)
    await scene.client.sessions.prompt({ sessionID, prompt: { text }, resume: false })
}

const isSynced = (frame: RawFrame): boolean => frame.event === "synced"
const ids = (frames: readonly RawFrame[]): readonly (string | undefined)[] =>
  frames.filter((frame) => frame.retry === undefined).map((frame) => frame.id)

verifies(
  "http.replay",
  async () => {
    await using scene = await openHttpScene()
    await fill(scene, 4)
    await using reader = await open(scene, "?after=2")
    const replay = await reader.until(isSynced)
    expect(reader.response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8")
    expect(ids(replay)).toEqual(["3", "4", undefined])
    expect(JSON.parse(replay.at(-1)?.data ?? "")).toMatchObject({ type: "synced", data: { after: 4 } })
    await scene.client.sessions.prompt({ sessionID, prompt: { text: "new" }, resume: false })
    const frame = await reader.next()
    expect([frame?.id, frame?.event]).toEqual(["5", undefined])
    expect(JSON.parse(frame?.data ?? "")).toMatchObject({
      seq: 5,
      type: "session.next.prompt.admitted.1",
      data: { prompt: { text: "new" } },
    })
  },
  "behind the cursor, with a marker without an id where the replay ends",
)

test("Last-Event-ID wins over the cursor in the address", async () => {
  await using scene = await openHttpScene()
  await fill(scene, 4)
  await using reader = await open(scene, "?after=1", { "last-event-id": "3" })
  expect(ids(await reader.until(isSynced))).toEqual(["4", undefined])
})

test.each([
  ["?after=99", {}, "INVALID_CURSOR"],
  ["?after=-1", {}, "INVALID_INPUT"],
  ["?after=1.5", {}, "INVALID_INPUT"],
  ["?after=x", {}, "INVALID_INPUT"],
  ["?after=99999999999999999999", {}, "INVALID_INPUT"],
  ["", { "last-event-id": "99" }, "INVALID_CURSOR"],
  ["", { "last-event-id": "x" }, "INVALID_CURSOR"],
])("a cursor that is not one of this log is refused: %s %o", async (query, headers, code) => {
  await using scene = await openHttpScene()
  await fill(scene, 2)
  expect(await failureIn(scene.ask(`/api/session/${sessionID}/event${query}`, { headers }))).toEqual([
    400,
    code,
  ])
})

test("a replay of more than a page is whole and in order", async () => {
  await using scene = await openHttpScene([], { engine: { limits: { pendingInputs: 2_000 } } })
  await fill(scene, 1_201)
  await using reader = await open(scene, "?follow=false")
  const frames = await reader.until((frame) => frame.event === "closed")
  expect(ids(frames).filter((id) => id !== undefined)).toEqual(
    Array.from({ length: 1_201 }, (_, index) => String(index + 1)),
  )
  expect(await reader.next()).toBeUndefined()
})

test("live fragments come only when asked for, carry no id and move no cursor", async () => {
  const writing = gate()
  await using scene = await openHttpScene([
    async () => {
      await writing.pass()
      return { text: "one two three four five six seven eight", chunks: 4 }
    },
  ])
  await fill(scene, 1)
  await using withLive = await open(scene, "?live=true")
  await using without = await open(scene)
  await withLive.until(isSynced)
  await without.until(isSynced)
  await scene.client.sessions.prompt({ sessionID, prompt: { text: "write" } })
  await writing.reached
  writing.open()
  const isEnd = (frame: RawFrame): boolean => frame.data?.includes("session.next.step.ended") === true
  const [live, durable] = await Promise.all([withLive.until(isEnd), without.until(isEnd)])
  const fragments = live.filter((frame) => frame.event === "live")
  expect(fragments.length).toBeGreaterThan(0)
  expect(fragments.every((frame) => frame.id === undefined)).toBe(true)
  expect(durable.every((frame) => frame.event === undefined)).toBe(true)
  expect(live.filter((frame) => frame.event === undefined)).toEqual(durable)
})

test("a silent stream shows a sign of life", async () => {
  await using scene = await openHttpScene([], { limits: { heartbeatMs: 5 } })
  await fill(scene, 1)
  await using reader = await open(scene)
  const frames = await reader.until((frame) => frame.comment !== undefined)
  expect(frames.at(-1)).toEqual({ comment: "heartbeat" })
})

test("one stream more than the limit is refused, and a stream that ends makes room", async () => {
  await using scene = await openHttpScene([], { limits: { streams: 2 } })
  await fill(scene, 1)
  const first = await open(scene)
  await using second = await open(scene)
  await second.next()
  expect(await failureIn(scene.ask(`/api/session/${sessionID}/event`))).toEqual([503, "STREAMS_FULL"])
  await first[Symbol.asyncDispose]()
  for (;;) {
    await using third = await open(scene)
    if (third.response.status === 200) break
  }
})

test("a reader that takes nothing gets the reason and its last cursor, and loses nothing", async () => {
  await using scene = await openHttpScene([], { limits: { slowReaderMs: 2_000, streams: 2 } })
  const events = 40
  await fill(scene, events, "x".repeat(400_000))
  const { port, token } = scene.server
  const socket = connect(port, "127.0.0.1")
  socket.pause()
  socket.write(
    `GET /api/session/${sessionID}/event HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
  )
  // Does not hold up another reader.
  await using fast = await open(scene)
  expect(ids(await fast.until(isSynced)).length).toBe(events + 1)
  // The slot is free once the slow reader has left.
  while ((await scene.ask(`/api/session/${sessionID}/event?after=${events}&follow=false`)).status === 503);
  let text = ""
  socket.setEncoding("utf8")
  socket.on("data", (piece: string) => (text += piece))
  socket.resume()
  await new Promise((resolve) => socket.once("close", resolve))
  const closed = /event: closed\ndata: (.*)\n/.exec(text)?.[1] ?? ""
  const got = [...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]))
  expect(JSON.parse(closed)).toEqual({
    type: "closed",
    data: { reason: "slow-reader", after: got.at(-1) },
  })
  expect(got.length).toBeLessThan(events)
  await using again = await open(scene, `?after=${got.at(-1)}`)
  const rest = ids(await again.until(isSynced)).filter((id) => id !== undefined)
  expect([...got, ...rest.map(Number)]).toEqual(Array.from({ length: events }, (_, index) => index + 1))
})

test("a follower that stops reading is left with the cursor it got to, while the others go on", async () => {
  await using scene = await openHttpScene([], { limits: { slowReaderMs: 1_000, streams: 2 } })
  await fill(scene, 1)
  const { port, token } = scene.server
  const socket = connect(port, "127.0.0.1")
  let text = ""
  const synced = Promise.withResolvers<void>()
  socket.setEncoding("utf8")
  socket.on("data", (piece: string) => {
    text += piece
    if (text.includes("event: synced")) synced.resolve()
  })
  socket.write(
    `GET /api/session/${sessionID}/event HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
  )
  await synced.promise
  socket.pause()
  await using fast = await open(scene)
  await fast.until(isSynced)
  const last = 41
  const reading = fast.until((frame) => frame.id === String(last))
  for (let seq = 2; seq <= last; seq += 1)
    await scene.client.sessions.prompt({ sessionID, prompt: { text: "x".repeat(400_000) }, resume: false })
  const seen = ids(await reading)
  expect(seen).toEqual(Array.from({ length: last - 1 }, (_, index) => String(index + 2)))
  // The slot is free once the slow reader has left.
  while ((await scene.ask(`/api/session/${sessionID}/event?after=${last}&follow=false`)).status === 503);
  socket.resume()
  await new Promise((resolve) => socket.once("close", resolve))
  const got = [...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]))
  expect(got).toEqual(Array.from({ length: got.length }, (_, index) => index + 1))
  expect(got.length).toBeLessThan(last)
  expect(JSON.parse(/event: closed\ndata: (.*)\n/.exec(text)?.[1] ?? "")).toEqual({
    type: "closed",
    data: { reason: "slow-reader", after: got.at(-1) },
  })
})

test("a server that stops tells its readers where to continue", async () => {
  await using scene = await openHttpScene()
  await fill(scene, 3)
  await using reader = await open(scene)
  await reader.until(isSynced)
  const stopping = scene.server.stop()
  expect(await reader.next()).toEqual({
    event: "closed",
    data: JSON.stringify({ type: "closed", data: { reason: "server-stopping", after: 3 } }),
  })
  expect(await reader.next()).toBeUndefined()
  await stopping
})

test("a hundred readers of one session all see every event once and in order", async () => {
  await using scene = await openHttpScene()
  await fill(scene, 1)
  const readers = await Promise.all(Array.from({ length: 100 }, () => open(scene)))
  await Promise.all(readers.map((reader) => reader.until(isSynced)))
  for (let round = 0; round < 20; round += 1)
    await scene.client.sessions.prompt({ sessionID, prompt: { text: `n${round}` }, resume: false })
  const seen = await Promise.all(
    readers.map(async (reader) => ids(await reader.until((frame) => frame.id === "21"))),
  )
  const expected = Array.from({ length: 20 }, (_, index) => String(index + 2))
  for (const each of seen) expect(each).toEqual(expected)
  await Promise.all(readers.map((reader) => reader[Symbol.asyncDispose]()))
})

test("what this version cannot read is told as unknown, and no stored text breaks a frame", async () => {
  await using scene = await openHttpScene()
  await fill(scene, 1)
  const database = new DatabaseSync(join(scene.stateRoot, "engine.sqlite"))
  const { id } = database.prepare("select id from event").get() ?? {}
  const add = database.prepare("insert into event (id, type, time, data) values (?, ?, 7, ?)")
  const stored = [
    ["session.next.text.ended.9", "{}"],
    ["session.next.text.ended.1", '{"assistantMessageID":"m"}'],
    ["session.next.text.ended.1", '{"assistantMessageID":"m","text":'],
    ["session.next.text.ended.1", '{\n"assistantMessageID":"m",\r\n"text":"a\\nb"}'],
    ["session.next.text.ended.1", '["assistantMessageID","text"]'],
  ] as const
  for (const [index, [type, data]] of stored.entries()) add.run(Number(id) + index + 1, type, data)
  database.exec("update session set seq = 6")
  database.close()
  await using reader = await open(scene, "?after=1&follow=false")
  const frames = await reader.until(isSynced)
  const unknown = (seq: number, storedType: string, reason: string, problem?: string) => ({
    seq,
    time: 7,
    type: "unknown",
    data: { storedType, reason, ...(problem === undefined ? {} : { problem }) },
  })
  expect(frames.flatMap((frame) => (frame.id === undefined ? [] : [JSON.parse(frame.data ?? "")]))).toEqual([
    unknown(2, "session.next.text.ended.9", "unknown-type"),
    unknown(3, "session.next.text.ended.1", "unreadable", "`text` is missing"),
    unknown(4, "session.next.text.ended.1", "unreadable"),
    { seq: 5, time: 7, type: "session.next.text.ended.1", data: { assistantMessageID: "m", text: "a\nb" } },
    unknown(6, "session.next.text.ended.1", "unreadable", "The data must be an object, not a list"),
  ])
})

test("readers that come and go while events are written each see the rest once and in order", async () => {
  await using scene = await openHttpScene()
  await fill(scene, 1)
  const readers = Array.from({ length: 12 }, async (_, index) => {
    await using reader = await open(scene)
    const first = ids(await reader.until((frame) => Number(frame.id) >= 2 + index * 4))
    const numbers = first.filter((id) => id !== undefined).map(Number)
    await using again = await open(scene, `?after=${numbers.at(-1)}`)
    const rest = ids(await again.until((frame) => frame.id === "61"))
    return [...numbers, ...rest.filter((id) => id !== undefined).map(Number)]
  })
  for (let round = 0; round < 60; round += 1)
    await scene.client.sessions.prompt({ sessionID, prompt: { text: `n${round}` }, resume: false })
  const expected = Array.from({ length: 61 }, (_, index) => index + 1)
  for (const seen of await Promise.all(readers)) expect(seen).toEqual(expected)
})

test("changed sessions are reported: at once, when one is written here, and when one is written elsewhere", async () => {
  await using scene = await openHttpScene()
  await fill(scene, 1)
  await using reader = await openSse(`${scene.server.url}/api/event`, {
    authorization: `Bearer ${scene.server.token}`,
  })
  const isChange = (frame: RawFrame): boolean => frame.event === "changed"
  const change = async (): Promise<unknown> =>
    JSON.parse((await reader.until(isChange)).at(-1)?.data ?? "").data
  expect(await change()).toEqual({ sessions: [], elsewhere: true })
  await scene.client.sessions.prompt({ sessionID, prompt: { text: "x" }, resume: false })
  expect(await change()).toEqual({ sessions: [sessionID], elsewhere: false })
  const other = await openEngine({
    database: join(scene.stateRoot, "engine.sqlite"),
    models: [scriptedModel([], [])],
    recover: false,
  })
  await other.sessions.create({ id: "ses_2", location: { directory: scene.directory } })
  expect(await change()).toEqual({ sessions: [], elsewhere: true })
  await other.close()
  const stopping = scene.server.stop()
  expect((await reader.until((frame) => frame.event === "closed")).at(-1)?.data).toContain("server-stopping")
  await stopping
})

test("the client goes on after the connection broke, without a gap and without a repetition", async () => {
  let cuts = 0
  // Cuts each of the first answers after some bytes, possibly inside a frame.
  const cutting: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (!(typeof input === "string" && input.includes("/event")) || response.body === null || cuts >= 8)
      return response
    cuts += 1
    let left = 300 * cuts
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, controller) => {
        controller.enqueue(piece.subarray(0, left))
        left -= piece.length
        if (left <= 0) controller.error(new Error("cut"))
      },
    })
    return new Response(response.body.pipeThrough(cut), { status: response.status })
  }
  await using scene = await openHttpScene([], {}, cutting)
  await fill(scene, 60)
  const seen: number[] = []
  let breaks = 0
  for await (const event of scene.client.events({ sessionID, reconnectMs: 1 })) {
    if (event.type === "reconnecting") breaks += 1
    if ("seq" in event) seen.push(event.seq)
    if (seen.length === 60) break
  }
  expect(seen).toEqual(Array.from({ length: 60 }, (_, index) => index + 1))
  expect(breaks).toBeGreaterThan(3)
})

test("the client hears of changes again when the server is back", async () => {
  await using scene = await openHttpScene()
  await fill(scene, 1)
  const { port } = scene.server
  const leaving = new AbortController()
  const heard: unknown[] = []
  for await (const change of scene.client.changes({ reconnectMs: 1, signal: leaving.signal })) {
    heard.push(change)
    if (heard.length === 1) await scene.restart({ port })
    if (heard.length === 2)
      await scene.client.sessions.prompt({ sessionID, prompt: { text: "x" }, resume: false })
    if (heard.length === 3) leaving.abort()
  }
  const any = { sessions: [], elsewhere: true }
  expect(heard).toEqual([any, any, { sessions: [sessionID], elsewhere: false }])
})

test("the client gives up on what the server refuses", async () => {
  await using scene = await openHttpScene()
  const following = scene.client.events({ sessionID: "nobody" })[Symbol.asyncIterator]()
  await expect(following.next()).rejects.toMatchObject({ code: "SESSION_NOT_FOUND", status: 404 })
})
