/** Both servers in their own processes, and the one client that drives both in the same way. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { Agent, request as httpRequest, type IncomingMessage } from "node:http"
import { join } from "node:path"

export interface Driven {
  readonly post: (
    path: string,
    body: object,
  ) => Promise<{ readonly id: string; readonly admittedSeq: number }>
  /** Calls back with the sequence of every frame with an id. Resolves when the end of the replay is marked. */
  readonly follow: (session: string, onEvent: (seq: number, at: number) => void) => Promise<() => void>
  /** The processor time of its process so far, in milliseconds. Other programs do not disturb it. */
  readonly spent: () => Promise<number>
  readonly close: () => Promise<void>
}

export const startDriven = async (kind: "ours" | "floor", folder: string): Promise<Driven> => {
  const child = spawn(
    process.execPath,
    ["--conditions=meridian-source", `bench/server/${kind}.entry.ts`, join(folder, `${kind}.sqlite`)],
    { stdio: ["ignore", "pipe", "inherit", "ipc"] },
  )
  if (child.stdout === null) throw new Error("no stdout")
  const [line] = await once(child.stdout, "data")
  const { port, token } = JSON.parse(String(line)) as { port: number; token: string }
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  const open = (method: string, path: string, body?: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) }
      const request = httpRequest(
        {
          host: "127.0.0.1",
          port,
          method,
          path,
          headers: { ...headers, ...length },
          // A stream keeps its connection for itself.
          agent: body === undefined ? new Agent() : agent,
        },
        resolve,
      )
      request.once("error", reject)
      request.end(body)
    })
  return {
    post: async (path, body) => {
      const response = await open("POST", path, JSON.stringify(body))
      let text = ""
      response.setEncoding("utf8")
      for await (const piece of response) text += piece
      if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode} ${text}`)
      return JSON.parse(text) as { id: string; admittedSeq: number }
    },
    follow: async (session, onEvent) => {
      const response = await open("GET", `/api/session/${session}/event`)
      const synced = Promise.withResolvers<void>()
      let rest = ""
      response.setEncoding("utf8")
      response.on("error", () => undefined)
      response.on("data", (piece: string) => {
        const at = performance.now()
        const blocks = (rest + piece).split("\n\n")
        rest = blocks.pop() ?? ""
        for (const block of blocks) {
          if (block.startsWith("id: ")) onEvent(Number(block.slice(4, block.indexOf("\n"))), at)
          else if (block.startsWith("event: synced")) synced.resolve()
        }
      })
      await synced.promise
      return () => response.destroy()
    },
    spent: async () => {
      const answer = once(child, "message")
      child.send("spent")
      const [usage] = (await answer) as [NodeJS.CpuUsage]
      return (usage.user + usage.system) / 1_000
    },
    close: async () => {
      agent.destroy()
      child.kill("SIGKILL")
      await once(child, "exit")
    },
  }
}
