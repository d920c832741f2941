/**
 * One server for all tests of a run. The run starts it when the first test asks, and removes it at the end. A test uses its
 * own schema there. A test that stops or breaks a server opens a separate one.
 */
import { once } from "node:events"
import { connect, createServer } from "node:net"
import { join } from "node:path"
import { text } from "node:stream/consumers"

import { openPostgres, type PostgresServer } from "./postgres-server.ts"

/* oxlint-disable node/no-process-env -- a test run is told by its environment */
const BROKER = "MERIDIAN_TEST_POSTGRES_BROKER"

/** For the run: answers with the address on a socket in this folder. Returns how to end it. */
export const offerSharedPostgres = async (folder: string): Promise<() => Promise<void>> => {
  let server: Promise<PostgresServer> | undefined
  const broker = createServer((socket) => {
    socket.on("error", () => undefined)
    server ??= openPostgres()
    server.then(
      ({ address }) => socket.end(address),
      (cause: unknown) => socket.end(`ERROR ${String(cause)}`),
    )
  })
  const path = join(folder, "postgres.sock")
  broker.listen(path)
  await once(broker, "listening")
  process.env[BROKER] = path
  return async () => {
    delete process.env[BROKER]
    broker.close()
    await (await server)?.remove()
  }
}

/** For a test: an address without a schema. */
export const sharedPostgres = async (): Promise<string> => {
  const path = process.env[BROKER]
  if (path === undefined) throw new Error("this run offers no server: see the setup of its tests")
  const socket = connect(path)
  await once(socket, "connect")
  const answer = await text(socket)
  if (answer.startsWith("ERROR ")) throw new Error(answer.slice(6))
  return answer
}
