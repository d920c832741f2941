import { DatabaseSync } from "node:sqlite"

import { openEngine } from "@meridian/engine"
import { describe, expect, test } from "vitest"

import { allEvents, codeOf, gate, openEngineScene, tool, untilEvent } from "../engine-scene.ts"
import { verifies, verifiesOnFile } from "../verifies.ts"

const sessionID = "ses_test"

describe("messages", () => {
  const conversationOf = async (count: number) => {
    const scene = await openEngineScene()
    for (let index = 0; index < count; index += 1) {
      // Ids that sort the other way round: the order must come from the log.
      const id = `msg_${String(count - index).padStart(3, "0")}`
      await scene.engine.sessions.prompt({ id, sessionID, prompt: { text: `${index}` } })
      await scene.engine.sessions.wait(sessionID)
    }
    return scene
  }

  verifies("messages.order", async () => {
    await using scene = await conversationOf(6)
    const { items } = await scene.engine.sessions.messages({ sessionID })
    expect(items.flatMap((message) => (message.type === "user" ? [message.text] : []))).toEqual([
      "0",
      "1",
      "2",
      "3",
      "4",
      "5",
    ])
    const seqs = items.map(({ seq }) => seq)
    expect(seqs).toEqual(seqs.toSorted((left, right) => left - right))
  })

  for (const order of ["asc", "desc"] as const)
    verifies(
      "messages.pages",
      async () => {
        await using scene = await conversationOf(6)
        const { sessions } = scene.engine
        const whole = (await sessions.messages({ sessionID, order, limit: 200 })).items
        expect(whole).toHaveLength(12)
        const there: unknown[] = []
        const pages: string[] = []
        let page = await sessions.messages({ sessionID, order, limit: 5 })
        expect(page.previous).toBeUndefined()
        for (;;) {
          there.push(...page.items)
          pages.push(page.items.map(({ id }) => id).join())
          if (page.next === undefined) break
          page = await sessions.messages({ sessionID, cursor: page.next, limit: 5 })
        }
        expect(there).toEqual(whole)
        expect(page.items).toHaveLength(2)
        const back: string[] = [page.items.map(({ id }) => id).join()]
        while (page.previous !== undefined) {
          page = await sessions.messages({ sessionID, cursor: page.previous, limit: 5 })
          back.unshift(page.items.map(({ id }) => id).join())
        }
        expect(back).toEqual(pages)
      },
      order,
    )

  test("a page that ends exactly with the list has no next", async () => {
    await using scene = await conversationOf(2)
    const { sessions } = scene.engine
    expect((await sessions.messages({ sessionID, limit: 4 })).next).toBeUndefined()
    const half = await sessions.messages({ sessionID, limit: 2 })
    expect((await sessions.messages({ sessionID, limit: 2, cursor: half.next ?? "" })).next).toBeUndefined()
    expect(
      await sessions.messages({ sessionID: scene.session.id, limit: 200, order: "desc" }),
    ).not.toHaveProperty("next")
  })

  test("limits and cursors are checked", async () => {
    await using scene = await conversationOf(2)
    const { sessions } = scene.engine
    const location = { directory: scene.directory }
    await sessions.create({ id: "ses_other", location })
    const { next = "" } = await sessions.messages({ sessionID, limit: 1 })
    for (const limit of [0, 201, 1.5, Number.NaN])
      expect(await codeOf(sessions.messages({ sessionID, limit }))).toBe("INVALID_INPUT")
    for (const cursor of ["", "nonsense", "e30", Buffer.from('["x",1,1,1]').toString("base64url")])
      expect(await codeOf(sessions.messages({ sessionID, cursor }))).toBe("INVALID_CURSOR")
    expect(await codeOf(sessions.messages({ sessionID: "ses_other", cursor: next }))).toBe("INVALID_CURSOR")
    expect(await codeOf(sessions.messages({ sessionID: "ses_none" }))).toBe("SESSION_NOT_FOUND")
    const { items } = await sessions.messages({ sessionID: "ses_other" })
    expect(items).toEqual([])
  })

  test("sessions are listed in pages too", async () => {
    await using scene = await openEngineScene()
    const { sessions } = scene.engine
    for (let index = 0; index < 4; index += 1)
      await sessions.create({ id: `ses_${index}`, location: { directory: scene.directory } })
    const first = await sessions.list({ limit: 3 })
    expect(first.items.map(({ id }) => id)).toEqual(["ses_test", "ses_0", "ses_1"])
    const second = await sessions.list({ limit: 3, cursor: first.next ?? "" })
    expect(second.items.map(({ id }) => id)).toEqual(["ses_2", "ses_3"])
    expect(second.next).toBeUndefined()
    const newest = await sessions.list({ limit: 1, order: "desc" })
    expect(newest.items.map(({ id }) => id)).toEqual(["ses_3"])
  })
})

describe("events", () => {
  verifies("events.replay", async () => {
    await using scene = await openEngineScene()
    const { engine } = scene
    await engine.sessions.prompt({ sessionID, prompt: { text: "one" } })
    await engine.sessions.wait(sessionID)
    const all = await allEvents(engine)
    expect(all.map((event) => ("seq" in event ? event.seq : 0))).toEqual(all.map((_, index) => index + 1))
    for (let after = 0; after <= all.length; after += 1)
      expect(await allEvents(engine, sessionID, after)).toEqual(all.slice(after))
    for (const event of all) expect(Object.keys(event).toSorted()).toEqual(["data", "seq", "time", "type"])
    expect(() => engine.sessions.events({ sessionID, after: -1 })).toThrow("sequence number")
    await expect(allEvents(engine, "ses_none")).rejects.toThrow("does not exist")
  })

  verifies(
    "events.replay",
    async () => {
      await using scene = await openEngineScene([], { limits: { pendingInputs: 2_000 } })
      for (let index = 0; index < 1_200; index += 1)
        await scene.engine.sessions.prompt({ sessionID, prompt: { text: "x" }, resume: false })
      expect(await allEvents(scene.engine)).toHaveLength(1_201)
    },
    "also beyond one page",
  )

  verifies("events.tail", async () => {
    await using scene = await openEngineScene()
    const { sessions } = scene.engine
    const seen: (number | string)[] = []
    const tail = (async () => {
      for await (const event of sessions.events({ sessionID, follow: true })) {
        seen.push("seq" in event ? event.seq : `synced after ${event.data.after}`)
        if ("seq" in event && event.type === "session.next.step.ended.2") return
        // Commits while the reader is busy: none may be lost or doubled.
        if (event.type === "session.next.created.1")
          for (let index = 0; index < 5; index += 1)
            await sessions.prompt({ sessionID, prompt: { text: `${index}` }, resume: index === 4 })
      }
    })()
    await tail
    const marker = seen.find((item) => typeof item === "string")
    expect(marker).toMatch(/^synced after \d+$/)
    expect(seen.filter((item) => typeof item === "number")).toEqual(
      (await allEvents(scene.engine)).map((_, index) => index + 1),
    )
  })

  verifies(
    "events.tail",
    async () => {
      await using scene = await openEngineScene()
      const items: object[] = []
      for await (const event of scene.engine.sessions.events({ sessionID, after: 1, follow: true })) {
        items.push(event)
        break
      }
      expect(items).toMatchObject([{ type: "synced", data: { after: 1 } }])
      expect(items[0]).not.toHaveProperty("seq")
      expect(items[0]).toHaveProperty("time")
    },
    "the marker has no sequence of its own",
  )

  test("a tail ends when its signal says so", async () => {
    await using scene = await openEngineScene()
    const controller = new AbortController()
    const types: string[] = []
    for await (const event of scene.engine.sessions.events(
      { sessionID, follow: true },
      { signal: controller.signal },
    )) {
      types.push(event.type)
      if (event.type === "synced") queueMicrotask(() => controller.abort())
    }
    expect(types).toEqual(["session.next.created.1", "synced"])
  })

  test("a reader may leave a tail while it waits", async () => {
    await using scene = await openEngineScene()
    const tail = scene.engine.sessions.events({ sessionID, after: 1, follow: true })[Symbol.asyncIterator]()
    await tail.next()
    const waiting = tail.next()
    await tail.return?.()
    expect(await waiting).toEqual({ done: true, value: undefined })
  })

  verifies("events.durable-only", async () => {
    await using scene = await openEngineScene([
      { reasoning: "let me think about this for a while", text: "a long answer in several pieces, live" },
    ])
    const { sessions } = scene.engine
    const live: string[] = []
    const controller = new AbortController()
    const listening = (async () => {
      for await (const item of sessions.live(sessionID, { signal: controller.signal })) {
        expect(item).not.toHaveProperty("seq")
        live.push(item.type)
      }
    })()
    await sessions.run(sessionID)
    controller.abort()
    await listening
    expect(new Set(live)).toEqual(new Set(["reasoning.delta", "text.delta"]))
    const stored = (await allEvents(scene.engine)).map(({ type }) => type)
    expect(stored.filter((type) => type.includes("delta"))).toEqual([])
  })

  verifiesOnFile("events.unknown", async () => {
    await using scene = await openEngineScene()
    await scene.engine.sessions.prompt({ sessionID, prompt: { text: "one" } })
    await scene.engine.sessions.wait(sessionID)
    const before = await allEvents(scene.engine)
    await scene.engine.close()
    const raw = new DatabaseSync(scene.file)
    const last = raw.prepare("select max(id) as id from event").get()?.["id"]
    const insert = raw.prepare("insert into event (id, type, time, data) values (?, ?, 0, ?)")
    insert.run(Number(last) + 1, "session.next.dreamed.7", "{}")
    insert.run(Number(last) + 2, "session.next.text.ended.1", "{not json")
    raw.exec("update session set seq = seq + 2")
    raw.close()
    const engine = await scene.reopen()
    expect((await allEvents(engine)).slice(before.length)).toEqual([
      {
        seq: before.length + 1,
        time: 0,
        type: "unknown",
        data: { storedType: "session.next.dreamed.7", reason: "unknown-type" },
      },
      {
        seq: before.length + 2,
        time: 0,
        type: "unknown",
        data: { storedType: "session.next.text.ended.1", reason: "unreadable" },
      },
    ])
    await engine.sessions.prompt({ sessionID, prompt: { text: "two" } })
    await engine.sessions.wait(sessionID)
    expect((await engine.sessions.messages({ sessionID })).items).toHaveLength(4)
  })

  test("a second engine on the same file sees the work of the first, and its answers reach it", async () => {
    await using scene = await openEngineScene([{ tools: [{ name: "act" }] }], {
      permissions: [],
      tools: [tool("act", () => "acted")],
    })
    const other = await openEngine(scene.options)
    const tail = untilEvent(other, "tool.success")
    await scene.engine.sessions.prompt({ sessionID, prompt: { text: "go" } })
    await untilEvent(other, "permission.asked")
    const [request] = await other.permissions.list()
    await other.permissions.reply({ requestID: request?.id ?? "", reply: "once" })
    await tail
    await other.sessions.wait(sessionID)
    expect(await allEvents(other)).toEqual(await allEvents(scene.engine))
    await other.close()
  })

  test("a second engine can interrupt the first, and waits until it has settled", async () => {
    const acting = gate()
    await using scene = await openEngineScene([{ tools: [{ name: "act" }] }], {
      tools: [tool("act", () => acting.pass())],
    })
    const other = await openEngine(scene.options)
    await scene.engine.sessions.prompt({ sessionID, prompt: { text: "go" } })
    await acting.reached
    expect((await other.sessions.get(sessionID)).status).toBe("running")
    await other.sessions.interrupt(sessionID)
    expect((await other.sessions.get(sessionID)).status).not.toBe("running")
    expect(await scene.engine.sessions.active()).toEqual([])
    await other.close()
  })
})

describe("places", () => {
  verifies("fence.location", async () => {
    const acting = gate()
    await using scene = await openEngineScene(
      [{ tools: [{ name: "act" }] }, { tools: [{ name: "bash", input: { command: "pwd" } }] }],
      { tools: [tool("act", () => acting.pass())] },
    )
    const { sessions } = scene.engine
    await sessions.prompt({ sessionID, prompt: { text: "go" } })
    await acting.reached
    await sessions.move({ sessionID, location: { directory: scene.elsewhere } })
    acting.open()
    await sessions.wait(sessionID)
    const [, , moved] = (await sessions.messages({ sessionID })).items
    expect(JSON.stringify(moved)).toContain(scene.elsewhere)
    expect((await sessions.get(sessionID)).location).toEqual({ directory: scene.elsewhere })
    const told = scene.requests.map(({ prompt }) =>
      JSON.stringify(prompt.filter(({ role }) => role === "system")),
    )
    expect(told[0]).toContain(scene.directory)
    expect(told[0]).not.toContain(scene.elsewhere)
    expect(told[1]).toContain(scene.elsewhere)
  })

  test("a session moves only to a directory that exists", async () => {
    await using scene = await openEngineScene()
    const move = (directory: string) => scene.engine.sessions.move({ sessionID, location: { directory } })
    expect(await codeOf(move(`${scene.directory}/none`))).toBe("LOCATION_NOT_FOUND")
    expect(await codeOf(move("elsewhere"))).toBe("INVALID_INPUT")
  })
})
