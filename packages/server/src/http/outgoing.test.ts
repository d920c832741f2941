/** Waiting data is bounded, per reader and in total. A reader that does not read is dropped, and loses nothing. */
import { once } from "node:events"
import { IncomingMessage, ServerResponse } from "node:http"
import { connect, Socket } from "node:net"

import { expect, onTestFinished, test } from "vitest"

import { failureIn, openHttpScene, type HttpScene } from "../../../../test/http-scene.ts"
import { makeOutgoing, type Waiting } from "./outgoing.ts"

const sessionID = "ses_1"

const fill = async (scene: HttpScene, prompts: number, characters: number): Promise<void> => {
  await scene.client.sessions.create({ id: sessionID, location: { directory: scene.directory } })
  const text = "x".repeat(characters)
  for (let count = 0; count < prompts; count += 1)
    await scene.client.sessions.prompt({ sessionID, prompt: { text }, resume: false })
}

/** Sends a request and never reads. `closed` resolves when the server has ended the connection. */
const askDeaf = (
  scene: HttpScene,
  path: string,
): { readonly socket: Socket; readonly closed: Promise<void> } => {
  const { port, token } = scene.server
  const socket = connect(port, "127.0.0.1")
  onTestFinished(() => void socket.destroy())
  const closed = Promise.withResolvers<void>()
  socket.on("error", () => undefined)
  socket.on("close", () => closed.resolve())
  socket.pause()
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  return { socket, closed: closed.promise }
}

/** These take their time when the machine is busy. */
const PATIENCE_MS = 120_000

test("when readers that take nothing hold all the room, those that waited longest are dropped until there is some", async () => {
  const outgoing = makeOutgoing({
    clientBytes: 1_000,
    outgoingBytes: 100,
    slowReaderMs: 600_000,
    stallMs: 0,
  })
  const dropped: string[] = []
  const reader = (name: string): Waiting => ({
    socket: null,
    bytes: () => 60,
    drop: (why) => dropped.push(`${name}: ${why}`),
  })
  const [first, second, third] = [reader("first"), reader("second"), reader("third")]
  for (const waiting of [first, second, third]) outgoing.wait(waiting)
  // It took something, so it is no longer the reader that has waited longest.
  outgoing.wait(first)
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  expect(outgoing.hasRoom(response.socket)).toBe(false)
  await outgoing.room(response)
  expect(dropped).toEqual(["second: pressure", "third: pressure"])
  outgoing.done(first)
})

test(
  "an answer that nobody takes is given up, and until then it holds its room",
  async () => {
    const limits = { outgoingBytes: 1_000_000, stallMs: 600_000, slowReaderMs: 3_000 }
    await using scene = await openHttpScene([], { limits })
    await fill(scene, 8, 2_000_000)
    const { socket, closed } = askDeaf(scene, `/api/session/${sessionID}/input`)
    await once(socket, "readable")
    // Waits for the room that the answer above holds.
    expect(await scene.client.server.health()).toMatchObject({ healthy: true })
    let bytes = 0
    socket.on("data", (piece: Buffer) => (bytes += piece.length))
    socket.resume()
    await closed
    expect(bytes).toBeLessThan(16_000_000)
  },
  PATIENCE_MS,
)

test("bodies that arrive together have a bound, and what fits is accepted", async () => {
  await using scene = await openHttpScene([], { limits: { incomingBytes: 300_000 } })
  await fill(scene, 1, 10)
  const post = (characters: number) =>
    scene.ask(`/api/session/${sessionID}/prompt`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ prompt: { text: "x".repeat(characters) }, resume: false }),
    })
  expect(await failureIn(post(400_000))).toEqual([503, "SERVER_BUSY"])
  expect((await post(200_000)).status).toBe(200)
  expect((await post(200_000)).status).toBe(200)
})
