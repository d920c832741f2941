/** The routes the page uses. The server that answers is the one that served the page, so both are of one release. */
import type { Delivery, SessionMessage } from "@meridian/protocol"

import type {
  ModelDocument,
  PermissionAnswer,
  PermissionDocument,
  RunDocument,
  RunRowDocument,
  SessionDocument,
  SpaceDocument,
  SpaceRowDocument,
} from "../domain/documents.ts"

/** A refusal of the server, or none at all (`OFFLINE`). */
export class HttpFailure extends Error {
  readonly code: string
  readonly next: string
  readonly status: number

  constructor(options: {
    readonly code: string
    readonly message: string
    readonly next: string
    readonly status: number
  }) {
    super(options.message)
    this.code = options.code
    this.next = options.next
    this.status = options.status
  }
}

export interface Api {
  readonly sessions: (cursor?: string) => Promise<{ items: readonly SessionDocument[]; next?: string }>
  readonly session: (id: string) => Promise<SessionDocument>
  readonly create: (input: {
    readonly location: { readonly directory: string }
    readonly title?: string
    readonly model?: string
  }) => Promise<SessionDocument>
  readonly message: (sessionID: string, id: string) => Promise<SessionMessage>
  readonly prompt: (input: {
    readonly sessionID: string
    readonly id: string
    readonly text: string
    readonly delivery: Delivery
  }) => Promise<void>
  readonly cancel: (sessionID: string, inputID: string) => Promise<void>
  readonly interrupt: (sessionID: string) => Promise<void>
  /** Goes on with what was cut off; answers soon, the work may take longer. */
  readonly proceed: (sessionID: string) => Promise<void>
  /** False when there was nothing to compact. */
  readonly compact: (sessionID: string) => Promise<boolean>
  readonly switchModel: (sessionID: string, model: string) => Promise<void>
  readonly switchAgent: (sessionID: string, agent: string) => Promise<void>
  readonly models: () => Promise<readonly ModelDocument[]>
  readonly agents: () => Promise<readonly { readonly name: string }[]>
  readonly permissions: () => Promise<readonly PermissionDocument[]>
  readonly reply: (answer: PermissionAnswer) => Promise<void>
  readonly spaces: () => Promise<readonly SpaceRowDocument[]>
  readonly space: (id: string) => Promise<SpaceDocument>
  readonly runs: (spaceID: string) => Promise<readonly RunRowDocument[]>
  readonly run: (spaceID: string, id: string) => Promise<RunDocument>
}

export interface Connection {
  readonly token: string
  readonly fetch: typeof fetch
}

export const createApi = (connection: Connection): Api => {
  const get = <Answer>(path: string) => call<Answer>(connection, "GET", path)
  const post = <Answer>(path: string, body: object = {}) => call<Answer>(connection, "POST", path, body)
  const session = (id: string) => `/api/session/${encodeURIComponent(id)}`
  const space = (id: string) => `/api/space/${encodeURIComponent(id)}`
  const items = async <Item>(path: string): Promise<readonly Item[]> =>
    (await get<{ readonly items: readonly Item[] }>(path)).items
  return {
    sessions: (cursor) =>
      get(
        `/api/session?limit=100&order=desc${cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`}`,
      ),
    session: (id) => get(session(id)),
    create: (input) => post("/api/session", input),
    message: (sessionID, id) => get(`${session(sessionID)}/message/${encodeURIComponent(id)}`),
    prompt: ({ sessionID, id, text, delivery }) =>
      post(`${session(sessionID)}/prompt`, { id, prompt: { text }, delivery }),
    cancel: async (sessionID, inputID) => {
      await call(connection, "DELETE", `${session(sessionID)}/input/${encodeURIComponent(inputID)}`)
    },
    interrupt: (id) => post(`${session(id)}/interrupt`),
    proceed: (id) => post(`${session(id)}/run`, { timeoutSecs: 1 }),
    compact: async (id) =>
      (await post<{ readonly receipt?: object }>(`${session(id)}/compact`)).receipt !== undefined,
    switchModel: (id, model) => post(`${session(id)}/model`, { model }),
    switchAgent: (id, agent) => post(`${session(id)}/agent`, { agent }),
    models: () => items("/api/model"),
    agents: () => items("/api/agent"),
    permissions: () => items("/api/permission"),
    reply: ({ requestID, ...answer }) =>
      post(`/api/permission/${encodeURIComponent(requestID)}/reply`, answer),
    spaces: () => items("/api/space?limit=200"),
    space: (id) => get(space(id)),
    runs: (id) => items(`${space(id)}/run?limit=1000`),
    run: (spaceID, id) => get(`${space(spaceID)}/run/${encodeURIComponent(id)}?report=true`),
  }
}

const call = async <Answer>(
  connection: Connection,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> => {
  const response = await connection
    .fetch(path, {
      method,
      headers: {
        authorization: `Bearer ${connection.token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    .catch((cause: unknown) => {
      throw offline(cause)
    })
  if (!response.ok) throw await readFailure(response)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the process that answers also served this page
  return (response.status === 204 ? undefined : await response.json()) as Answer
}

export const offline = (cause: unknown): HttpFailure =>
  new HttpFailure({
    code: "OFFLINE",
    message: `The server does not answer (${cause instanceof Error ? cause.message : String(cause)}).`,
    next: "Look whether `meridian serve --http` still runs.",
    status: 0,
  })

/** `{ error: { code, message, next } }`, or whatever else came. */
export const readFailure = async (response: Response): Promise<HttpFailure> => {
  const body: unknown = await response.json().catch(() => undefined)
  const error = property(body, "error")
  const text = (key: string, otherwise: string): string => {
    const value = property(error, key)
    return typeof value === "string" ? value : otherwise
  }
  return new HttpFailure({
    code: text("code", `HTTP_${response.status}`),
    message: text("message", `The server answered ${response.status}.`),
    next: text("next", "Load the page again."),
    status: response.status,
  })
}

const property = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined
