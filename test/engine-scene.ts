/** What a test of the engine needs: a project, a scripted model in the same process, and the requests that model got. */
import { randomUUID } from "node:crypto"
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import type {
  EmbedderScene,
  EmbedderTool,
  Engine,
  EngineOptions,
  ModelConfig,
  Reply,
  SessionEvent,
  SessionInfo,
} from "@meridian/engine"
import { openEngine } from "@meridian/engine"
import type { SessionMessage } from "@meridian/protocol"

import type { ModelRequest } from "../packages/engine/src/port/model.ts"

export type Answer = Reply | ((request: ModelRequest) => Reply | Promise<Reply>)

export interface EngineScene extends AsyncDisposable {
  readonly engine: Engine
  readonly file: string
  /** The project of the sessions. */
  readonly directory: string
  /** A second place, for moves. */
  readonly elsewhere: string
  readonly session: SessionInfo
  /** Every request the model got, oldest first. */
  readonly requests: ModelRequest[]
  readonly options: EngineOptions
  /** Closes the engine and opens another on the same file. */
  readonly reopen: (changes?: Partial<EngineOptions>) => Promise<Engine>
}

export const ALLOW_ALL = [{ action: "*", resource: "*", effect: "allow" }] as const

/** In memory where possible: these files are synced thousands of times. */
export const makeDirectory = (): string =>
  realpathSync(mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "meridian-engine-")))

/** Gives the answers in order, then says "done". */
export const scriptedModel = (
  answers: readonly Answer[],
  requests: ModelRequest[] = [],
  changes: Partial<ModelConfig> = {},
): ModelConfig => {
  let next = 0
  return {
    id: "fake/one",
    provider: "scripted",
    contextWindow: 200_000,
    maxOutput: 8_000,
    script: async ({ body }) => {
      const request = asModelRequest(body)
      requests.push(request)
      const answer = answers[next++] ?? { text: "done" }
      return typeof answer === "function" ? answer(request) : answer
    },
    ...changes,
  }
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the scripted model hands its request over as it is
const asModelRequest = (body: unknown): ModelRequest => body as ModelRequest

/** A new database for one scene: a file, or a schema on the server that this test file names. */
export const newDatabase = (base: string): string => {
  // oxlint-disable-next-line node/no-process-env -- the same tests run on every store
  const server = process.env["MERIDIAN_SCENE_SERVER"]
  if (server === undefined) return join(base, "engine.sqlite")
  return `${server}?schema=scene_${randomUUID().replaceAll("-", "")}`
}

export const openEngineScene = async (
  answers: readonly Answer[] = [],
  changes: Partial<EngineOptions> = {},
): Promise<EngineScene> => {
  const base = makeDirectory()
  const directory = join(base, "project")
  const elsewhere = join(base, "elsewhere")
  await mkdir(directory)
  await mkdir(elsewhere)
  const requests: ModelRequest[] = []
  const options: EngineOptions = {
    database: newDatabase(base),
    models: [scriptedModel(answers, requests)],
    permissions: ALLOW_ALL,
    retry: { attempts: 3, baseMs: 1 },
    // The tools of most tests change nothing. Tests about files turn this on.
    undo: false,
    ...changes,
  }
  let engine = await openEngine(options)
  const session = await engine.sessions.create({ id: "ses_test", location: { directory } })
  return {
    get engine() {
      return engine
    },
    file: options.database,
    directory,
    elsewhere,
    session,
    requests,
    options,
    reopen: async (more = {}) => {
      await engine.close()
      engine = await openEngine({ ...options, ...more })
      return engine
    },
    [Symbol.asyncDispose]: async () => {
      await engine.close()
      rmSync(base, { recursive: true, force: true })
    },
  }
}

export const tool = (
  name: string,
  execute: (input: never, scene: EmbedderScene) => unknown,
  properties: Readonly<Record<string, { readonly type: string }>> = {},
): EmbedderTool => ({
  name,
  description: `The ${name} tool`,
  input: { type: "object", properties },
  execute,
})

/** A promise with its resolver, and a promise that resolves on arrival. */
export const gate = () => {
  const opened = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  return {
    reached: reached.promise,
    open: () => opened.resolve(),
    pass: (): Promise<void> => {
      reached.resolve()
      return opened.promise
    },
  }
}

export const allEvents = async (
  engine: Engine,
  sessionID = "ses_test",
  after = 0,
): Promise<readonly SessionEvent[]> => {
  const events: SessionEvent[] = []
  for await (const event of engine.sessions.events({ sessionID, after })) events.push(event)
  return events
}

export const eventTypes = async (engine: Engine, sessionID?: string): Promise<readonly string[]> =>
  (await allEvents(engine, sessionID)).map((event) => short(event.type))

/** The event type without its family and version. */
export const short = (type: string): string => type.replace(/^session\.next\./, "").replace(/\.\d+$/, "")

/** Waits until this many events of the type are committed. */
export const untilEvent = async (engine: Engine, type: string, times = 1, sessionID = "ses_test") => {
  let seen = 0
  for await (const event of engine.sessions.events({ sessionID, follow: true }))
    if (short(event.type) === type) {
      seen += 1
      if (seen === times) return event
    }
  throw new Error(`the tail ended before ${type}`)
}

export const allMessages = async (
  engine: Engine,
  sessionID = "ses_test",
): Promise<readonly SessionMessage[]> => (await engine.sessions.messages({ sessionID, limit: 200 })).items

/** The conversation as plain lines: who said what, and how each call ended. */
export const conversation = async (engine: Engine, sessionID?: string): Promise<readonly string[]> =>
  (await allMessages(engine, sessionID)).flatMap((message) => {
    if (message.type === "user") return [`user: ${message.text}`]
    if (message.type !== "assistant") return [message.type]
    return message.content.map((part) =>
      part.type === "tool" ? `${part.tool}: ${part.state.status}` : `assistant: ${part.text}`,
    )
  })

/** What the model saw of users and tools, one line per part. */
export const shown = (request: ModelRequest | undefined): readonly string[] =>
  (request?.prompt ?? []).flatMap((message) => {
    if (message.role === "system") return []
    return message.content.map((part) => {
      switch (part.type) {
        case "text":
        case "reasoning":
          return `${message.role}: ${part.text}`
        case "tool-call":
          return `call: ${part.toolName}`
        case "tool-result":
          return `result: ${part.output.type === "text" || part.output.type === "error-text" ? part.output.value : part.output.type}`
        case "file":
          return part.type
      }
    })
  })

/** The code that a promise was rejected with. */
export const codeOf = async (promise: Promise<unknown>): Promise<string> => {
  try {
    await promise
    return "no failure"
  } catch (cause) {
    if (cause instanceof Error && "code" in cause) return String(cause.code)
    throw cause
  }
}
