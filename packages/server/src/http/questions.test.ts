/** Questions other than permission requests, over HTTP. */
import { expect, test } from "vitest"

import { tool } from "../../../../test/engine-scene.ts"
import { openHttpScene } from "../../../../test/http-scene.ts"

test("a question of a call is listed, refused a wrong answer, and answered over HTTP", async () => {
  const choices = [{ label: "red" }, { label: "blue" }]
  await using scene = await openHttpScene([{ tools: [{ name: "choose" }] }, { text: "done" }], {
    engine: {
      tools: [tool("choose", (_input, { question }) => question({ text: "Which?", choices }))],
    },
  })
  const { sessions, questions } = scene.client
  const sessionID = "ses_1"
  await sessions.create({ id: sessionID, location: { directory: scene.directory } })
  await sessions.prompt({ sessionID, prompt: { text: "go" } })
  await expect.poll(async () => (await questions.list()).items, { timeout: 30_000 }).toHaveLength(1)
  const { items } = await sessions.questions({ sessionID })
  expect(items).toMatchObject([{ sessionID, kind: "tool", text: "Which?", choices, other: false }])
  expect(await sessions.get({ sessionID })).toMatchObject({ status: "waiting", waitingFor: "question" })
  const requestID = items[0]?.id ?? ""
  await expect(questions.reply({ requestID, answer: "green" })).rejects.toMatchObject({
    code: "INVALID_INPUT",
    status: 400,
  })
  await questions.reply({ requestID, answer: ["blue"] })
  await sessions.wait({ sessionID })
  await expect(questions.reply({ requestID, answer: "blue" })).rejects.toMatchObject({
    code: "QUESTION_NOT_FOUND",
    status: 404,
  })
  await expect(sessions.questions({ sessionID: "ses_none" })).rejects.toMatchObject({
    code: "SESSION_NOT_FOUND",
    status: 404,
  })
  expect((await sessions.get({ sessionID })).status).toBe("idle")
})
