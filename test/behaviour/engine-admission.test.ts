import { describe, expect, test } from "vitest"

import {
  allEvents,
  codeOf,
  conversation,
  eventTypes,
  gate,
  openEngineScene,
  shown,
  tool,
} from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

const sessionID = "ses_test"

describe("sessions.create", () => {
  verifies("create.generates-id", async () => {
    await using scene = await openEngineScene()
    const { sessions } = scene.engine
    const first = await sessions.create({ location: { directory: scene.directory } })
    const second = await sessions.create({ location: { directory: scene.directory } })
    expect(first.id).toMatch(/^ses_/)
    expect(second.id).not.toBe(first.id)
    expect(await sessions.get(first.id)).toEqual(first)
  })

  verifies("create.reuse", async () => {
    await using scene = await openEngineScene()
    const again = await scene.engine.sessions.create({
      id: sessionID,
      location: { directory: scene.elsewhere },
      title: "another",
    })
    expect(again).toEqual(scene.session)
    expect(await eventTypes(scene.engine)).toEqual(["created"])
  })

  verifies(
    "create.reuse",
    async () => {
      await using scene = await openEngineScene()
      const location = { directory: scene.directory }
      const made = await Promise.all(
        Array.from({ length: 8 }, () => scene.engine.sessions.create({ id: "ses_raced", location })),
      )
      expect(new Set(made.map((session) => JSON.stringify(session))).size).toBe(1)
      expect(await eventTypes(scene.engine, "ses_raced")).toEqual(["created"])
    },
    "also when eight callers race",
  )

  test("a session needs a directory that exists", async () => {
    await using scene = await openEngineScene()
    const { sessions } = scene.engine
    expect(await codeOf(sessions.create({ location: { directory: "relative" } }))).toBe("INVALID_INPUT")
    expect(await codeOf(sessions.create({ location: { directory: `${scene.directory}/none` } }))).toBe(
      "LOCATION_NOT_FOUND",
    )
    expect(await codeOf(sessions.create({ id: "no spaces", location: { directory: scene.directory } }))).toBe(
      "INVALID_INPUT",
    )
  })
})

describe("sessions.prompt", () => {
  verifies("prompt.generates-id", async () => {
    await using scene = await openEngineScene()
    const receipt = await scene.engine.sessions.prompt({ sessionID, prompt: { text: "hello" } })
    expect(receipt).toMatchObject({ sessionID, prompt: { text: "hello" }, delivery: "steer", admittedSeq: 2 })
    await scene.engine.sessions.wait(sessionID)
    const message = await scene.engine.sessions.message({ sessionID, id: receipt.id })
    expect(message).toMatchObject({ type: "user", text: "hello" })
  })

  verifies("prompt.admits-once", async () => {
    await using scene = await openEngineScene()
    const prompt = { id: "msg_1", sessionID, prompt: { text: "hello" }, resume: false }
    await scene.engine.sessions.prompt(prompt)
    await scene.engine.sessions.prompt(prompt)
    expect(await eventTypes(scene.engine)).toEqual(["created", "prompt.admitted"])
  })

  verifies("prompt.retry.exact", async () => {
    await using scene = await openEngineScene()
    const { sessions } = scene.engine
    const prompt = { id: "msg_1", sessionID, prompt: { text: "hello" } }
    const first = await sessions.prompt(prompt)
    await sessions.wait(sessionID)
    const again = await sessions.prompt(prompt)
    const { promotedSeq, ...rest } = again
    expect(rest).toEqual(first)
    expect(promotedSeq).toBeGreaterThan(first.admittedSeq)
    await sessions.wait(sessionID)
    expect(scene.requests).toHaveLength(1)
  })

  verifies(
    "prompt.retry.exact",
    async () => {
      await using scene = await openEngineScene([], { limits: { pendingInputs: 1 } })
      const { sessions } = scene.engine
      const prompt = { id: "msg_1", sessionID, prompt: { text: "hello" }, resume: false }
      const first = await sessions.prompt(prompt)
      expect(await sessions.prompt(prompt)).toEqual(first)
    },
    "also when the inbox is full",
  )

  verifies("prompt.retry.wakes", async () => {
    await using scene = await openEngineScene()
    const { sessions } = scene.engine
    const prompt = { id: "msg_1", sessionID, prompt: { text: "hello" } }
    await sessions.prompt({ ...prompt, resume: false })
    await sessions.prompt({ ...prompt, resume: false })
    await sessions.wait(sessionID)
    expect(scene.requests).toHaveLength(0)
    await sessions.prompt(prompt)
    await sessions.wait(sessionID)
    expect(shown(scene.requests[0])).toEqual(["user: hello"])
  })

  verifies("prompt.conflict", async () => {
    await using scene = await openEngineScene()
    const { sessions } = scene.engine
    await sessions.create({ id: "ses_other", location: { directory: scene.directory } })
    const prompt = { id: "msg_1", sessionID, prompt: { text: "hello" }, resume: false }
    await sessions.prompt(prompt)
    for (const change of [
      { sessionID: "ses_other" },
      { prompt: { text: "other" } },
      { delivery: "queue" as const },
      { prompt: { text: "hello", files: [{ mediaType: "text/plain", base64: "aGk=" }] } },
    ])
      expect(await codeOf(sessions.prompt({ ...prompt, ...change }))).toBe("PROMPT_CONFLICT")
    expect(await eventTypes(scene.engine)).toEqual(["created", "prompt.admitted"])
    expect(await eventTypes(scene.engine, "ses_other")).toEqual(["created"])
  })

  verifies(
    "prompt.conflict",
    async () => {
      await using scene = await openEngineScene([{ text: "hi" }])
      const { sessions } = scene.engine
      await sessions.prompt({ sessionID, prompt: { text: "hello" } })
      await sessions.wait(sessionID)
      const [, assistant] = (await sessions.messages({ sessionID })).items
      const reuse = { id: assistant?.id ?? "", sessionID, prompt: { text: "hello" } }
      expect(await codeOf(sessions.prompt(reuse))).toBe("PROMPT_CONFLICT")
    },
    "also with the id of an assistant message",
  )

  verifies("prompt.resume", async () => {
    await using scene = await openEngineScene([{ text: "hi" }, { text: "again" }])
    const { sessions } = scene.engine
    await sessions.prompt({ sessionID, prompt: { text: "one" } })
    await sessions.wait(sessionID)
    await sessions.prompt({ sessionID, prompt: { text: "two" }, resume: true })
    await sessions.wait(sessionID)
    expect(await conversation(scene.engine)).toEqual([
      "user: one",
      "assistant: hi",
      "user: two",
      "assistant: again",
    ])
  })

  verifies("prompt.admit-only", async () => {
    await using scene = await openEngineScene()
    const { sessions } = scene.engine
    await sessions.prompt({ id: "msg_1", sessionID, prompt: { text: "one" }, resume: false })
    expect(await sessions.active()).toEqual([])
    await sessions.wait(sessionID)
    expect(scene.requests).toHaveLength(0)
    const reopened = await scene.reopen()
    expect(await reopened.sessions.active()).toEqual([])
    expect(await reopened.sessions.inputs(sessionID)).toMatchObject([{ id: "msg_1", resume: false }])
    expect(scene.requests).toHaveLength(0)
    await reopened.sessions.wake(sessionID)
    await reopened.sessions.wait(sessionID)
    expect(shown(scene.requests[0])).toEqual(["user: one"])
  })

  verifies(
    "prompt.admit-only",
    async () => {
      await using scene = await openEngineScene()
      const { sessions } = scene.engine
      await sessions.prompt({ sessionID, prompt: { text: "one" }, resume: false })
      await sessions.prompt({ sessionID, prompt: { text: "two" } })
      await sessions.wait(sessionID)
      expect(shown(scene.requests[0])).toEqual(["user: one", "user: two"])
    },
    "a later prompt takes it along",
  )

  test("a prompt has text or a file, and a bound", async () => {
    await using scene = await openEngineScene()
    const { sessions } = scene.engine
    expect(await codeOf(sessions.prompt({ sessionID, prompt: { text: "" } }))).toBe("INVALID_INPUT")
    const large = { text: "x".repeat(16 * 1024 * 1024 + 1) }
    expect(await codeOf(sessions.prompt({ sessionID, prompt: large }))).toBe("INVALID_INPUT")
    expect(await codeOf(sessions.prompt({ sessionID: "ses_none", prompt: { text: "x" } }))).toBe(
      "SESSION_NOT_FOUND",
    )
    expect(await eventTypes(scene.engine)).toEqual(["created"])
  })
})

describe("the inbox", () => {
  verifies("inbox.outside-history", async () => {
    await using scene = await openEngineScene()
    const { sessions } = scene.engine
    await sessions.prompt({ id: "msg_1", sessionID, prompt: { text: "one" }, resume: false })
    expect(await conversation(scene.engine)).toEqual([])
    expect(await sessions.message({ sessionID, id: "msg_1" })).toBeUndefined()
    await sessions.run(sessionID)
    expect(await conversation(scene.engine)).toEqual(["user: one", "assistant: done"])
  })

  verifies("inbox.promotion-atomic", async () => {
    await using scene = await openEngineScene()
    const { sessions } = scene.engine
    await sessions.prompt({ id: "msg_1", sessionID, prompt: { text: "one" }, resume: false })
    let promotedSeq = 0
    const look = (async () => {
      for await (const event of sessions.events({ sessionID, follow: true }))
        if (event.type === "session.next.prompt.promoted.1") {
          promotedSeq = event.seq
          expect(await sessions.inputs(sessionID)).toEqual([])
          expect(await sessions.message({ sessionID, id: "msg_1" })).toMatchObject({ seq: event.seq })
          return
        }
    })()
    await sessions.run(sessionID)
    await look
    const retried = await sessions.prompt({ id: "msg_1", sessionID, prompt: { text: "one" }, resume: false })
    expect(retried.promotedSeq).toBe(promotedSeq)
  })

  verifies("inbox.limit", async () => {
    await using scene = await openEngineScene()
    const { sessions } = scene.engine
    for (let index = 0; index < 256; index += 1)
      await sessions.prompt({ id: `msg_${index}`, sessionID, prompt: { text: `${index}` }, resume: false })
    const before = await allEvents(scene.engine)
    const refused = sessions.prompt({ id: "msg_256", sessionID, prompt: { text: "256" } })
    expect(await codeOf(refused)).toBe("INBOX_FULL")
    expect(await allEvents(scene.engine)).toEqual(before)
    expect(await sessions.inputs(sessionID)).toHaveLength(256)
    await sessions.cancel({ sessionID, id: "msg_7" })
    const admitted = await sessions.prompt({
      id: "msg_256",
      sessionID,
      prompt: { text: "256" },
      resume: false,
    })
    expect(admitted.admittedSeq).toBe(259)
  })

  verifies("inbox.list-cancel", async () => {
    const turn = gate()
    await using scene = await openEngineScene([
      async () => {
        await turn.pass()
        return { text: "hi" }
      },
    ])
    const { sessions } = scene.engine
    await sessions.prompt({ id: "msg_1", sessionID, prompt: { text: "one" } })
    await turn.reached
    await sessions.prompt({ id: "msg_2", sessionID, prompt: { text: "two" }, delivery: "queue" })
    await sessions.prompt({ id: "msg_3", sessionID, prompt: { text: "three" } })
    const pending = await sessions.inputs(sessionID)
    expect(pending.map(({ id, delivery }) => [id, delivery])).toEqual([
      ["msg_2", "queue"],
      ["msg_3", "steer"],
    ])
    expect(await sessions.cancel({ sessionID, id: "msg_2" })).toMatchObject({ id: "msg_2" })
    expect(await codeOf(sessions.cancel({ sessionID, id: "msg_2" }))).toBe("INPUT_NOT_FOUND")
    expect(await codeOf(sessions.cancel({ sessionID, id: "msg_1" }))).toBe("INPUT_NOT_FOUND")
    expect(await codeOf(sessions.cancel({ sessionID, id: "msg_none" }))).toBe("INPUT_NOT_FOUND")
    turn.open()
    await sessions.wait(sessionID)
    expect(await conversation(scene.engine)).toEqual([
      "user: one",
      "assistant: hi",
      "user: three",
      "assistant: done",
    ])
  })

  test("an input of one session cannot be cancelled through another", async () => {
    await using scene = await openEngineScene()
    const { sessions } = scene.engine
    await sessions.create({ id: "ses_other", location: { directory: scene.directory } })
    await sessions.prompt({ id: "msg_1", sessionID, prompt: { text: "one" }, resume: false })
    expect(await codeOf(sessions.cancel({ sessionID: "ses_other", id: "msg_1" }))).toBe("INPUT_NOT_FOUND")
    expect(await sessions.inputs(sessionID)).toHaveLength(1)
  })
})

describe("delivery", () => {
  const callTool = { tools: [{ name: "act" }] }

  verifies("steer.joins", async () => {
    const acting = gate()
    await using scene = await openEngineScene([callTool], {
      tools: [
        tool("act", async () => {
          await acting.pass()
          return "acted"
        }),
      ],
    })
    const { sessions } = scene.engine
    await sessions.prompt({ sessionID, prompt: { text: "one" } })
    await acting.reached
    await sessions.prompt({ sessionID, prompt: { text: "steered" } })
    acting.open()
    await sessions.wait(sessionID)
    expect(scene.requests).toHaveLength(2)
    expect(shown(scene.requests[1])).toEqual(["user: one", "call: act", "result: acted", "user: steered"])
  })

  verifies("steer.coalesces", async () => {
    await using scene = await openEngineScene()
    const { sessions } = scene.engine
    for (const id of ["msg_c", "msg_a", "msg_b"])
      await sessions.prompt({ id, sessionID, prompt: { text: id }, resume: false })
    await sessions.wake(sessionID)
    await sessions.wait(sessionID)
    expect(scene.requests.map(shown)).toEqual([["user: msg_c", "user: msg_a", "user: msg_b"]])
  })

  verifies("steer.batch", async () => {
    await using scene = await openEngineScene([], { limits: { steerBatch: 2 } })
    const { sessions } = scene.engine
    for (const id of ["1", "2", "3", "4", "5"])
      await sessions.prompt({ id: `msg_${id}`, sessionID, prompt: { text: id }, resume: false })
    await sessions.wake(sessionID)
    await sessions.wait(sessionID)
    expect((await eventTypes(scene.engine)).filter((type) => /promoted|step.started/.test(type))).toEqual([
      "prompt.promoted",
      "prompt.promoted",
      "step.started",
      "prompt.promoted",
      "prompt.promoted",
      "step.started",
      "prompt.promoted",
      "step.started",
    ])
  })

  verifies("queue.fifo", async () => {
    await using scene = await openEngineScene([{ text: "A" }, callTool, { text: "B" }, { text: "C" }], {
      tools: [tool("act", () => "acted")],
    })
    const { sessions } = scene.engine
    for (const text of ["a", "b", "c"])
      await sessions.prompt({ sessionID, prompt: { text }, delivery: "queue", resume: false })
    await sessions.wake(sessionID)
    await sessions.wait(sessionID)
    expect(await conversation(scene.engine)).toEqual([
      "user: a",
      "assistant: A",
      "user: b",
      "act: completed",
      "assistant: B",
      "user: c",
      "assistant: C",
    ])
  })

  verifies("queue.after-steers", async () => {
    await using scene = await openEngineScene()
    const { sessions } = scene.engine
    await sessions.prompt({ sessionID, prompt: { text: "queued" }, delivery: "queue", resume: false })
    await sessions.prompt({ sessionID, prompt: { text: "steer" }, resume: false })
    await sessions.wake(sessionID)
    await sessions.wait(sessionID)
    expect(await conversation(scene.engine)).toEqual([
      "user: steer",
      "assistant: done",
      "user: queued",
      "assistant: done",
    ])
  })
})
