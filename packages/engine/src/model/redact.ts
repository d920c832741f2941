/** Keeps credentials out of every text that is recorded or shown. */

export const HIDDEN = "<hidden>"

/** Patterns of credentials, most specific first. The first group, if any, stays visible. */
const SHAPES: readonly RegExp[] = [
  // Headers, as text or as JSON.
  /((?:proxy-)?authorization["']?\s*[:=]\s*["']?)(?:(?:bearer|basic|token)\s+)?[^\s"',;}]+/gi,
  /((?:x-api-key|api-key|x-goog-api-key|cookie|set-cookie)["']?\s*[:=]\s*["']?)[^\s"',;}]+/gi,
  /(\bbearer\s+)[\w.~+/=-]{6,}/gi,
  // Fields and query parameters.
  /((?:[?&]|\b)(?:api[-_]?key|key|access[-_]?token|auth[-_]?token|token|secret|client[-_]?secret|password|signature|sig|x-amz-[\w-]+)=)[^&\s"'<>)]+/gi,
  /("(?:api[-_]?key|apikey|access[-_]?token|auth[-_]?token|token|secret|client[-_]?secret|password)"\s*:\s*")[^"]+/gi,
  // User name and password before a host.
  /(\w+:\/\/)[^\s/@:]+:[^\s/@]+(?=@)/g,
  // Keys with a known prefix, even when the provider has already hidden their middle.
  /\b(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|glpat|AIza|AKIA|ya29)[-_.]?[\w*-]{8,}[\w*.-]*/g,
  /\beyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*/g,
]

/** Shorter secrets are not searched for: they would hide ordinary words. */
const SHORTEST_SECRET = 6

/** `secrets`: the credentials in use. They are hidden everywhere. */
export const redact = (text: string, secrets: readonly string[] = []): string => {
  const known = secrets.flatMap((secret) =>
    secret.length < SHORTEST_SECRET ? [] : [secret, encodeURIComponent(secret)],
  )
  const clean = known.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text)
  return SHAPES.reduce(
    (rest, shape) =>
      rest.replace(shape, (_match, kept: unknown) => `${typeof kept === "string" ? kept : ""}${HIDDEN}`),
    clean,
  )
}
