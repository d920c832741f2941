/**
 * The Promise client, derived from the contract. Runs in browsers and in Node: it needs nothing but `fetch`.
 *
 *   const client = createClient({ url: "http://127.0.0.1:4747", token })
 *   const session = await client.sessions.create({ location: { directory: "/project" } })
 */
import type { SessionChanges } from "@meridian/engine"

import { CONTRACT, type AnswerOf, type Contract, type InputOf, type Route } from "../http/contract.ts"
import {
  followChanges,
  followEvents,
  type EventFrame,
  type FollowOptions,
  type StreamOptions,
} from "./follow-events.ts"
import { failureOf } from "./http-failure.ts"

export interface ClientOptions {
  /** `http://127.0.0.1:4747`; "" in the page the server itself gave out. */
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

export type Client = {
  readonly [Group in keyof Contract]: {
    readonly [Name in keyof Contract[Group]]: Call<Contract[Group][Name]>
  }
} & {
  /** Every durable event behind the cursor once and in order; reconnects by itself. */
  readonly events: (input: FollowOptions) => AsyncIterable<EventFrame>
  /** Which sessions have new events; reconnects by itself. */
  readonly changes: (options?: StreamOptions) => AsyncIterable<SessionChanges>
}

export const createClient = (options: ClientOptions): Client => {
  const { url, token, fetch = globalThis.fetch } = options
  const call = async (route: Route, input: Readonly<Record<string, unknown>>, { signal }: CallOptions) => {
    const { path, rest } = fillPath(route.path, input)
    const isBody = route.method === "POST"
    const response = await fetch(`${url}${path}${isBody ? "" : queryOf(rest)}`, {
      method: route.method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(isBody ? { "content-type": "application/json" } : {}),
      },
      ...(isBody ? { body: JSON.stringify(rest) } : {}),
      ...(signal === undefined ? {} : { signal }),
    })
    if (!response.ok) throw await failureOf(response)
    if (response.status === 204) return undefined
    const answer: unknown = await response.json()
    return answer
  }
  const groups = Object.fromEntries(
    Object.entries(CONTRACT).map(([group, routes]) => [
      group,
      Object.fromEntries(
        Object.entries<Route>(routes).map(([name, route]) => [
          name,
          (input: Readonly<Record<string, unknown>> = {}, callOptions: CallOptions = {}) =>
            call(route, input, callOptions),
        ]),
      ),
    ]),
  )
  const events = (input: FollowOptions) => followEvents({ url, token, fetch }, input)
  const changes = (input: StreamOptions = {}) => followChanges({ url, token, fetch }, input)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one function per row of the table the type is made from
  return { ...groups, events, changes } as unknown as Client
}

/** The names in the path are taken out of the input; what is left is query or body. */
const fillPath = (template: string, input: Readonly<Record<string, unknown>>) => {
  const rest = { ...input }
  const path = template.replaceAll(/:(\w+)/g, (_match, name: string) => {
    const value = rest[name]
    delete rest[name]
    return encodeURIComponent(String(value))
  })
  return { path, rest }
}

const queryOf = (values: Readonly<Record<string, unknown>>): string => {
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  if (given.length === 0) return ""
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`
}
