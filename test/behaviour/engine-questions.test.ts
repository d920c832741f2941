/** Questions other than permissions. Here those of calls; the engine's own are tested with their causes. */
import type { Engine } from "@meridian/engine"
import { expect } from "vitest"

import { brokenLaws } from "../engine-laws.ts"
import {
  allEvents,
  codeOf,
  conversation,
  eventTypes,
  openEngineScene,
  shown,
  tool,
  untilEvent,
} from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

const sessionID = "ses_test"
const go = { sessionID, prompt: { text: "go" } }
const WHICH = {
  text: "Which one?",
  choices: [{ label: "red" }, { label: "blue", description: "as the sky" }],
}

const openScene = (runs: string[] = []) =>
  openEngineScene([{ tools: [{ name: "choose" }] }], {
    tools: [
      tool("choose", async (_input, { question, callID }) => {
        runs.push(callID)
        return `chosen: ${(await question(WHICH)).join(", ")}`
      }),
    ],
  })

const askedIn = async (engine: Engine) => {
  await untilEvent(engine, "question.asked")
  const [question] = await engine.questions.list({ sessionID })
  if (question === undefined) throw new Error("nothing is asked")
  return question
}

verifies("question.tool", async () => {
  await using scene = await openScene()
  const { engine, requests } = scene
  await engine.sessions.prompt(go)
  const question = await askedIn(engine)
  expect(question).toMatchObject({ sessionID, kind: "tool", ...WHICH, other: false, multiple: false })
  expect(await engine.questions.list()).toEqual([question])
  const { status, waitingFor } = await engine.sessions.get(sessionID)
  expect([status, waitingFor]).toEqual(["waiting", "question"])
  await engine.questions.reply({ requestID: question.id, answer: "Blue" })
  await engine.sessions.wait(sessionID)
  expect(shown(requests[1])).toContain("result: chosen: blue")
  expect(await engine.questions.list()).toEqual([])
  expect((await engine.sessions.get(sessionID)).status).toBe("idle")
  expect(brokenLaws(await allEvents(engine))).toEqual([])
})

verifies("question.survives", async () => {
  const runs: string[] = []
  await using scene = await openScene(runs)
  await scene.engine.sessions.prompt(go)
  const question = await askedIn(scene.engine)
  const engine = await scene.reopen()
  expect(await engine.questions.list()).toEqual([question])
  const { status, waitingFor } = await engine.sessions.get(sessionID)
  expect([status, waitingFor]).toEqual(["waiting", "question"])
  await engine.questions.reply({ requestID: question.id, answer: "red" })
  await engine.sessions.wait(sessionID)
  expect(shown(scene.requests[1])).toContain("result: chosen: red")
  // Restarted from its beginning, without asking anything again.
  expect([
    runs.length,
    (await eventTypes(engine)).filter((type) => type === "question.asked").length,
  ]).toEqual([2, 1])
  expect(brokenLaws(await allEvents(engine))).toEqual([])
})

verifies(
  "question.survives",
  async () => {
    await using scene = await openScene()
    await scene.engine.sessions.prompt(go)
    const question = await askedIn(scene.engine)
    // An engine that only looks takes the answer, and dies before any process continues.
    const lazy = await scene.reopen({ recover: false, tools: [] })
    const before = (await lazy.sessions.get(sessionID)).seq
    await lazy.questions.reply({ requestID: question.id, answer: "red" })
    await lazy.close()
    const engine = await scene.reopen()
    await engine.sessions.wait(sessionID)
    expect((await engine.sessions.get(sessionID)).seq).toBeGreaterThan(before)
    expect((await conversation(engine)).at(-1)).toBe("assistant: done")
  },
  "also when the answer came and nobody went on",
)

verifies("question.bad-answer", async () => {
  await using scene = await openScene()
  const { engine } = scene
  await engine.sessions.prompt(go)
  const { id: requestID } = await askedIn(engine)
  const { seq } = await engine.sessions.get(sessionID)
  for (const answer of ["green", "", [], ["red", "blue"], ["red", "red"]])
    expect([answer, await codeOf(engine.questions.reply({ requestID, answer }))]).toEqual([
      answer,
      "INVALID_INPUT",
    ])
  expect(await codeOf(engine.questions.reply({ requestID: "que_none", answer: "red" }))).toBe(
    "QUESTION_NOT_FOUND",
  )
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a program may send
  expect(await codeOf(engine.questions.reply({ requestID, answer: 7 } as never))).toBe("INVALID_INPUT")
  expect((await engine.sessions.get(sessionID)).seq).toBe(seq)
  await engine.questions.reply({ requestID, answer: "red" })
  expect(await codeOf(engine.questions.reply({ requestID, answer: "red" }))).toBe("QUESTION_NOT_FOUND")
  expect(await codeOf(engine.questions.list({ sessionID: "ses_none" }))).toBe("SESSION_NOT_FOUND")
  await engine.sessions.wait(sessionID)
})

verifies("question.interrupt", async () => {
  await using scene = await openScene()
  const { engine } = scene
  await engine.sessions.prompt(go)
  const { id: requestID } = await askedIn(engine)
  await engine.sessions.interrupt(sessionID)
  expect(await engine.questions.list()).toEqual([])
  expect(await codeOf(engine.questions.reply({ requestID, answer: "red" }))).toBe("QUESTION_NOT_FOUND")
  expect((await engine.sessions.get(sessionID)).status).toBe("interrupted")
  expect(brokenLaws(await allEvents(engine))).toEqual([])
})
