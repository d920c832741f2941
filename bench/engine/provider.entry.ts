/**
 * A provider that answers at once: 20 pieces of text, or one tool call when the newest message asks for one. It runs in its
 * own process and reports how long it held each request. That time counts for neither side.
 */
import { createServer, type ServerResponse } from "node:http"

const held: number[] = []
const PIECE = "x".repeat(20)

const chunk = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "one", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

const USAGE = `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "one", choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } })}\n\ndata: [DONE]\n\n`

const TEXT = [
  chunk({ role: "assistant", content: "" }, null),
  ...Array.from({ length: 20 }, () => chunk({ content: PIECE }, null)),
  chunk({}, "stop"),
  USAGE,
]

const call = (id: number): readonly string[] => [
  chunk(
    {
      role: "assistant",
      tool_calls: [
        {
          index: 0,
          id: `call_${id}`,
          type: "function",
          function: { name: "noop", arguments: `{"n":${id}}` },
        },
      ],
    },
    null,
  ),
  chunk({}, "tool_calls"),
  USAGE,
]

const send = (response: ServerResponse, pieces: readonly string[]): void => {
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const piece of pieces) response.write(piece)
  response.end()
}

let calls = 0
const server = createServer((request, response) => {
  if (request.url === "/held") {
    response.end(JSON.stringify(held.splice(0)))
    return
  }
  let tail = ""
  request.on("data", (data: Buffer) => {
    tail = (tail + data.toString("latin1")).slice(-60_000)
  })
  request.on("end", () => {
    const started = performance.now()
    // The newest message is near the end of the body. Parsing megabytes would be the provider's time, not ours.
    const newest = Math.max(tail.lastIndexOf('"role":"user"'), tail.lastIndexOf('"role":"tool"'))
    const wantsTool = tail.startsWith('"role":"user"', newest) && tail.indexOf("use the tool", newest) >= 0
    calls += 1
    send(response, wantsTool ? call(calls) : TEXT)
    held.push(performance.now() - started)
  })
})
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.stdout.write(`${JSON.stringify({ port: typeof address === "object" ? address?.port : 0 })}\n`)
})
process.on("SIGTERM", () => process.exit(0))
// If the measuring process crashes, its end of the pipe closes, and this process ends too.
process.stdin.on("end", () => process.exit(0)).resume()
