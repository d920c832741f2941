import type { Engine } from "@meridian/engine"
import { describe, expect, test } from "vitest"

import {
  allMessages,
  ALLOW_ALL,
  codeOf,
  conversation,
  eventTypes,
  gate,
  openEngineScene,
  scriptedModel,
  shown,
  tool,
  untilEvent,
  type Answer,
} from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

const sessionID = "ses_test"
const go = { sessionID, prompt: { text: "go" } }
const bash = (command: string): Answer => ({ tools: [{ name: "bash", input: { command } }] })
const act: Answer = { tools: [{ name: "act" }] }
const ASK_ACT = [...ALLOW_ALL, { action: "act", resource: "*", effect: "ask" } as const]

const asked = async (engine: Engine, times = 1) => {
  await untilEvent(engine, "permission.asked", times)
  const [request] = await engine.permissions.list({ sessionID })
  return request ?? { id: "none", action: "", resource: "", resources: [] }
}

describe("rules", () => {
  verifies("permission.last-match", async () => {
    await using scene = await openEngineScene([bash("echo one"), bash("echo two"), bash("rm three")], {
      permissions: [
        { action: "*", resource: "*", effect: "deny" },
        { action: "bash", resource: "*", effect: "deny" },
        { action: "bash", resource: "echo *", effect: "allow" },
        { action: "bash", resource: "echo t?o", effect: "deny" },
      ],
    })
    await scene.engine.sessions.prompt(go)
    await scene.engine.sessions.wait(sessionID)
    expect(await conversation(scene.engine)).toEqual([
      "user: go",
      "bash: completed",
      "bash: error",
      "bash: error",
      "assistant: done",
    ])
    expect(shown(scene.requests[2]).at(-1)).toContain("echo t?o")
  })

  verifies("permission.ask-default", async () => {
    await using scene = await openEngineScene([bash("echo one")], { permissions: [] })
    const { engine } = scene
    await engine.sessions.prompt(go)
    const request = await asked(engine)
    expect(request).toMatchObject({ sessionID, action: "bash", resource: "echo one" })
    expect((await engine.sessions.get(sessionID)).status).toBe("waiting")
    const [, message] = await allMessages(engine)
    expect(message).toMatchObject({ content: [{ state: { status: "waiting", requestID: request.id } }] })
    await engine.permissions.reply({ requestID: request.id, reply: "once" })
    await engine.sessions.wait(sessionID)
    expect(await conversation(engine)).toEqual(["user: go", "bash: completed", "assistant: done"])
    expect(await engine.permissions.list()).toEqual([])
  })

  verifies("permission.agent-rules", async () => {
    const acting = gate()
    await using scene = await openEngineScene([act, act], {
      permissions: ASK_ACT,
      tools: [tool("act", () => acting.pass().then(() => "acted"))],
      agents: [
        {
          name: "careful",
          permissions: [
            { action: "act", resource: "*", effect: "deny" },
            { action: "act", resource: "never", effect: "allow" },
          ],
        },
      ],
    })
    const { engine } = scene
    await engine.sessions.prompt(go)
    await engine.permissions.reply({ requestID: (await asked(engine)).id, reply: "always" })
    await acting.reached
    await engine.sessions.switchAgent({ sessionID, agent: "careful" })
    acting.open()
    await engine.sessions.wait(sessionID)
    expect(await conversation(engine)).toEqual([
      "user: go",
      "act: completed",
      "agent-switched",
      // The model is told of the switch, after what it had asked for.
      "system",
      "act: error",
      "assistant: done",
    ])
  })
})

describe("replies", () => {
  const scripted = () =>
    openEngineScene([act, act], { permissions: ASK_ACT, tools: [tool("act", () => "acted")] })

  verifies("permission.once", async () => {
    await using scene = await scripted()
    const { engine } = scene
    await engine.sessions.prompt(go)
    const first = await asked(engine)
    await engine.permissions.reply({ requestID: first.id, reply: "once" })
    const second = await asked(engine, 2)
    expect(second.id).not.toBe(first.id)
    expect(await codeOf(engine.permissions.reply({ requestID: first.id, reply: "once" }))).toBe(
      "REQUEST_NOT_FOUND",
    )
    await engine.permissions.reply({ requestID: second.id, reply: "once" })
    await engine.sessions.wait(sessionID)
    expect(await conversation(engine)).toEqual([
      "user: go",
      "act: completed",
      "act: completed",
      "assistant: done",
    ])
  })

  verifies("permission.session", async () => {
    const write = (path: string) => ({ tools: [{ name: "write", input: { path, content: "x" } }] })
    await using scene = await openEngineScene(
      [write("a.txt"), write("b.txt"), write(".claude/settings.json"), { text: "done" }, write("c.txt")],
      {
        permissions: [
          { action: "edit", resource: "*", effect: "ask" },
          { action: "edit", resource: ".claude/*", effect: "ask" },
        ],
      },
    )
    const { engine } = scene
    await engine.sessions.prompt(go)
    await engine.permissions.reply({ requestID: (await asked(engine)).id, reply: "session" })
    const guarded = await asked(engine, 2)
    expect(guarded.resource).toBe(".claude/settings.json")
    await engine.permissions.reply({ requestID: guarded.id, reply: "reject" })
    await engine.sessions.wait(sessionID)
    expect(await conversation(engine)).toEqual([
      "user: go",
      "write: completed",
      "write: completed",
      "write: error",
      "assistant: done",
    ])
    const other = await engine.sessions.create({ location: { directory: scene.directory } })
    await engine.sessions.prompt({ sessionID: other.id, prompt: { text: "go" } })
    await untilEvent(engine, "permission.asked", 1, other.id)
    expect((await engine.permissions.list({ sessionID: other.id })).map(({ resource }) => resource)).toEqual([
      "c.txt",
    ])
  })

  test("only an edit is answered for the session", async () => {
    await using scene = await scripted()
    const { engine } = scene
    await engine.sessions.prompt(go)
    const { id } = await asked(engine)
    expect(await codeOf(engine.permissions.reply({ requestID: id, reply: "session" }))).toBe("INVALID_INPUT")
    expect(await engine.permissions.list()).toHaveLength(1)
  })

  verifies("permission.revoke", async () => {
    await using scene = await scripted()
    const { engine } = scene
    await engine.sessions.prompt(go)
    await engine.permissions.reply({ requestID: (await asked(engine)).id, reply: "always" })
    await engine.sessions.wait(sessionID)
    // A fork has the same answer in its history.
    await engine.sessions.fork({ sessionID, id: "ses_fork" })
    const [saved, ...more] = await engine.permissions.saved()
    expect([saved, more]).toEqual([
      {
        id: expect.stringMatching(/^apr_[0-9a-f]{16}$/),
        project: scene.directory,
        action: "act",
        resource: "\\*",
        sessionID,
        time: expect.any(Number),
      },
      [],
    ])
    await engine.permissions.revoke({ id: saved?.id ?? "" })
    expect(await engine.permissions.saved()).toEqual([])
    expect(await codeOf(engine.permissions.revoke({ id: saved?.id ?? "" }))).toBe("APPROVAL_NOT_FOUND")
    expect(await codeOf(engine.permissions.revoke({ id: "apr_0" }))).toBe("APPROVAL_NOT_FOUND")
    const again = await scene.reopen({ models: [scriptedModel([act])] })
    await again.sessions.prompt({ sessionID, prompt: { text: "again" } })
    await untilEvent(again, "permission.asked", 2)
    expect(await again.permissions.list()).toHaveLength(1)
  })

  describe.each([true, false])("with asksAgain %s", (asksAgain) => {
    const models = (script: readonly Answer[]) => [scriptedModel(script)]

    verifies("permission.asks-again", async () => {
      await using scene = await scripted()
      await scene.engine.sessions.prompt(go)
      await scene.engine.permissions.reply({ requestID: (await asked(scene.engine)).id, reply: "always" })
      await scene.engine.sessions.wait(sessionID)
      const again = await scene.reopen({ models: models([act, act]), recover: false, asksAgain })
      await again.sessions.prompt({ sessionID, prompt: { text: "again" } })
      if (asksAgain) {
        await untilEvent(again, "permission.asked", 2)
        const [request] = await again.permissions.list()
        // The current answer counts, for the second call too.
        await again.permissions.reply({ requestID: request?.id ?? "", reply: "always" })
      }
      await again.sessions.wait(sessionID)
      const questions = (await eventTypes(again)).filter((type) => type === "permission.asked")
      expect(questions).toHaveLength(asksAgain ? 2 : 1)
    })

    test("a parked call that somebody allowed before is asked about again, or not", async () => {
      let acted = 0
      const tools = [tool("act", () => `acted ${(acted += 1)}`)]
      await using scene = await openEngineScene([act], { permissions: ASK_ACT, tools })
      await scene.engine.sessions.prompt(go)
      const { id } = await asked(scene.engine)
      // This engine cannot continue, because it does not have the model.
      const other = await scene.reopen({ models: [], recover: false })
      await other.permissions.reply({ requestID: id, reply: "once" })
      await other.sessions.wait(sessionID).catch(() => undefined)
      expect(acted).toBe(0)
      const again = await scene.reopen({ models: models([]), recover: false, asksAgain })
      const run = again.sessions.run(sessionID)
      const actedUnasked = { count: 0 }
      if (asksAgain) {
        await untilEvent(again, "permission.asked", 2)
        actedUnasked.count = acted
        const [request] = await again.permissions.list()
        await again.permissions.reply({ requestID: request?.id ?? "", reply: "once" })
      }
      await run
      expect([actedUnasked.count, acted]).toEqual([0, 1])
    })
  })

  verifies("permission.always", async () => {
    await using scene = await scripted()
    const { engine } = scene
    await engine.sessions.prompt(go)
    await engine.permissions.reply({ requestID: (await asked(engine)).id, reply: "always" })
    await engine.sessions.wait(sessionID)
    expect((await eventTypes(engine)).filter((type) => type === "permission.asked")).toHaveLength(1)
    const { sessions } = await scene.reopen({
      models: scene.options.models.map((model) => ({ ...model, script: [{ tools: [{ name: "act" }] }] })),
    })
    await sessions.prompt({ sessionID, prompt: { text: "again" } })
    await sessions.wait(sessionID)
    expect((await eventTypes(scene.engine)).filter((type) => type === "permission.asked")).toHaveLength(1)
  })

  verifies(
    "permission.always",
    async () => {
      await using scene = await openEngineScene(
        [
          {
            tools: [
              { name: "act", id: "a" },
              { name: "act", id: "b", input: { other: 1 } },
            ],
          },
        ],
        { permissions: ASK_ACT, tools: [tool("act", () => "acted")] },
      )
      const { engine } = scene
      await engine.sessions.prompt(go)
      const first = await asked(engine, 2)
      await engine.permissions.reply({ requestID: first.id, reply: "always" })
      await engine.sessions.wait(sessionID)
      expect(await conversation(engine)).toEqual([
        "user: go",
        "act: completed",
        "act: completed",
        "assistant: done",
      ])
    },
    "it answers the other open questions too",
  )

  verifies("permission.reject-feedback", async () => {
    let ran = false
    await using scene = await openEngineScene([act, act, { text: "I see" }], {
      permissions: ASK_ACT,
      tools: [
        tool("act", () => {
          ran = true
        }),
      ],
    })
    const { engine } = scene
    await engine.sessions.prompt(go)
    const { id } = await asked(engine)
    await engine.permissions.reply({ requestID: id, reply: "reject", message: "use the other branch" })
    await engine.permissions.reply({ requestID: (await asked(engine, 2)).id, reply: "reject" })
    await engine.sessions.wait(sessionID)
    expect(ran).toBe(false)
    expect(shown(scene.requests[1]).at(-1)).toBe(
      "result: The user rejected this call and said: use the other branch",
    )
    expect(shown(scene.requests[2]).at(-1)).toBe("result: The user rejected this call.")
  })

  test("a reply is one of three", async () => {
    await using scene = await openEngineScene()
    // @ts-expect-error -- a program without types may send anything
    const wrong = scene.engine.permissions.reply({ requestID: "per_1", reply: "maybe" })
    expect(await codeOf(wrong)).toBe("INVALID_INPUT")
  })

  test("an interrupt withdraws the question", async () => {
    await using scene = await scripted()
    const { engine } = scene
    await engine.sessions.prompt(go)
    const { id } = await asked(engine)
    await engine.sessions.interrupt(sessionID)
    expect(await engine.permissions.list()).toEqual([])
    expect(await codeOf(engine.permissions.reply({ requestID: id, reply: "once" }))).toBe("REQUEST_NOT_FOUND")
    expect(await conversation(engine)).toEqual(["user: go", "act: error"])
  })

  verifies("permission.durable", async () => {
    let ran = 0
    await using scene = await openEngineScene([act], {
      permissions: ASK_ACT,
      tools: [tool("act", () => `ran ${(ran += 1)}`)],
    })
    await scene.engine.sessions.prompt(go)
    const before = await asked(scene.engine)
    const reopened = await scene.reopen()
    expect(await reopened.permissions.list({ sessionID })).toMatchObject([
      { id: before.id, action: "act", resource: "*" },
    ])
    expect((await reopened.sessions.get(sessionID)).status).toBe("waiting")
    expect(ran).toBe(0)
    await reopened.permissions.reply({ requestID: before.id, reply: "once" })
    await reopened.sessions.wait(sessionID)
    expect(ran).toBe(1)
    expect(await conversation(reopened)).toEqual(["user: go", "act: completed", "assistant: done"])
  })

  verifies(
    "permission.durable",
    async () => {
      let ran = 0
      await using scene = await openEngineScene([act], {
        permissions: ASK_ACT,
        tools: [tool("act", () => `ran ${(ran += 1)}`)],
      })
      await scene.engine.sessions.prompt(go)
      const before = await asked(scene.engine)
      for (let restart = 0; restart < 3; restart += 1) {
        const reopened = await scene.reopen()
        const running = codeOf(reopened.sessions.run(sessionID))
        await untilEvent(reopened, "tool.resumed", restart + 1)
        expect(await reopened.permissions.list()).toMatchObject([{ id: before.id }])
        void running
      }
      const last = await scene.reopen()
      await last.permissions.reply({ requestID: before.id, reply: "reject", message: "no" })
      await last.sessions.wait(sessionID)
      expect(ran).toBe(0)
      expect(shown(scene.requests.at(-1)).at(-1)).toBe("result: The user rejected this call and said: no")
    },
    "however often it was shown again",
  )
})
