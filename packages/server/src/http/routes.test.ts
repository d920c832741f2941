import { expect, test } from "vitest"

import { openHttpScene } from "../../../../test/http-scene.ts"

test("a prompt over HTTP becomes an answer, and every page tells of it", async () => {
  await using scene = await openHttpScene([{ text: "hello there" }])
  const { sessions } = scene.client
  const created = await sessions.create({ id: "ses_1", location: { directory: scene.directory } })
  const receipt = await sessions.prompt({ sessionID: "ses_1", id: "msg_1", prompt: { text: "hi" } })
  const { settled, session } = await sessions.wait({ sessionID: "ses_1" })
  const { items } = await sessions.messages({ sessionID: "ses_1" })
  expect(created).toMatchObject({ id: "ses_1", status: "idle", location: { directory: scene.directory } })
  expect(receipt).toMatchObject({ id: "msg_1", sessionID: "ses_1", delivery: "steer", resume: true })
  expect(settled).toBe(true)
  expect(session).toEqual(await sessions.get({ sessionID: "ses_1" }))
  expect(items.map((message) => message.type)).toEqual(["user", "assistant"])
  expect((await sessions.list()).items).toEqual([session])
})
