/**
 * The environment for commands and MCP servers: the user's own, without credentials. A misled model can print whatever a
 * command sees, so a command sees a key only if the user named its variable.
 */
type Environment = Readonly<Record<string, string | undefined>>

export const withoutCredentials = (
  environment: Environment,
  options: {
    /** Keys of providers in use. They are removed from any variable. */
    readonly secrets: readonly string[]
    /** Names of variables to keep anyway. */
    readonly keep: readonly string[]
  },
): Environment => {
  const keys = options.secrets.filter((secret) => secret.length >= SHORTEST)
  const isSecret = (name: string, value: string): boolean =>
    looksSecret(name, value) || keys.some((key) => value.includes(key))
  return Object.fromEntries(
    Object.entries(environment).filter(
      ([name, value]) => value !== undefined && (options.keep.includes(name) || !isSecret(name, value)),
    ),
  )
}

/** Judged by its name, or by a value with a recognisable form. An empty value is harmless. */
const looksSecret = (name: string, value: string): boolean =>
  value !== "" && (SECRET_NAME.test(name) || SECRET_VALUES.some((shape) => shape.test(value)))

const SHORTEST = 6

const SECRET_NAME =
  /(?:^|[_-])(?:key|keys|apikey|auth|pat|pass|credentials?)$|(?:^|[_-])(?:access_?key|secret|secrets|token|tokens|password|passwd|passphrase|private_?key)(?:[_-]|$)|(?:password|secret|token|apikey)$/i

const SECRET_VALUES: readonly RegExp[] = [
  // Keys with a known prefix.
  /^(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|ghu|github_pat|glpat|xox[abp]|AIza|AKIA|ASIA|ya29)[-_.]?[\w.-]{16,}$/,
  /^eyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*$/,
  /-----BEGIN [A-Z ]*PRIVATE KEY/,
  // A password before a host.
  /\w+:\/\/[^\s/@:]*:[^\s/@]+@/,
]
