/**
 * Connections to providers: one undici pool per engine. Open connections keep no process alive. undici does not abandon a
 * connection attempt when its request is abandoned; this does.
 */
import { globalAgent } from "node:http"
import type { Socket } from "node:net"

import type { Dispatcher } from "undici"

export interface Connections {
  readonly dispatch: Dispatcher["dispatch"]
  /** A request needs a connection to this origin. Call the returned function once it has one or no longer needs it. */
  readonly expect: (origin: string) => () => void
}

/** After this silence the system checks whether the other side is still there. */
const PROBE_MS = 30_000
/** How long connecting may take. */
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

/** NODE_USE_ENV_PROXY, which the types do not know yet. */
const hasProxy = (): boolean => {
  const options: unknown = Reflect.get(globalAgent, "options")
  return typeof options === "object" && options !== null && Reflect.get(options, "proxyEnv") !== undefined
}

/** Connections being made, by origin, and how many requests wait for one. */
const openNursery = () => {
  const sockets = new Map<Socket, string>()
  const waiting = new Map<string, number>()

  const giveUp = (origin: string): void => {
    // A proxied connection is listed under the proxy's origin, so it goes when no request waits at all.
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
