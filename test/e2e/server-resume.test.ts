import { rmSync } from "node:fs"
import { setTimeout as delay } from "node:timers/promises"

import { createClient } from "@meridian/server/client"
import { expect, test } from "vitest"

import { openSse } from "../read-sse.ts"
import { emptyFolder } from "./cli-binary.ts"
import { startServer, type ServerProcess } from "./server-process.ts"

const sessionID = "ses_long"
const PROMPTS = 60
const READERS = 6
const LAST_WORDS = "the end"

/** Small and seeded, so that a failure can be replayed. */
const makeRandom = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    return (state >>> 0) % below
  }
}

interface Scene {
  /** A new process after every restart. The address stays. */
  server: ServerProcess
}

/** Reads some frames, leaves, comes back with the cursor, and repeats until it has seen the last words. */
const readAll = async (scene: Scene, random: (below: number) => number): Promise<readonly number[]> => {
  const seen: number[] = []
  for (;;) {
    try {
      const cursor = String(seen.at(-1) ?? 0)
      const byHeader = random(2) === 0
      const { url, token } = scene.server
      await using reader = await openSse(
        `${url}/api/session/${sessionID}/event${byHeader ? "" : `?after=${cursor}`}`,
        { authorization: `Bearer ${token}`, ...(byHeader ? { "last-event-id": cursor } : {}) },
      )
      if (reader.response.status !== 200) throw new Error(`answered ${reader.response.status}`)
      for (let left = random(12); left >= 0; left -= 1) {
        const frame = await reader.next()
        if (frame === undefined) break
        if (frame.id === undefined) continue
        seen.push(Number(frame.id))
        if (frame.data?.includes(LAST_WORDS) === true) return seen
      }
    } catch {
      // The server is down: it is being killed again and again.
      await delay(10)
    }
  }
}

test.each([1, 2])(
  "readers that leave at random and come back by cursor see every event once and in order, across restarts and SIGKILL (seed %i)",
  async (seed) => {
    const folder = emptyFolder("meridian-resume-")
    const random = makeRandom(seed)
    const scene: Scene = { server: await startServer(folder, ["--port", "0"]) }
    const { url, port, token } = scene.server
    const client = createClient({ url, token })
    await client.sessions.create({ id: sessionID, location: { directory: folder } })
    const readers = Array.from({ length: READERS }, (_, index) =>
      readAll(scene, makeRandom(seed * 100 + index)),
    )

    const acknowledged: string[] = []
    let ends = 0
    const written = new AbortController()
    const ending = (async () => {
      while (!written.signal.aborted) {
        const before = acknowledged.length
        await delay(random(300))
        if (acknowledged.length === before) continue
        ends += 1
        await scene.server.end(random(3) === 0 ? "SIGTERM" : "SIGKILL")
        scene.server = await startServer(folder, ["--port", String(port)])
      }
    })()
    for (let number = 1; number <= PROMPTS;) {
      const id = `msg_${number}`
      try {
        // The same id after a lost answer. The prompt is admitted once, whatever happened to the first attempt.
        await client.sessions.prompt({ sessionID, id, prompt: { text: `prompt ${number}` } })
        acknowledged.push(id)
        number += 1
      } catch {
        await delay(10)
      }
    }
    written.abort()
    await ending
    await client.sessions.wait({ sessionID })
    await client.sessions.prompt({ sessionID, prompt: { text: LAST_WORDS }, resume: false })

    const log: number[] = []
    const admitted: string[] = []
    for await (const event of client.events({ sessionID, follow: false })) {
      if (!("seq" in event)) continue
      log.push(event.seq)
      if (event.type === "session.next.prompt.admitted.1") admitted.push(event.data.messageID)
    }
    const seen = await Promise.all(readers)
    await scene.server.end("SIGTERM")
    rmSync(folder, { recursive: true, force: true })
    expect(ends).toBeGreaterThan(0)
    expect(admitted.slice(0, PROMPTS)).toEqual(acknowledged)
    expect(log).toEqual(Array.from({ length: log.length }, (_, index) => index + 1))
    for (const each of seen) expect(each).toEqual(log)
  },
)
