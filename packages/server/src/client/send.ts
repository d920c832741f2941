/** Sends one request. Throws an HttpFailure for everything except an answer; an abort by the caller stays an abort. */
import { failureOf, offline } from "./http-failure.ts"

export interface Connection {
  readonly url: string
  readonly token: string
  readonly fetch: typeof globalThis.fetch
}

type Init = Omit<RequestInit, "headers"> & { readonly headers?: Readonly<Record<string, string>> }

export const send = async (connection: Connection, path: string, init: Init): Promise<Response> => {
  const { url, token, fetch } = connection
  const headers = { authorization: `Bearer ${token}`, ...init.headers }
  const response = await fetch(`${url}${path}`, { ...init, headers }).catch((cause: unknown) => {
    throw init.signal?.aborted === true ? cause : offline(cause)
  })
  if (!response.ok) throw await failureOf(response)
  return response
}
