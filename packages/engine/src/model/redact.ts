/** Keeps credentials out of every text that is recorded or shown. */

export const HIDDEN = "<hidden>"

/** Shapes of credentials, most specific first. The first group, where there is one, stays. */
const SHAPES: readonly RegExp[] = [
  // Headers, as text or as JSON.
  /((?:proxy-)?authorization["']?\s*[:=]\s*["']?)(?:(?:bearer|basic|token)\s+)?[^\s"',;}]+/gi,
  /((?:x-api-key|api-key|x-goog-api-key|cookie|set-cookie)["']?\s*[:=]\s*["']?)[^\s"',;}]+/gi,
  /(\bbearer\s+)[\w.~+/=-]{6,}/gi,
  // Fields and query parameters.
  /((?:[?&]|\b)(?:api[-_]?key|key|access[-_]?token|auth[-_]?token|token|secret|client[-_]?secret|password|signature|sig|x-amz-[\w-]+)=)[^&\s"'<>)]+/gi,
  /("(?:api[-_]?key|apikey|access[-_]?token|auth[-_]?token|token|secret|client[-_]?secret|password)"\s*:\s*")[^"]+/gi,
  // A name and a password before the host.
  /(\w+:\/\/)[^\s/@:]+:[^\s/@]+(?=@)/g,
  // Keys that say what they are, also with their middle already hidden by the provider.
  /\b(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|glpat|AIza|AKIA|ya29)[-_.]?[\w*-]{8,}[\w*.-]*/g,
  /\beyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*/g,
]

/** Short secrets are not searched for: they would hide ordinary words. */
const SHORTEST_SECRET = 6

/** `secrets` are the credentials known to be in use; they are hidden wherever they stand. */
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
