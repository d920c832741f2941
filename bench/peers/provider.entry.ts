/**
 * The provider of the comparison, in its own process. It answers with 20 pieces of text, or with one tool call when the
 * newest message asks for one. To know that it must parse the request, and this time counts as the provider's, not the
 * program's.
 */
import { createServer, type ServerResponse } from "node:http"

interface Message {
  readonly role: string
  readonly content?: unknown
}

const held: number[] = []
let requests = 0
let last: readonly Message[] = []

/** Each answer has a unique id, because some programs keep one message per id. */
const openAnswer = (id: number) => {
  const head = { id: `chatcmpl-${id}`, object: "chat.completion.chunk", created: 0, model: "one" }
  const line = (fields: object): string => `data: ${JSON.stringify({ ...head, ...fields })}\n\n`
  const chunk = (delta: object, finish: string | null): string =>
    line({ choices: [{ index: 0, delta, finish_reason: finish }] })
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  return { chunk, end: `${line({ choices: [], usage })}data: [DONE]\n\n` }
}

const text = (id: number): readonly string[] => {
  const { chunk, end } = openAnswer(id)
  const piece = chunk({ content: "x".repeat(20) }, null)
  return [chunk({ role: "assistant", content: "" }, null), ...Array(20).fill(piece), chunk({}, "stop"), end]
}

const call = (id: number): readonly string[] => {
  const { chunk, end } = openAnswer(id)
  const asked = { name: "noop", arguments: `{"n":${id}}` }
  const calls = [{ index: 0, id: `call_${id}`, type: "function", function: asked }]
  return [chunk({ role: "assistant", tool_calls: calls }, null), chunk({}, "tool_calls"), end]
}

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
    send(response, asksForTool(last.at(-1)) ? call(requests) : text(requests))
    held.push(performance.now() - started)
  })
})
// On a busy machine seconds may pass between two requests. Closing the connection then would look like a failure of the
// provider.
server.keepAliveTimeout = 0
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.stdout.write(`${JSON.stringify({ port: typeof address === "object" ? address?.port : 0 })}\n`)
})
process.on("SIGTERM", () => process.exit(0))
// If the measuring process crashes, its end of the pipe closes, and this process ends too.
process.stdin.on("end", () => process.exit(0)).resume()
