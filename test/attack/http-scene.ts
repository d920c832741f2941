/**
 * A real server with little memory and a larger log, for hostile clients with a token. Events are written directly into the
 * tables, because creating them is not what is tested.
 */
import { readFileSync, rmSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

import { openEngine } from "@meridian/engine"
import { createClient, type Client } from "@meridian/server/client"
import { onTestFinished } from "vitest"

import { emptyFolder } from "../e2e/cli-binary.ts"
import { startServer } from "../e2e/server-process.ts"
import { scriptedModel } from "../engine-scene.ts"

export const SESSION = "ses_large"

export interface HttpAttack {
  readonly client: Client
  readonly port: number
  readonly token: string
  /** Sends a request and never reads the answer. */
  readonly deafRequest: (path: string) => Socket
  /** Resident memory of the server, in bytes. */
  readonly memory: () => number
}

/** `prepare` may write to the database before the server opens it. */
export const openHttpAttack = async (options: {
  readonly heapMebibytes: number
  readonly prepare: (database: DatabaseSync, directory: string) => void
}): Promise<HttpAttack> => {
  const directory = emptyFolder("http attack ")
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }))
  const file = join(directory, "engine.sqlite")
  const engine = await openEngine({ database: file, models: [scriptedModel([], [])] })
  await engine.sessions.create({ id: SESSION, location: { directory } })
  await engine.close()
  const database = new DatabaseSync(file)
  database.exec("pragma synchronous = off")
  options.prepare(database, directory)
  database.close()
  const server = await startServer(directory, ["--port", "0", "--database", file], {
    NODE_OPTIONS: `--max-old-space-size=${options.heapMebibytes}`,
  })
  const { port, token, url } = server
  return {
    client: createClient({ url, token }),
    port,
    token,
    deafRequest: (path) => {
      const socket = connect(port, "127.0.0.1")
      onTestFinished(() => void socket.destroy())
      socket.on("error", () => undefined)
      socket.pause()
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
      )
      return socket
    },
    memory: () =>
      1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]),
  }
}

const MEBIBYTE = 1024 * 1024

/** This many texts of this many mebibytes after the first event of the session. */
export const fillLog = (database: DatabaseSync, count: number, mebibytes: number): void => {
  const data = JSON.stringify({ assistantMessageID: "msg_1", text: "x".repeat(mebibytes * MEBIBYTE) })
  append(database, count, () => ["session.next.text.ended.1", data])
}

/** This many prompts of this many mebibytes, which wait until the session is woken. */
export const fillInputs = (database: DatabaseSync, count: number, mebibytes: number): void => {
  const prompt = { text: "x".repeat(mebibytes * MEBIBYTE) }
  const insert = database.prepare(
    "insert into input (id, admitted, delivery, resume) values (?, ?, 'steer', 0)",
  )
  append(database, count, (index, position) => {
    const messageID = `msg_${index}`
    insert.run(messageID, position)
    return [
      "session.next.prompt.admitted.1",
      JSON.stringify({ messageID, prompt, delivery: "steer", resume: false }),
    ]
  })
}

const append = (
  database: DatabaseSync,
  count: number,
  event: (index: number, position: number) => readonly [type: string, data: string],
): void => {
  const { id } = database.prepare("select id from event").get() ?? {}
  const insert = database.prepare("insert into event (id, type, time, data) values (?, ?, 7, ?)")
  for (let index = 1; index <= count; index += 1) {
    const position = Number(id) + index
    insert.run(position, ...event(index, position))
  }
  database.prepare("update session set seq = ?").run(count + 1)
}
