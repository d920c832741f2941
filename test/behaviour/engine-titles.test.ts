/** Titles of sessions: from their first prompt, from a configured model, from people. */
import { DatabaseSync } from "node:sqlite"

import type { Engine, ModelConfig } from "@meridian/engine"
import { expect, test } from "vitest"

import { rebuiltDifferently } from "../engine-laws.ts"
import { allEvents, codeOf, openEngineScene, scriptedModel, type Answer } from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

const PRICE = { input: 1, output: 1 }

const titler = (answers: readonly Answer[], changes: Partial<ModelConfig> = {}) => {
  const requests: Parameters<typeof scriptedModel>[1] = []
  const model = scriptedModel(answers, requests, { id: "fake/titles", price: PRICE, ...changes })
  return { requests, model }
}

const titleOf = async ({ sessions }: Engine, sessionID: string) => (await sessions.get(sessionID)).title

const say = async ({ sessions }: Engine, sessionID: string, text: string): Promise<void> => {
  await sessions.prompt({ sessionID, prompt: { text } })
  await sessions.wait(sessionID)
}

/** The title is requested beside the work, so it may come after it. */
const titled = async ({ sessions }: Engine, sessionID: string): Promise<void> => {
  for await (const event of sessions.events({ sessionID, follow: true }))
    if (event.type === "session.next.titled.1") return
}

verifies("session.title", async () => {
  const { model, requests } = titler([{ text: '\n  "Parser \u001b[31mrepair"\n\nSure!' }])
  await using scene = await openEngineScene([], {
    models: [scriptedModel([]), model],
    titles: { model: "fake/titles" },
  })
  const { engine, session } = scene
  expect(await titleOf(engine, session.id)).toBeUndefined()
  await engine.sessions.prompt({
    sessionID: session.id,
    prompt: { text: "Please\nfix the \u001b]0;x\u0007parser" },
    resume: false,
  })
  expect(await titleOf(engine, session.id)).toBe("Please fix the parser")
  await engine.sessions.wake(session.id)
  await titled(engine, session.id)
  await engine.sessions.wait(session.id)
  expect(await titleOf(engine, session.id)).toBe("Parser repair")
  expect(requests).toHaveLength(1)
  expect(requests[0]).toMatchObject({ tools: [], sessionID: session.id })

  await say(engine, session.id, "And then the lexer.")
  expect(requests).toHaveLength(1)
  expect(JSON.stringify(scene.requests)).not.toContain("Parser repair")
  const { items } = await engine.sessions.messages({ sessionID: session.id })
  expect(items.map(({ type }) => type)).not.toContain("title")

  const told = (await allEvents(engine, session.id)).find(({ type }) => type === "session.next.titled.1")
  expect(told).toMatchObject({ data: { title: "Parser repair", model: "fake/titles" } })
  const { cost } = await engine.sessions.get(session.id)
  expect(cost).toBeGreaterThan(0)
  expect((await engine.sessions.budget(session.id)).spent).toMatchObject({ turns: 3, cost })

  await engine.sessions.rename({ sessionID: session.id, title: "Mine" })
  const again = await scene.reopen()
  await say(again, session.id, "More.")
  expect(await titleOf(again, session.id)).toBe("Mine")
  expect((await again.sessions.list()).items[0]?.title).toBe("Mine")
  await again.close()
  expect(rebuiltDifferently(scene.file)).toEqual([])
})

test.each<[string, Answer]>([
  ["fails", { error: { status: 400, message: "no titles today" } }],
  ["says nothing", { text: " \n" }],
])("the words of the first prompt stay where the model %s, and the work goes on", async (_what, answer) => {
  const { model } = titler([answer])
  await using scene = await openEngineScene([{ text: "hello" }], {
    models: [scriptedModel([{ text: "hello" }]), model],
    titles: { model: "fake/titles" },
  })
  await say(scene.engine, scene.session.id, "Count the files.")
  expect(await titleOf(scene.engine, scene.session.id)).toBe("Count the files.")
  expect(await scene.engine.sessions.get(scene.session.id)).toMatchObject({ status: "idle" })
})

test("a model that hangs keeps nobody waiting, and closing ends it", async () => {
  const { model } = titler([() => new Promise(() => undefined)])
  await using scene = await openEngineScene([], {
    models: [scriptedModel([{ text: "hello" }]), model],
    titles: { model: "fake/titles" },
  })
  await say(scene.engine, scene.session.id, "Count the files.")
  await scene.engine.close()
  const again = await scene.reopen()
  expect(await titleOf(again, scene.session.id)).toBe("Count the files.")
})

test("a name that a person gives while a model still thinks wins", async () => {
  const answered = Promise.withResolvers<{ readonly text: string }>()
  const { model } = titler([() => answered.promise])
  await using scene = await openEngineScene([], {
    models: [scriptedModel([{ text: "hello" }]), model],
    titles: { model: "fake/titles" },
  })
  const { engine, session } = scene
  await say(engine, session.id, "Count the files.")
  await engine.sessions.rename({ sessionID: session.id, title: "Mine" })
  answered.resolve({ text: "Theirs" })
  await titled(engine, session.id)
  expect(await titleOf(engine, session.id)).toBe("Mine")
})

test("a title that was given with the session is nobody's to change, and a child's neither", async () => {
  const { model, requests } = titler([])
  await using scene = await openEngineScene([], {
    models: [scriptedModel([{ text: "hello" }]), model],
    titles: { model: "fake/titles" },
  })
  const { id } = await scene.engine.sessions.create({
    location: { directory: scene.directory },
    title: "Given",
  })
  await say(scene.engine, id, "Count the files.")
  expect(await titleOf(scene.engine, id)).toBe("Given")
  expect(requests).toEqual([])
})

test("a long first prompt is cut, one without words names nothing", async () => {
  await using scene = await openEngineScene()
  const { engine, session } = scene
  await say(engine, session.id, " \n\t ")
  expect(await titleOf(engine, session.id)).toBeUndefined()
  await say(engine, session.id, "word ".repeat(100_000))
  const title = (await titleOf(engine, session.id)) ?? ""
  expect(title).toMatch(/^(word ){10}.*…$/)
  expect(title.length).toBeLessThanOrEqual(80)
})

test("a model for titles that nobody knows is refused when the engine opens", async () => {
  expect(await codeOf(openEngineScene([], { titles: { model: "fake/nobody" } }))).toBe("MODEL_NOT_FOUND")
})

test("sessions of an older database get the names of their first prompts", async () => {
  await using scene = await openEngineScene()
  await say(scene.engine, scene.session.id, "Count the files.")
  await scene.engine.close()
  const old = new DatabaseSync(scene.file)
  old.exec(
    "update session set title = null; alter table session drop column title_by; pragma user_version = 8",
  )
  old.close()
  const again = await scene.reopen()
  expect(await titleOf(again, scene.session.id)).toBe("Count the files.")
  await again.close()
  expect(rebuiltDifferently(scene.file)).toEqual([])
})
