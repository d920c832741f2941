/** A real server on a real file, on any free port of loopback, with a scripted model. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { serveHttp, type HttpServer, type ServeHttpOptions } from "@meridian/server"
import { createClient, type Client } from "@meridian/server/client"

import { ALLOW_ALL, scriptedModel, type Answer } from "./engine-scene.ts"

export interface HttpScene extends AsyncDisposable {
  readonly server: HttpServer
  readonly client: Client
  readonly base: string
  /** The project of sessions. */
  readonly directory: string
  readonly stateRoot: string
  /** Stops the server and starts another on the same state. */
  readonly restart: (changes?: Partial<ServeHttpOptions>) => Promise<void>
  /** With the token, unless the headers say otherwise. */
  readonly ask: (
    path: string,
    init?: Omit<RequestInit, "headers"> & { readonly headers?: Readonly<Record<string, string>> },
  ) => Promise<Response>
  readonly lines: readonly string[]
}

export const openHttpScene = async (
  answers: readonly Answer[] = [],
  changes: Partial<ServeHttpOptions> = {},
): Promise<HttpScene> => {
  const base = mkdtempSync(join(tmpdir(), "meridian-http-"))
  const directory = join(base, "project")
  const stateRoot = join(base, "state")
  mkdirSync(directory)
  const lines: string[] = []
  const options: ServeHttpOptions = {
    engine: { models: [scriptedModel(answers, [])], permissions: ALLOW_ALL },
    stateRoot,
    version: "0.0.0-test",
    port: 0,
    log: (line) => void lines.push(line),
    world: {
      env: { MERIDIAN_STATE_ROOT: stateRoot },
      cwd: directory,
      clock: { now: () => Date.now(), sleep: () => Promise.resolve() },
      uuid: () => crypto.randomUUID(),
      configPath: undefined,
      program: ["meridian"],
    },
    ...changes,
  }
  let server = await serveHttp(options)
  let client = createClient({ url: server.url, token: server.token })
  return {
    get server() {
      return server
    },
    get client() {
      return client
    },
    base,
    directory,
    stateRoot,
    lines,
    restart: async (more = {}) => {
      await server.stop()
      server = await serveHttp({ ...options, ...more })
      client = createClient({ url: server.url, token: server.token })
    },
    ask: (path, init = {}) =>
      fetch(`${server.url}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${server.token}`, ...init.headers },
      }),
    [Symbol.asyncDispose]: async () => {
      await server.stop()
      rmSync(base, { recursive: true, force: true })
    },
  }
}
