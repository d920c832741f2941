/**
 * Connections to providers: undici's, one set of them for an engine. What is kept open keeps no process alive. undici does not give up a connection that is still coming about when the request for it is; we do.
 */
import { globalAgent } from "node:http"
import type { Socket } from "node:net"

import type { Dispatcher } from "undici"

export interface Connections {
  readonly dispatch: Dispatcher["dispatch"]
  /** Somebody needs a connection to there; to be called back when they have one, or no longer need it. */
  readonly expect: (origin: string) => () => void
}

/** How long a connection is silent before the system asks whether the other side is still there. */
const PROBE_MS = 30_000
/** How long a connection may take to come about. */
const CONNECT_MS = 30_000

export const openConnections = async (): Promise<Connections> => {
  const { Agent, EnvHttpProxyAgent, buildConnector } = await import("undici")
  const nursery = openNursery()
  const connectNow = buildConnector({
    timeout: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_MS,
    allowH2: false,
  })
  const connect: typeof connectNow = (options, callback) => {
    // Its types do not say that it returns the socket.
    const socket: unknown = connectNow(options, (...outcome) => {
      nursery.remove(socket)
      callback(...outcome)
    })
    nursery.add(`${options.protocol}//${options.host ?? options.hostname}`, socket)
  }
  const options = { connect, allowH2: false }
  const dispatcher = hasProxy()
    ? new EnvHttpProxyAgent({ ...options, proxyTunnel: false })
    : new Agent(options)
  return { dispatch: (request, handler) => dispatcher.dispatch(request, handler), expect: nursery.expect }
}

/** NODE_USE_ENV_PROXY; the types do not know it yet. */
const hasProxy = (): boolean => {
  const options: unknown = Reflect.get(globalAgent, "options")
  return typeof options === "object" && options !== null && Reflect.get(options, "proxyEnv") !== undefined
}

/** Connections that are coming about, by where they lead, and how many wait for one. */
const openNursery = () => {
  const sockets = new Map<Socket, string>()
  const waiting = new Map<string, number>()

  const giveUp = (origin: string): void => {
    // Those through a proxy lead to the proxy: they go when nobody waits for anything.
    for (const [socket, there] of sockets)
      if (there === origin || waiting.size === 0)
        socket.destroy(Object.assign(new Error("nobody waits for this connection"), { code: "ECANCELED" }))
  }

  return {
    add: (origin: string, socket: unknown): void => {
      if (isSocket(socket)) sockets.set(socket, origin)
    },
    remove: (socket: unknown): void => {
      if (isSocket(socket)) sockets.delete(socket)
    },
    expect: (origin: string): (() => void) => {
      waiting.set(origin, (waiting.get(origin) ?? 0) + 1)
      let done = false
      return () => {
        if (done) return
        done = true
        const left = (waiting.get(origin) ?? 1) - 1
        if (left > 0) {
          waiting.set(origin, left)
          return
        }
        waiting.delete(origin)
        if (sockets.size > 0) giveUp(origin)
      }
    },
  }
}

const isSocket = (value: unknown): value is Socket =>
  typeof value === "object" && value !== null && "destroy" in value
