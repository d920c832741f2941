/**
 * The provider of the comparison, in a process of its own. It answers with 20 pieces of text, or with one tool call when the
 * newest message asks for one. It has to parse the request for that; the time counts as the provider's, not the program's.
 */
import { createServer, type ServerResponse } from "node:http"

interface Message {
  readonly role: string
  readonly content?: unknown
}

const held: number[] = []
let requests = 0
let last: readonly Message[] = []

const chunk = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "one", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

const USAGE = `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "one", choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } })}\n\ndata: [DONE]\n\n`

const TEXT = [
  chunk({ role: "assistant", content: "" }, null),
  ...Array.from({ length: 20 }, () => chunk({ content: "x".repeat(20) }, null)),
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

const asksForTool = (message: Message | undefined): boolean =>
  message?.role === "user" && JSON.stringify(message.content).includes("use the tool")

const server = createServer((request, response) => {
  if (request.url === "/held") return void response.end(JSON.stringify(held.splice(0)))
  if (request.url === "/seen") return void response.end(JSON.stringify({ requests, last }))
  const pieces: Buffer[] = []
  request.on("data", (data: Buffer) => pieces.push(data))
  request.on("end", () => {
    const started = performance.now()
    const body = JSON.parse(Buffer.concat(pieces).toString()) as { readonly messages: readonly Message[] }
    requests += 1
    last = body.messages
    send(response, asksForTool(last.at(-1)) ? call(requests) : TEXT)
    held.push(performance.now() - started)
  })
})
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.stdout.write(`${JSON.stringify({ port: typeof address === "object" ? address?.port : 0 })}\n`)
})
process.on("SIGTERM", () => process.exit(0))
// If the process that measures crashes, its end of the pipe closes and we end too.
process.stdin.on("end", () => process.exit(0)).resume()
