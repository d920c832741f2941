/**
 * Decides who may make a request, before any byte of the body is read. The Host and Origin checks keep out web pages that
 * pretend to be on this machine (DNS rebinding, cross-site requests). The token keeps out everyone who cannot read its
 * file.
 */
import { timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"

import type { FailureCode } from "@meridian/protocol"

import { isLoopback } from "./is-loopback.ts"

export interface Gate {
  /** The values of `host:port`, in lower case, that this server answers to. */
  readonly hosts: ReadonlySet<string>
  readonly token: string
  /** The cluster's token, for requests between its nodes. */
  readonly clusterToken?: string | undefined
}

export type Admission = { readonly tag: "admitted" } | { readonly tag: "refused"; readonly code: FailureCode }

export const ADMITTED: Admission = { tag: "admitted" }
const refused = (code: FailureCode): Admission => ({ tag: "refused", code })

type Head = Pick<IncomingMessage, "headers" | "rawHeaders">

/** Applies to every request, including those for the page's files. */
export const checkSource = ({ headers, rawHeaders }: Head, gate: Gate): Admission => {
  const hosts = countHeader(rawHeaders, "host")
  if (hosts === 0) return refused("REQUEST_MALFORMED")
  // Node keeps the first of several; a proxy in between may have checked the last.
  if (hosts > 1) return refused("HOST_REFUSED")
  if (!gate.hosts.has((headers.host ?? "").toLowerCase())) return refused("HOST_REFUSED")
  const origins = countHeader(rawHeaders, "origin")
  if (origins === 0) return ADMITTED
  const origin = /^http:\/\/([^/]+)$/.exec((headers.origin ?? "").toLowerCase())?.[1]
  return origins === 1 && origin !== undefined && gate.hosts.has(origin)
    ? ADMITTED
    : refused("ORIGIN_REFUSED")
}

export const checkToken = (head: Pick<Head, "headers">, gate: Gate): Admission =>
  brings(head, gate.token) ? ADMITTED : refused("UNAUTHORIZED")

/** The request comes from another node of the cluster. */
export const isFromPeer = (head: Pick<Head, "headers">, { clusterToken }: Gate): boolean =>
  clusterToken !== undefined && brings(head, clusterToken)

const brings = ({ headers }: Pick<Head, "headers">, token: string): boolean => {
  const given = /^bearer +([^\s]+) *$/i.exec(headers.authorization ?? "")?.[1] ?? ""
  return isSame(Buffer.from(given), Buffer.from(token))
}

/**
 * The names by which clients may call a server on this address. A server that listens on every address also answers to
 * `own`.
 */
export const hostsOf = (host: string, port: number, own: readonly string[] = []): ReadonlySet<string> => {
  const names = [
    host,
    ...(isLoopback(host) || isEverywhere(host) ? LOOPBACK : []),
    ...(isEverywhere(host) ? own : []),
  ]
  const written = names.map((name) => (name.includes(":") ? `[${name}]` : name).toLowerCase())
  // Browsers omit the default port.
  return new Set(written.flatMap((each) => (port === 80 ? [each, `${each}:80`] : [`${each}:${port}`])))
}

const LOOPBACK = ["localhost", "127.0.0.1", "::1"] as const

/** The host means every address of this machine. */
export const isEverywhere = (host: string): boolean => host === "0.0.0.0" || host === "::"

/** `rawHeaders` alternates names and values. */
const countHeader = (rawHeaders: readonly string[], name: string): number => {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const text = rawHeaders[index]
    if (text?.length === name.length && text.toLowerCase() === name) count += 1
  }
  return count
}

/**
 * All tokens have the same length, so the length is public. The comparison must not reveal how much of a token is right.
 */
const isSame = (given: Buffer, token: Buffer): boolean =>
  given.length === token.length && timingSafeEqual(given, token)
