/**
 * The least that a program can do for the same promises: `node:http` and `node:sqlite`, the same rows synced the same way,
 * an in-memory list of connections to notify. No token, no checks, no recovery, no engine. Prints its port on stdout.
 */
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { DatabaseSync } from "node:sqlite"

const database = new DatabaseSync(process.argv[2] ?? "")
database.exec(
  `pragma journal_mode=wal; pragma synchronous=full;
   create table event (session text, seq integer, type text, time integer, data text, primary key (session, seq)) strict, without rowid;
   create table session (id text primary key, seq integer, updated integer) strict;
   create table input (id text primary key, session text, prompt text) strict;`,
)
const insertEvent = database.prepare("insert into event values (?, ?, ?, ?, ?)")
const insertSession = database.prepare("insert into session values (?, 1, ?)")
const moveSession = database.prepare(
  "update session set seq = seq + 1, updated = ? where id = ? returning seq",
)
const insertInput = database.prepare("insert into input values (?, ?, ?)")
const page = database.prepare(
  "select seq, time, type, data from event where session = ? and seq > ? order by seq limit 500",
)
const readers = new Map<string, Set<ServerResponse>>()
let ids = 0

const frame = (seq: number, time: number, type: string, data: string): string =>
  `id: ${seq}\ndata: {"seq":${seq},"time":${time},"type":"${type}","data":${data}}\n\n`

const create = (body: string) => {
  const { location } = JSON.parse(body) as { location: object }
  const id = `ses_${(ids += 1)}`
  database.exec("begin immediate")
  insertSession.run(id, Date.now())
  insertEvent.run(id, 1, "session.next.created.1", Date.now(), JSON.stringify({ sessionID: id, location }))
  database.exec("commit")
  return { id, location, seq: 1, status: "idle" }
}

const prompt = (session: string, body: string) => {
  const { prompt: asked, resume } = JSON.parse(body) as { prompt: { text: string }; resume: boolean }
  const id = `msg_${(ids += 1)}`
  const time = Date.now()
  const data = JSON.stringify({ messageID: id, prompt: asked })
  database.exec("begin immediate")
  const seq = Number(moveSession.get(time, session)?.["seq"])
  insertEvent.run(session, seq, "session.next.prompt.admitted.1", time, data)
  insertInput.run(id, session, JSON.stringify(asked))
  database.exec("commit")
  for (const reader of readers.get(session) ?? [])
    reader.write(frame(seq, time, "session.next.prompt.admitted.1", data))
  if (resume) setImmediate(takeTurn, session, id, asked.text)
  return { id, sessionID: session, prompt: asked, admittedSeq: seq, time }
}

const BASELINE = "b".repeat(2_000)

/** What a session writes for one answer of a model that takes no time, in the same number of transactions. */
const takeTurn = (session: string, id: string, text: string): void => {
  const message = `msg_${(ids += 1)}`
  database.exec("pragma synchronous=normal")
  for (const [type, data] of [
    ["session.next.epoch.started.1", { baseline: BASELINE, snapshot: {}, cause: "first" }],
    ["session.next.prompt.promoted.1", { messageID: id, admittedSeq: 2 }],
    ["session.next.step.started.1", { assistantMessageID: message, agent: "build", model: "one" }],
    ["session.next.text.ended.1", { assistantMessageID: message, text }],
    ["session.next.step.ended.2", { assistantMessageID: message, finish: "stop", usage: { input: 1 } }],
  ] as const) {
    database.exec("begin immediate")
    const time = Date.now()
    insertEvent.run(
      session,
      Number(moveSession.get(time, session)?.["seq"]),
      type,
      time,
      JSON.stringify(data),
    )
    database.exec("commit")
  }
  database.exec("pragma synchronous=full")
}

const follow = async (session: string, response: ServerResponse): Promise<void> => {
  response.writeHead(200, { "content-type": "text/event-stream" })
  let cursor = 0
  for (;;) {
    const rows = page.all(session, cursor)
    let text = ""
    for (const row of rows) {
      cursor = Number(row["seq"])
      text += frame(cursor, Number(row["time"]), String(row["type"]), String(row["data"]))
    }
    if (!response.write(text || ":\n\n")) await new Promise((resolve) => response.once("drain", resolve))
    if (rows.length < 500) break
  }
  response.write(`event: synced\ndata: {"type":"synced","data":{"after":${cursor}}}\n\n`)
  const known = readers.get(session) ?? new Set()
  readers.set(session, known.add(response))
  response.once("close", () => known.delete(response))
}

const server = createServer((request, response) => {
  const [, , , session = "", verb] = (request.url ?? "").split(/[/?]/)
  if (verb === "event") {
    void follow(session, response)
    return
  }
  let body = ""
  request.setEncoding("utf8")
  request.on("data", (piece: string) => (body += piece))
  request.on("end", () => {
    const answer = JSON.stringify(verb === "prompt" ? prompt(session, body) : create(body))
    response.writeHead(200, { "content-type": "application/json" }).end(answer)
  })
})
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port, token: "" })}\n`)
})
process.on("message", () => process.send?.(process.cpuUsage()))
