/** A real server on a real file, on a free port of loopback, with a scripted model. */
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"

import { serveHttp, type HttpServer, type ServeHttpOptions } from "@meridian/server"
import { createClient, type Client } from "@meridian/server/client"
import { expect } from "vitest"

import { ALLOW_ALL, makeDirectory, scriptedModel, type Answer } from "./engine-scene.ts"

export interface HttpScene extends AsyncDisposable {
  readonly server: HttpServer
  readonly client: Client
  readonly base: string
  /** The project of the sessions. */
  readonly directory: string
  readonly stateRoot: string
  /** Stops the server and starts another on the same state. */
  readonly restart: (changes?: Partial<ServeHttpOptions>) => Promise<void>
  /** Sends the token unless the headers say otherwise. */
  readonly ask: (
    path: string,
    init?: Omit<RequestInit, "headers"> & { readonly headers?: Readonly<Record<string, string>> },
  ) => Promise<Response>
  readonly lines: readonly string[]
}

type Changes = Partial<Omit<ServeHttpOptions, "engine">> & {
  readonly engine?: Partial<ServeHttpOptions["engine"]>
}

export const openHttpScene = async (
  answers: readonly Answer[] = [],
  changes: Changes | ((base: string) => Changes) = {},
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Promise<HttpScene> => {
  const base = makeDirectory()
  const directory = join(base, "project")
  const stateRoot = join(base, "state")
  mkdirSync(directory)
  const lines: string[] = []
  const asked = typeof changes === "function" ? changes(base) : changes
  const options: ServeHttpOptions = {
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
    ...asked,
    engine: { models: [scriptedModel(answers, [])], permissions: ALLOW_ALL, ...asked.engine },
  }
  let server = await serveHttp(options)
  let client = createClient({ url: server.url, token: server.token, fetch })
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
      client = createClient({ url: server.url, token: server.token, fetch })
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

/** Status and code of a failure. The body must have the shape of one. */
export const failureIn = async (answer: Promise<Response>): Promise<readonly [number, string]> => {
  const response = await answer
  const document: unknown = await response.json()
  expect(document).toEqual({
    error: { code: expect.any(String), message: expect.any(String), next: expect.any(String) },
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- compared above
  return [response.status, (document as { error: { code: string } }).error.code]
}
