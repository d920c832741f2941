/** What goes back: JSON, or a failure of the catalogue as JSON. Header values never contain anything that a client sent. */
import { randomUUID } from "node:crypto"
import type { ServerResponse } from "node:http"
import { basename } from "node:path"

import { Failure, FAILURES, oneLine, type Facts } from "@meridian/protocol"

import type { Outgoing } from "./outgoing.ts"
import { makeOutlet } from "./outlet.ts"

export type Headers = Readonly<Record<string, string | number>>

/** Sent with every answer. */
export const SAFE_HEADERS: Headers = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
}

/** A larger answer may wait for its reader. A smaller one is sent at once. */
const LARGE_CHARACTERS = 64 * 1024

export const answerJson = (response: ServerResponse, document: unknown, outgoing: Outgoing): void => {
  if (document === undefined) {
    response.writeHead(204, { ...SAFE_HEADERS, "cache-control": "no-store" }).end()
    return
  }
  const body = JSON.stringify(document)
  response.writeHead(200, { ...SAFE_HEADERS, ...jsonHeaders(body) })
  if (body.length <= LARGE_CHARACTERS) response.end(body)
  else makeOutlet({ response, outgoing, drop: () => response.destroy() }).end(body)
}

export const answerText = (response: ServerResponse, body: string, type: string): void => {
  const length = Buffer.byteLength(body)
  response
    .writeHead(200, {
      ...SAFE_HEADERS,
      "content-type": type,
      "content-length": length,
      "cache-control": "no-store",
    })
    .end(body)
}

export const answerFailure = (response: ServerResponse, failure: Failure, more: Headers = {}): void => {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const body = failureBody(failure)
  response.writeHead(statusOf(failure), { ...SAFE_HEADERS, ...jsonHeaders(body), ...more }).end(body)
}

/** A complete answer as text, for connections that never became a request. */
export const rawFailure = (failure: Failure): string => {
  const body = failureBody(failure)
  return [
    `HTTP/1.1 ${statusOf(failure)} ${failure.code}`,
    ...Object.entries({ ...SAFE_HEADERS, ...jsonHeaders(body), connection: "close" }).map(
      ([name, value]) => `${name}: ${value}`,
    ),
    "",
    body,
  ].join("\r\n")
}

/**
 * What a client may learn about an error. A failure of the catalogue is sent, with only the names of files. Anything else
 * is a bug or a broken disk. Its text may name files, so it goes to the log, and the client gets a reference to it.
 */
export const publicFailure = (thrown: unknown, log: (line: string) => void): Failure => {
  if (thrown instanceof Failure && thrown.code !== "INTERNAL" && thrown.code !== "SYSTEM_ERROR")
    return new Failure(thrown.code, publicFacts(thrown.facts))
  const reference = randomUUID()
  const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
  log(`request failed (${reference}): ${text}`)
  return new Failure("SERVER_FAILED", { reference })
}

/** Reduces paths to file names, and input of the client to one short, plain line. */
const publicFacts = (facts: Facts): Facts =>
  Object.fromEntries(
    Object.entries(facts).map(([name, fact]) => [
      name,
      typeof fact === "number" ? fact : oneLine(FILES.has(name) ? basename(fact) : fact, MOST_CHARACTERS),
    ]),
  )

const FILES: ReadonlySet<string> = new Set(["file", "path", "where"])
const MOST_CHARACTERS = 1_000

const statusOf = (failure: Failure): number => FAILURES[failure.code].http

const failureBody = ({ code, message, next }: Failure): string =>
  JSON.stringify({ error: { code, message, next } })

const jsonHeaders = (body: string): Headers => ({
  "content-type": "application/json; charset=utf-8",
  "content-length": Buffer.byteLength(body),
  "cache-control": "no-store",
})
