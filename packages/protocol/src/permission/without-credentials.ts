/**
 * The environment that commands and MCP servers find: the person's own, without credentials. A model that is led astray can
 * print what a command sees, so a command sees no key unless the user named its variable.
 */
type Environment = Readonly<Record<string, string | undefined>>

export const withoutCredentials = (
  environment: Environment,
  options: {
    /** Keys of providers in use: left out whatever their variable is called. */
    readonly secrets: readonly string[]
    /** Names of variables to keep all the same. */
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

/** By its name, or by a value that says itself what it is. An empty one tells nothing. */
const looksSecret = (name: string, value: string): boolean =>
  value !== "" && (SECRET_NAME.test(name) || SECRET_VALUES.some((shape) => shape.test(value)))

const SHORTEST = 6

const SECRET_NAME =
  /(?:^|[_-])(?:key|keys|apikey|auth|pat|pass|credentials?)$|(?:^|[_-])(?:access_?key|secret|secrets|token|tokens|password|passwd|passphrase|private_?key)(?:[_-]|$)|(?:password|secret|token|apikey)$/i

const SECRET_VALUES: readonly RegExp[] = [
  // Keys that say what they are.
  /^(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|ghu|github_pat|glpat|xox[abp]|AIza|AKIA|ASIA|ya29)[-_.]?[\w.-]{16,}$/,
  /^eyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*$/,
  /-----BEGIN [A-Z ]*PRIVATE KEY/,
  // A password before a host.
  /\w+:\/\/[^\s/@:]*:[^\s/@]+@/,
]
