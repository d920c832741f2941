import type {
  ChatDocument,
  ModelDocument,
  OpenPermissionRequest,
  RunDocument,
  RunRow,
  SessionInfo,
  SpaceDocument,
  SpaceRow,
} from "@meridian/server/client"
import { expect, expectTypeOf, test } from "vitest"

import { CONTRACT, EVENTS } from "../../packages/server/src/http/contract.ts"
import type * as Page from "../../packages/web/src/domain/documents.ts"
import { createApi } from "../../packages/web/src/http/api.ts"

test("what the page reads is what the server answers", () => {
  expectTypeOf<SessionInfo>().toExtend<Page.SessionDocument>()
  expectTypeOf<ModelDocument>().toExtend<Page.ModelDocument>()
  expectTypeOf<OpenPermissionRequest>().toExtend<Page.PermissionDocument>()
  expectTypeOf<SpaceRow>().toExtend<Page.SpaceRowDocument>()
  expectTypeOf<ChatDocument>().toExtend<Page.ChatDocument>()
  expectTypeOf<SpaceDocument>().toExtend<Page.SpaceDocument>()
  expectTypeOf<RunRow>().toExtend<Page.RunRowDocument>()
  expectTypeOf<RunDocument>().toExtend<Page.RunDocument>()
})

test("every address the page asks for is a route of the server", async () => {
  const asked: string[] = []
  const api = createApi({
    token: "t",
    fetch: (input, init) => {
      asked.push(`${init?.method ?? "GET"} ${(typeof input === "string" ? input : "").replace(/\?.*/, "")}`)
      return Promise.resolve(Response.json({ items: [] }))
    },
  })
  await api.sessions()
  await api.session(":sessionID")
  await api.create({ location: { directory: "/" } })
  await api.message(":sessionID", ":messageID")
  await api.prompt({ sessionID: ":sessionID", id: "msg_1", text: "", delivery: "steer" })
  await api.cancel(":sessionID", ":inputID")
  await api.interrupt(":sessionID")
  await api.proceed(":sessionID")
  await api.compact(":sessionID")
  await api.switchModel(":sessionID", "m")
  await api.switchAgent(":sessionID", "a")
  await api.models()
  await api.agents()
  await api.permissions()
  await api.reply({ requestID: ":requestID", reply: "once" })
  await api.spaces()
  await api.space(":spaceID")
  await api.runs(":spaceID")
  await api.run(":spaceID", ":runID")
  const routes = new Set(
    Object.values(CONTRACT).flatMap((group) =>
      Object.values(group).map(({ method, path }) => `${method} ${path}`),
    ),
  )
  expect(
    asked.map((address) => decodeURIComponent(address)).filter((address) => !routes.has(address)),
  ).toEqual([])
  expect(asked).toHaveLength(Object.keys(api).length)
  expect(EVENTS.path).toBe("/api/session/:sessionID/event")
})
