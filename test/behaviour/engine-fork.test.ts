/** A fork has the settled past of its source, and nothing else of it. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"

import { openEngine, type Reply, type ScriptRequest } from "@meridian/engine"
import { engineLayer, Sessions } from "@meridian/engine/effect"
import { Effect } from "effect"
import { expect, test } from "vitest"

import { brokenLaws, rebuiltDifferently } from "../engine-laws.ts"
import {
  allEvents,
  allMessages,
  codeOf,
  conversation,
  gate,
  openEngineScene,
  short,
  shown,
  tool,
  untilEvent,
} from "../engine-scene.ts"
import { isSummaryRequest, openScene } from "../layout/scene.ts"
import { isOnServer, verifies } from "../verifies.ts"

const LONG = "lorem ipsum dolor sit amet ".repeat(60)

/** Without what belongs to a session alone. */
const bodyOf = (request: ScriptRequest | undefined) => ({ ...Object(request?.body), sessionID: "" })

const withoutIds = (messages: Awaited<ReturnType<typeof allMessages>>) =>
  messages.map(({ id: _id, ...message }) => message)

verifies(
  "fork.next-request",
  async () => {
    const answer = (request: ScriptRequest, n: number): Reply => {
      if (isSummaryRequest(request)) return { text: `## Goal\nsummary ${n}` }
      return n % 2 === 0
        ? { text: `answer ${LONG}`, reasoning: "thinking" }
        : { tools: [{ name: "read", input: { path: "notes.txt" } }] }
    }
    await using scene = await openScene(answer, { contextWindow: 12_000, compaction: { keepTokens: 100 } })
    const { engine, sessionID, requests, directory } = scene
    const { sessions } = engine
    writeFileSync(join(directory, "notes.txt"), `some notes ${LONG}`)
    for (let n = 1; (await sessions.receipts(sessionID)).length < 2; n += 1) {
      await scene.ask(`question ${n}`)
      if (n === 3) await sessions.switchModel({ sessionID, model: "b/two" })
      writeFileSync(join(directory, "AGENTS.md"), `rule ${n}`)
    }
    await scene.ask("one more")
    const fork = await sessions.fork({ sessionID, id: "ses_fork" })

    const ask = async (id: string) => {
      const before = requests.length
      await sessions.prompt({ sessionID: id, prompt: { text: "and now?" } })
      await sessions.wait(id)
      return bodyOf(requests[before])
    }
    expect(fork).toMatchObject({ id: "ses_fork", model: "b/two", status: "idle" })
    const expected = await ask(sessionID)
    const asked = await ask("ses_fork")
    expect(asked).toEqual(expected)
    expect(JSON.stringify(asked)).toContain("<checkpoint>")
  },
  "checkpoint, model, context and results are in force",
)

test("events, messages, receipts and usage are those of the source, under ids of their own", async () => {
  await using scene = await openEngineScene(
    [{ text: "first", reasoning: "hm", tools: [{ name: "act" }, { name: "fails" }] }, { text: "second" }],
    {
      tools: [tool("act", () => "acted"), tool("fails", () => Promise.reject(new Error("no")))],
    },
  )
  const { engine, session } = scene
  await engine.sessions.prompt({ sessionID: session.id, prompt: { text: "go" } })
  await engine.sessions.wait(session.id)
  const fork = await engine.sessions.fork({ sessionID: session.id })
  const { node: _worker, ...source } = await engine.sessions.get(session.id)
  // No node of a cluster works on the fork yet.
  expect(fork).toEqual({ ...source, id: fork.id })
  const [before, after] = [await allEvents(engine, session.id), await allEvents(engine, fork.id)]
  expect(after.map(({ type, time }) => [type, time])).toEqual(before.map(({ type, time }) => [type, time]))
  expect(after[0]?.data).toMatchObject({
    sessionID: fork.id,
    parent: { sessionID: session.id, through: source.seq },
  })
  expect(brokenLaws(after)).toEqual([])
  const messages = [await allMessages(engine, session.id), await allMessages(engine, fork.id)] as const
  expect(withoutIds(messages[1])).toEqual(withoutIds(messages[0]))
  expect(messages[1].filter(({ id }) => messages[0].some((other) => other.id === id))).toEqual([])
  await scene.reopen()
  expect(isOnServer ? [] : rebuiltDifferently(scene.file)).toEqual([])
})

verifies(
  "fork.settled-only",
  async () => {
    const held = gate()
    await using scene = await openEngineScene(
      [
        { text: "working", tools: [{ name: "quick" }] },
        { text: "more", tools: [{ name: "quick" }, { name: "slow" }] },
      ],
      { tools: [tool("quick", () => "quick"), tool("slow", () => held.pass())] },
    )
    const { engine, session } = scene
    await engine.sessions.prompt({ id: "msg_a", sessionID: session.id, prompt: { text: "begin" } })
    await held.reached
    await engine.sessions.prompt({ sessionID: session.id, prompt: { text: "steer" } })
    const fork = await engine.sessions.fork({ sessionID: session.id })
    expect(await conversation(engine, fork.id)).toEqual([
      "user: begin",
      "assistant: working",
      "quick: completed",
    ])
    expect(await engine.sessions.inputs(fork.id)).toEqual([])
    expect(fork.status).toBe("idle")
    expect(brokenLaws(await allEvents(engine, fork.id))).toEqual([])
    expect((await engine.sessions.inputs(session.id)).length).toBe(1)
    // The next request of the fork is the one that the source has open.
    await engine.sessions.run(fork.id)
    expect(shown(scene.requests[2])).toEqual(shown(scene.requests[1]))
    held.open()
    await engine.sessions.wait(session.id)
  },
  "an open turn, its calls and what waits are not copied",
)

test("an open question stays with the source, its call too", async () => {
  await using scene = await openEngineScene([{ tools: [{ name: "careful" }] }], {
    tools: [tool("careful", () => "done")],
    permissions: [{ action: "*", resource: "*", effect: "ask" }],
  })
  const { engine, session } = scene
  await engine.sessions.prompt({ sessionID: session.id, prompt: { text: "go" } })
  await untilEvent(engine, "permission.asked")
  const fork = await engine.sessions.fork({ sessionID: session.id })
  expect(fork.status).toBe("idle")
  expect((await engine.permissions.list()).map(({ sessionID }) => sessionID)).toEqual([session.id])
  expect((await allEvents(engine, fork.id)).map(({ type }) => short(type)).at(-1)).toBe("prompt.promoted")
  await engine.sessions.interrupt(session.id)
})

test("a compaction that was asked for and not begun is the source's alone", async () => {
  const held = gate()
  await using scene = await openEngineScene([
    async () => {
      await held.pass()
      return { text: "late" }
    },
  ])
  const { engine, session } = scene
  await engine.sessions.prompt({ sessionID: session.id, prompt: { text: "go" } })
  await held.reached
  const compacted = engine.sessions.compact(session.id)
  await untilEvent(engine, "compaction.requested")
  const fork = await engine.sessions.fork({ sessionID: session.id })
  expect((await allEvents(engine, fork.id)).map(({ type }) => short(type))).not.toContain(
    "compaction.requested",
  )
  held.open()
  await compacted
})

verifies(
  "fork.retry",
  async () => {
    await using scene = await openEngineScene()
    const { engine, session } = scene
    await engine.sessions.prompt({ sessionID: session.id, prompt: { text: "go" } })
    await engine.sessions.wait(session.id)
    const request = { sessionID: session.id, id: "ses_copy" }
    const first = await engine.sessions.fork(request)
    await engine.sessions.prompt({ sessionID: session.id, prompt: { text: "more" } })
    await engine.sessions.wait(session.id)
    expect(await engine.sessions.fork(request)).toEqual(first)
    const [one, two] = await Promise.all(
      [1, 2].map(() => engine.sessions.fork({ sessionID: session.id, id: "ses_both" })),
    )
    expect(one).toEqual(two)
    await engine.sessions.create({ id: "ses_other", location: { directory: scene.directory } })
    expect(await codeOf(engine.sessions.fork({ sessionID: session.id, id: "ses_other" }))).toBe(
      "SESSION_EXISTS",
    )
    expect(await codeOf(engine.sessions.fork({ sessionID: session.id, id: session.id }))).toBe(
      "SESSION_EXISTS",
    )
    expect((await engine.sessions.list()).items.length).toBe(4)
  },
  "the same id gives the first fork, any other session under it is in the way",
)

test("bad requests are typed failures and leave nothing behind", async () => {
  await using scene = await openEngineScene()
  const { sessions } = scene.engine
  expect(await codeOf(sessions.fork({ sessionID: "ses_nowhere" }))).toBe("SESSION_NOT_FOUND")
  expect(await codeOf(sessions.fork({ sessionID: scene.session.id, id: "a b" }))).toBe("INVALID_INPUT")
  expect(await codeOf(sessions.fork({ sessionID: "" }))).toBe("INVALID_INPUT")
  // @ts-expect-error a caller without types
  expect(await codeOf(sessions.fork(undefined))).toBe("INVALID_INPUT")
  expect((await sessions.list()).items.map(({ id }) => id)).toEqual([scene.session.id])
})

test("a fork can be forked, and both go on by themselves", async () => {
  await using scene = await openEngineScene()
  const { engine, session } = scene
  const ask = async (sessionID: string, text: string) => {
    await engine.sessions.prompt({ sessionID, prompt: { text } })
    await engine.sessions.wait(sessionID)
  }
  await ask(session.id, "one")
  const child = await engine.sessions.fork({ sessionID: session.id })
  await ask(child.id, "two")
  const grandchild = await engine.sessions.fork({ sessionID: child.id })
  await ask(grandchild.id, "three")
  await ask(session.id, "other")
  const users = async (id: string) =>
    (await conversation(engine, id)).filter((line) => line.startsWith("user"))
  expect(await users(grandchild.id)).toEqual(["user: one", "user: two", "user: three"])
  expect(await users(child.id)).toEqual(["user: one", "user: two"])
  expect(await users(session.id)).toEqual(["user: one", "user: other"])
})

test("an engine in memory forks too, and the Effect service has the same verb", async () => {
  await using scene = await openEngineScene()
  const options = { ...scene.options, database: ":memory:" }
  const location = { directory: scene.directory }
  const engine = await openEngine(options)
  const made = await engine.sessions.create({ location })
  expect((await engine.sessions.fork({ sessionID: made.id, id: "ses_2" })).seq).toBe(1)
  await engine.close()
  const program = Effect.gen(function* () {
    const sessions = yield* Sessions
    const { id } = yield* sessions.create({ location })
    const missing = yield* Effect.flip(sessions.fork({ sessionID: "ses_nowhere" }))
    return [(yield* sessions.fork({ sessionID: id, id: "ses_3" })).id, missing.code]
  })
  expect(await Effect.runPromise(Effect.provide(program, engineLayer(options)))).toEqual([
    "ses_3",
    "SESSION_NOT_FOUND",
  ])
})

test("whoever watches the sessions is told of the fork when it is there", async () => {
  await using scene = await openEngineScene()
  const { engine, session } = scene
  const changes = engine.sessions.changes()[Symbol.asyncIterator]()
  const told = changes.next()
  await engine.sessions.fork({ sessionID: session.id, id: "ses_told" })
  expect((await told).value).toMatchObject({ sessions: ["ses_told"] })
  await changes.return?.()
})

verifies("fork.at", async () => {
  await using scene = await openEngineScene(
    [{ text: "first", tools: [{ name: "act" }] }, { text: "second" }, { text: "third" }],
    { tools: [tool("act", () => "acted")] },
  )
  const { engine, session } = scene
  const { sessions } = engine
  const sessionID = session.id
  const ask = async (id: string, text: string) => {
    await sessions.prompt({ id, sessionID, prompt: { text } })
    await sessions.wait(sessionID)
  }
  await ask("msg_one", "one")
  await ask("msg_two", "two")
  const [, first, second] = await allMessages(engine)
  const forkAt = async (at: string, id: string) => {
    const fork = await sessions.fork({ sessionID, at, id })
    expect(brokenLaws(await allEvents(engine, fork.id))).toEqual([])
    return conversation(engine, fork.id)
  }
  expect(await forkAt("msg_one", "ses_a")).toEqual(["user: one"])
  expect(await forkAt(first?.id ?? "", "ses_b")).toEqual(["user: one", "assistant: first", "act: completed"])
  expect(await forkAt(second?.id ?? "", "ses_c")).toEqual([
    "user: one",
    "assistant: first",
    "act: completed",
    "assistant: second",
  ])
  // It continues from there.
  await sessions.prompt({ sessionID: "ses_c", prompt: { text: "other" } })
  await sessions.wait("ses_c")
  expect(shown(scene.requests.at(-1)).filter((line) => line.startsWith("user"))).toEqual([
    "user: one",
    "user: other",
  ])
  // It counts as a retry only when it ends with the same message.
  expect((await sessions.fork({ sessionID, at: "msg_one", id: "ses_a" })).id).toBe("ses_a")
  expect(await codeOf(sessions.fork({ sessionID, at: "msg_two", id: "ses_a" }))).toBe("SESSION_EXISTS")
  expect(await codeOf(sessions.fork({ sessionID, at: "msg_nowhere" }))).toBe("MESSAGE_NOT_FOUND")
})

test("a message that is being worked on cannot end a fork, and what came before it can", async () => {
  const held = gate()
  await using scene = await openEngineScene([{ text: "working", tools: [{ name: "slow" }] }], {
    tools: [tool("slow", () => held.pass())],
  })
  const { engine, session } = scene
  await engine.sessions.prompt({ id: "msg_a", sessionID: session.id, prompt: { text: "begin" } })
  await held.reached
  const open = (await allMessages(engine)).at(-1)
  expect(open?.type).toBe("assistant")
  const fork = (at: string) => engine.sessions.fork({ sessionID: session.id, at, id: "ses_open" })
  expect(await codeOf(fork(open?.id ?? ""))).toBe("MESSAGE_NOT_SETTLED")
  await fork("msg_a")
  expect(await conversation(engine, "ses_open")).toEqual(["user: begin"])
  held.open()
  await engine.sessions.wait(session.id)
})
