/**
 * Removes credentials from what leaves this machine, and counts them. Lookalikes stay: hashes of commits, UUIDs,
 * checksums, the example keys of documentation.
 */
import type { Json } from "@meridian/protocol"

import { ASSIGNED, isSecretName, looksSecret, MAY_BE_ASSIGNED, nameBefore } from "./named-secret.ts"
import { SECRET_SHAPES } from "./secret-shapes.ts"

export interface Hiding {
  readonly text: (text: string) => string
  /** Handles every text inside; one under a secret's name is hidden whole. */
  readonly value: (value: Json) => Json
  /** Kind -> how many were hidden. */
  readonly counts: () => ReadonlyMap<string, number>
}

/** `env`: values of variables with a secret's name are hidden wherever they occur. */
export const openHiding = (env: Readonly<Record<string, string | undefined>> = {}): Hiding => {
  const counts = new Map<string, number>()
  const known = Object.entries(env).flatMap(([name, value = ""]) =>
    isSecretName(name) && value.length >= SHORTEST_KNOWN && looksSecret({ name, value, isQuoted: true })
      ? [value]
      : [],
  )
  const hide = (kind: string): string => {
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    return `[hidden: ${kind}]`
  }

  const hideKnown = (text: string): string =>
    known.reduce(
      (rest, value) =>
        rest.includes(value) ? rest.replaceAll(value, () => hide("value of a variable")) : rest,
      text,
    )

  const hideShapes = (text: string): string =>
    SECRET_SHAPES.reduce((rest, { name, hints, pattern }) => {
      if (!hints.some((hint) => rest.includes(hint))) return rest
      return rest.replaceAll(pattern, (...found) => replacement(found, () => hide(name)))
    }, text)

  const hideAssigned = (text: string): string => {
    if (!MAY_BE_ASSIGNED.test(text)) return text
    return text.replaceAll(ASSIGNED, (...found) => {
      const [whole] = found
      const groups: Readonly<Record<string, string | undefined>> = Object(found.at(-1))
      const quoted = groups["double"] ?? groups["single"]
      const value = quoted ?? groups["bare"] ?? ""
      const name = `${nameBefore(text, Number(found.at(-3)))}${groups["name"]}`
      const isSecret = isSecretName(name) && looksSecret({ name, value, isQuoted: quoted !== undefined })
      if (!isSecret || value.includes("[hidden") || isKept(value)) return whole
      return cutOut(whole, value, () => hide(NAMED))
    })
  }

  const text = (given: string): string => hideAssigned(hideShapes(hideKnown(withoutColours(given))))

  const value = (given: Json): Json => {
    if (typeof given === "string") return text(given)
    if (Array.isArray(given)) return given.map(value)
    if (typeof given !== "object" || given === null) return given
    return Object.fromEntries(
      Object.entries(given).map(([name, inner]) => [
        text(name),
        typeof inner === "string" && isSecretValue(name, inner) ? hide(NAMED) : value(inner),
      ]),
    )
  }

  return { text, value, counts: () => counts }
}

/** A search that highlights its matches writes colours into the middle of a key. */
const withoutColours = (text: string): string =>
  text.includes(COLOUR_BEGINS) ? text.replaceAll(COLOURS, "") : text

const COLOUR_BEGINS = "\u001B["
const COLOURS = new RegExp(String.raw`${COLOUR_BEGINS[0] ?? ""}\[[0-9;]{0,20}[mK]`, "g")

const SHORTEST_KNOWN = 8

/** Only its name shows that it is secret. */
const NAMED = "named secret"

const isSecretValue = (name: string, value: string): boolean =>
  isSecretName(name) && looksSecret({ name, value, isQuoted: true }) && !isKept(value)

/** From the arguments of a replacer: the match, or the part of it to hide. */
const replacement = (found: readonly unknown[], hide: () => string): string => {
  const whole = String(found[0])
  const groups: unknown = found.at(-1)
  const value: unknown =
    typeof groups === "object" && groups !== null ? Reflect.get(groups, "value") : undefined
  const secret = typeof value === "string" ? value : whole
  return isKept(secret) ? whole : cutOut(whole, secret, hide)
}

/** Cuts its last occurrence: the text before it is its name. */
const cutOut = (whole: string, secret: string, hide: () => string): string => {
  const at = whole.lastIndexOf(secret)
  return `${whole.slice(0, at)}${hide()}${whole.slice(at + secret.length)}`
}

/** Examples from documentation, and placeholders. */
const isKept = (secret: string): boolean =>
  EXAMPLES.has(secret) || /^[^\s;]*(?:EXAMPLE|example)[^\s;]*$/.test(secret) || isFilling(secret)

/**
 * The same few characters repeated. A counting sequence is hidden: people make test keys that way, and some of them
 * are real.
 */
const isFilling = (secret: string): boolean => {
  const body = secret.replace(/^[A-Za-z]{1,10}[_-](?:[a-z]{2,8}[_-])?/, "")
  if (/^[xX*.•_-]+$/.test(body) || /(?:[xX]{6,}|\.{3,}|\*{4,}|…)/.test(secret)) return true
  return new Set(body.toLowerCase()).size <= 2
}

const EXAMPLES: ReadonlySet<string> = new Set([
  "password",
  "passwd",
  "pass",
  "pwd",
  "secret",
  "token",
  "changeme",
  "sk_test_4eC39HqLyjWDarjtT1zdp7dc",
  "sk_test_BQokikJOvBiI2HlWgH4olfQ2",
  "pk_test_TYooMQauvdEDq54NiTphI7jx",
  "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
  "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiYWRtaW4iOnRydWUsImlhdCI6MTUxNjIzOTAyMn0.KMUFsIDTnFmyG3nMiGM6H9FNFUROf3wh7SmqJp-QV30",
])
