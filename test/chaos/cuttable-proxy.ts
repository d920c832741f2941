/** A route to the server that can be cut, in both directions or in one. Data under way is lost, as on a real network. */
import { once } from "node:events"
import { connect, createServer, type AddressInfo, type Socket } from "node:net"

export type Cut = "none" | "both" | "requests" | "answers"

export interface CuttableProxy {
  readonly port: number
  readonly cut: (how: Cut) => void
  readonly close: () => void
}

export const openProxy = async (target: number): Promise<CuttableProxy> => {
  let state: Cut = "none"
  const sockets = new Set<Socket>()
  const passes = (direction: "requests" | "answers"): boolean =>
    state === "none" || (state !== "both" && state !== direction)
  const server = createServer((near) => {
    const far = connect(target, "127.0.0.1")
    for (const [from, to, direction] of [
      [near, far, "requests"],
      [far, near, "answers"],
    ] as const) {
      sockets.add(from)
      from.on("error", () => undefined)
      from.on("data", (bytes) => {
        if (passes(direction)) to.write(bytes)
      })
      from.on("close", () => {
        sockets.delete(from)
        // A machine that is cut off does not even see the end of a connection.
        if (passes(direction)) to.destroy()
      })
    }
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server that listens on a port has such an address
    port: (server.address() as AddressInfo).port,
    cut: (how) => {
      state = how
      // Streams with a gap are useless, so they end when the route is back.
      if (how === "none") for (const socket of sockets) socket.destroy()
    },
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
