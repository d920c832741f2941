/**
 * Hides what looks like a secret in text that is shown again: keys of known services, tokens, passwords beside their
 * names, private keys, and values the caller knows to be secret. What was said stays readable; the secret is named by
 * its kind. Linear: every pattern is anchored by fixed words or a bounded class.
 */
export const hideSecrets = (text: string, known: readonly string[] = []): string => {
  let hidden = text
  for (const secret of known)
    if (secret.length >= SHORTEST_KNOWN) hidden = hidden.replaceAll(secret, "[secret]")
  for (const [kind, pattern] of SECRETS) hidden = hidden.replaceAll(pattern, `[${kind}]`)
  return hidden.replaceAll(NAMED, (_, name: string, sign: string) => `${name}${sign}[secret]`)
}

/** Values of variables whose name says that they are secret. */
export const secretsIn = (environment: Readonly<Record<string, string | undefined>>): readonly string[] =>
  Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && value.length >= SHORTEST_KNOWN && SECRET_NAME.test(name) ? [value] : [],
  )

const SHORTEST_KNOWN = 8

const SECRET_NAME = /(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH)(?:_|$)/i

const SECRETS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  [
    "private key",
    /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^]{0,8000}?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g,
  ],
  ["api key", /\b(?:sk|pk|rk)-(?:[A-Za-z]{2,12}-){0,3}[A-Za-z0-9_-]{16,200}/g],
  ["api key", /\b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,100}/g],
  ["token", /\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{20,255}|\bgithub_pat_[A-Za-z0-9_]{20,255}/g],
  ["token", /\bglpat-[A-Za-z0-9_-]{16,100}/g],
  ["token", /\bxox[abeoprs]-[A-Za-z0-9-]{10,250}/g],
  ["token", /\bnpm_[A-Za-z0-9]{30,100}/g],
  ["token", /\bhf_[A-Za-z0-9]{20,100}/g],
  ["token", /\bpypi-[A-Za-z0-9_-]{30,250}/g],
  ["token", /\bdop_v1_[a-f0-9]{40,80}/g],
  ["access key", /\b(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{16}\b/g],
  ["api key", /\bAIza[A-Za-z0-9_-]{30,60}/g],
  ["token", /\bya29\.[A-Za-z0-9_-]{20,400}/g],
  ["token", /\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}(?:\.[A-Za-z0-9_-]{0,2000})?/g],
  ["token", /\bSG\.[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{16,80}/g],
  ["credentials", /(?<=:\/\/)[^\s/:@]{1,100}:[^\s/@]{1,200}(?=@)/g],
  ["token", /(?<=\b(?:Bearer|Basic|token) )[A-Za-z0-9._~+/=-]{16,4000}/gi],
]

/** `password = "…"`, `API_KEY: …`, `--token …`: the value goes, the name stays. */
const NAMED =
  /((?:\b|_|-)(?:pass(?:word|wd|phrase)|secret|api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token|client[_-]?secret|private[_-]?key|token))("?\s*(?:[:=]|=>)\s*"?'?)(?!\[)[^\s"',;})\]]{6,400}/gi
