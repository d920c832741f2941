/** A collector in its own process that accepts everything and counts it. */
import { createServer } from "node:http"

let bytes = 0
const server = createServer((request, response) => {
  request.on("data", (data: Buffer) => (bytes += data.length))
  request.on("end", () => {
    response.writeHead(200, { "content-type": "application/json" })
    response.end(request.method === "GET" ? JSON.stringify({ bytes }) : "{}")
  })
})
server.listen(0, "127.0.0.1", () => process.stdout.write(`${JSON.stringify(server.address())}\n`))
process.on("SIGTERM", () => {
  server.closeAllConnections()
  server.close()
})
