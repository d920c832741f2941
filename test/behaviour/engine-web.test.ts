/** One page of the web, with permission, and never from a private network unless that is configured. */
import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"

import { expect, test } from "vitest"

import { eventTypes, openEngineScene, shown, untilEvent } from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

const serve = async (listener: RequestListener) => {
  const server = createServer(listener)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}

const fetched = async (url: string, changes: Parameters<typeof openEngineScene>[1] = {}) => {
  await using scene = await openEngineScene([{ tools: [{ name: "webfetch", input: { url } }] }], changes)
  const { engine, session } = scene
  await engine.sessions.prompt({ sessionID: session.id, prompt: { text: "go" } })
  await engine.sessions.wait(session.id)
  return (shown(scene.requests[1]).at(-1) ?? "").replace("result: ", "")
}

const OPEN = { allowPrivateAddresses: true } as const

verifies("webfetch.bounded", async () => {
  await using web = await serve((request, response) => {
    switch (request.url ?? "") {
      case "/page":
        response.setHeader("content-type", "text/html; charset=utf-8")
        return response.end("<h1>Hello</h1><p>there</p>")
      case "/there":
        return response.writeHead(302, { location: "/page" }).end()
      case "/away":
        return response.writeHead(302, { location: "http://192.0.2.1/page" }).end()
      case "/round":
        return response.writeHead(302, { location: "/round" }).end()
      case "/long":
        response.setHeader("content-type", "text/plain")
        return response.end("x".repeat(2_000_000))
      case "/image":
        response.setHeader("content-type", "image/png")
        return response.end("png")
      default:
        return response.writeHead(404, { "content-type": "text/plain" }).end("not here")
    }
  })
  expect(await fetched(`${web.url}/page`, OPEN)).toBe(`${web.url}/page (text/html):\n\n# Hello\n\nthere`)
  expect(await fetched(`${web.url}/there`, OPEN)).toContain("# Hello")
  expect(await fetched(`${web.url}/away`, OPEN)).toContain("leads to another place: http://192.0.2.1/page")
  expect(await fetched(`${web.url}/round`, OPEN)).toContain("without an end")
  expect((await fetched(`${web.url}/long`, OPEN)).length).toBeLessThan(600 * 1024)
  expect(await fetched(`${web.url}/image`, OPEN)).toContain("no text")
  expect(await fetched(`${web.url}/none`, OPEN)).toContain("status 404: not here")
  expect(await fetched("file:///etc/passwd", OPEN)).toContain("no address of the web")
  expect(await fetched("http://me:secret@127.0.0.1/", OPEN)).toContain("is refused")
})

verifies("webfetch.private", async () => {
  let asked = 0
  await using web = await serve((_request, response) => {
    asked += 1
    response.end("inside")
  })
  for (const host of [
    "127.0.0.1",
    "localhost",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "0.0.0.0",
    "2130706433",
    "0x7f.1",
  ])
    expect(await fetched(`http://${host}:${web.port}/`)).toMatch(/private|cannot be fetched/u)
  expect(asked).toBe(0)
})

test("it needs leave, which a rule may refuse", async () => {
  const rules = [
    { action: "*", resource: "*", effect: "allow" },
    { action: "webfetch", resource: "http://127.0.0.1*", effect: "deny" },
  ] as const
  expect(await fetched("http://127.0.0.1:9/secret", { ...OPEN, permissions: rules })).toContain(
    "Permission denied",
  )
})

verifies("question.tool", async () => {
  await using scene = await openEngineScene([
    {
      tools: [
        {
          name: "question",
          input: {
            question: "Which one?",
            choices: [{ label: "left" }, { label: "right", description: "the other" }],
          },
        },
      ],
    },
  ])
  const { engine, session } = scene
  await engine.sessions.prompt({ sessionID: session.id, prompt: { text: "go" } })
  await untilEvent(engine, "question.asked")
  const requestID = (await engine.questions.list())[0]?.id ?? ""
  expect(await engine.questions.list()).toMatchObject([
    { kind: "tool", text: "Which one?", choices: [{ label: "left" }, { label: "right" }], other: true },
  ])
  const again = await scene.reopen()
  await again.questions.reply({ requestID, answer: "right" })
  await again.sessions.wait(session.id)
  expect(shown(scene.requests.at(-1)).at(-1)).toBe("result: The user answered: right")
  expect(await eventTypes(again)).toContain("question.replied")
})
