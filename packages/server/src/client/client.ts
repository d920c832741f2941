/**
 * The Promise client, derived from the contract. It runs in browsers and in Node and needs only `fetch`. The page uses it,
 * so it loads no shapes: types come from the contract, addresses from `ADDRESSES`.
 *
 *   const client = createClient({ url: "http://127.0.0.1:4747", token })
 *   const session = await client.sessions.create({ location: { directory: "/project" } })
 */
import { ADDRESSES, type Address } from "../contract/addresses.ts"
import type { AnswerOf, Contract, InputOf } from "../contract/contract.ts"
import type { SessionChanges } from "../contract/documents.ts"
import { fillPath, queryOf } from "./address.ts"
import {
  followChanges,
  followEvents,
  type EventFrame,
  type FollowOptions,
  type StreamOptions,
} from "./follow.ts"
import { offline } from "./http-failure.ts"
import { send, type Connection } from "./send.ts"

export interface ClientOptions {
  /** `http://127.0.0.1:4747`; "" in the page, which asks the server it came from. */
  readonly url: string
  readonly token: string
  readonly fetch?: typeof globalThis.fetch
}

export interface CallOptions {
  readonly signal?: AbortSignal
}

type Call<R> =
  Record<string, never> extends InputOf<R>
    ? (input?: InputOf<R>, options?: CallOptions) => Promise<AnswerOf<R>>
    : (input: InputOf<R>, options?: CallOptions) => Promise<AnswerOf<R>>

/** Every call without an answer rejects with an HttpFailure. */
export type Client = {
  readonly [Group in keyof Contract]: {
    readonly [Name in keyof Contract[Group]]: Call<Contract[Group][Name]>
  }
} & {
  /** Every durable event after the cursor, once and in order. Reconnects on its own. */
  readonly events: (input: FollowOptions) => AsyncIterable<EventFrame>
  /** The same, in batches as they arrive. */
  readonly eventBatches: (input: FollowOptions) => AsyncIterable<readonly EventFrame[]>
  /** Which sessions have new events. Reconnects on its own. */
  readonly changes: (options?: StreamOptions) => AsyncIterable<SessionChanges>
}

export const createClient = (options: ClientOptions): Client => {
  // Not called as a method of `options`: a browser's fetch insists on its own `this`.
  const { url, token, fetch = (input, init) => globalThis.fetch(input, init) } = options
  const connection: Connection = { url, token, fetch }
  const groups = Object.fromEntries(
    Object.entries(ADDRESSES).map(([group, addresses]) => [
      group,
      Object.fromEntries(
        Object.entries(addresses).map(([name, address]) => [name, makeCall(connection, address)]),
      ),
    ]),
  )
  const eventBatches = (input: FollowOptions) => followEvents(connection, input)
  const events = async function* (input: FollowOptions): AsyncGenerator<EventFrame, void, void> {
    for await (const batch of eventBatches(input)) yield* batch
  }
  const changes = (input: StreamOptions = {}) => followChanges(connection, input)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one function per row of the table the type is made from
  return { ...groups, events, eventBatches, changes } as unknown as Client
}

const makeCall =
  (connection: Connection, { method, path: template }: Address) =>
  async (input: Readonly<Record<string, unknown>> = {}, { signal }: CallOptions = {}): Promise<unknown> => {
    const { path, rest } = fillPath(template, input)
    const isBody = method === "POST"
    const response = await send(connection, `${path}${isBody ? "" : queryOf(rest)}`, {
      method,
      ...(isBody ? { body: JSON.stringify(rest), headers: { "content-type": "application/json" } } : {}),
      ...(signal === undefined ? {} : { signal }),
    })
    if (response.status === 204) return undefined
    return response.json().catch((cause: unknown) => {
      throw signal?.aborted === true ? cause : offline(cause)
    })
  }
