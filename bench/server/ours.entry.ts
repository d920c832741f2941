/** Our server with a model that answers at once. Prints its port and token on stdout. */
import { dirname } from "node:path"

import { serveHttp } from "@meridian/server"

const [, , database = ""] = process.argv
const server = await serveHttp({
  engine: {
    database,
    models: [{ id: "bench/instant", provider: "scripted", contextWindow: 1_000_000, maxOutput: 100 }],
    permissions: [{ action: "*", resource: "*", effect: "allow" }],
    limits: { pendingInputs: 10_000_000 },
  },
  stateRoot: dirname(database),
  version: "bench",
  port: 0,
  world: {
    env: {},
    cwd: dirname(database),
    clock: { now: Date.now, sleep: () => Promise.resolve() },
    uuid: () => crypto.randomUUID(),
    configPath: undefined,
    program: ["meridian"],
  },
})
process.stdout.write(`${JSON.stringify({ port: server.port, token: server.token })}\n`)
process.on("message", () => process.send?.(process.cpuUsage()))
