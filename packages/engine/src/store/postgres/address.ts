/** Addresses of a database server: the hosts, the encryption, and a form to show. The password is used but never shown. */
import { Failure } from "@meridian/protocol"

export interface Address {
  /** Without the password: for messages, names and lists. */
  readonly shown: string
  readonly hosts: readonly Host[]
  readonly user: string | undefined
  readonly password: string | undefined
  readonly database: string
  /** Quoted for SQL, because a schema may be named like a SQL keyword. */
  readonly schema: string
  readonly tls: "off" | "encrypted" | "verified"
}

export interface Host {
  readonly host: string
  readonly port: number
}

/** An address of this kind, valid or not. */
export const isServerAddress = (text: string): boolean => /^postgres(?:ql)?:/i.test(text)

/** Refuses an address with an unknown scheme, so that it is never taken for a file name. */
export const requireKnownAddress = (text: string): void => {
  if (isServerAddress(text)) readAddress(text)
  else if (/^[a-z][a-z0-9+.-]+:\/\//i.test(text))
    throw refused(text, "it is of a kind Meridian does not know")
}

export const readAddress = (text: string): Address => {
  const match = PATTERN.exec(text)
  if (match?.groups === undefined) throw refused(text, "it must look like postgres://user@host/database")
  const { user, password, hosts = "", database, query = "" } = match.groups
  const options = new URLSearchParams(query)
  const schema = options.get("schema") ?? "meridian"
  if (!/^[a-z_][a-z0-9_]{0,50}$/.test(schema))
    throw refused(text, "the schema must be lower-case letters, digits and _")
  const read = hosts.split(",").map((host) => readHost(text, host))
  return {
    shown: `postgres://${user === undefined ? "" : `${user}@`}${hosts}/${database ?? ""}${schema === "meridian" ? "" : `?schema=${schema}`}`,
    hosts: read,
    user: decoded(text, user),
    password: decoded(text, password),
    database: decoded(text, database) ?? "meridian",
    schema: `"${schema}"`,
    tls: tlsOf(text, options.get("sslmode"), read.every(isLoopback)),
  }
}

const PATTERN =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<hosts>[^/?]+)(?:\/(?<database>[^?]*))?(?:\?(?<query>.*))?$/i

const readHost = (text: string, given: string): Host => {
  const match = /^(?<host>\[[0-9a-f:]+\]|[^:]+)(?::(?<port>\d{1,5}))?$/i.exec(given)
  const port = Number(match?.groups?.["port"] ?? 5432)
  if (match?.groups === undefined || port < 1 || port > 65_535)
    throw refused(text, "a host is a name and a port")
  return { host: (match.groups["host"] ?? "").replaceAll(/[[\]]/g, ""), port }
}

const decoded = (text: string, part: string | undefined): string | undefined => {
  if (part === undefined || part === "") return undefined
  try {
    return decodeURIComponent(part)
  } catch {
    throw refused(text, "a part of it is not well encoded")
  }
}

/** Nobody can listen in on this machine. Everywhere else encryption is required, unless the address says otherwise. */
const tlsOf = (text: string, mode: string | null, local: boolean): Address["tls"] => {
  switch (mode) {
    case "disable":
      return "off"
    case "require":
    case "prefer":
      return "encrypted"
    case "verify-ca":
    case "verify-full":
      return "verified"
    case null:
      return local ? "off" : "verified"
    default:
      throw refused(text, "sslmode is one of disable, require, verify-ca and verify-full")
  }
}

const isLoopback = ({ host }: Host): boolean =>
  host === "localhost" || host === "::1" || host.startsWith("127.") || host.startsWith("/")

/** Shows as much of the address as is safe. */
const refused = (text: string, why: string): Failure =>
  new Failure("DATABASE_ADDRESS", { address: text.replace(/\/\/[^/]*@/, "//…@").replace(/\?.*$/, ""), why })
