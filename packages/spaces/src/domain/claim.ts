/**
 * A claim: one thing that the files of a folder would decide for whoever works in it. What a claim says counts only when
 * the user trusted the folder with exactly that value; see `trust.ts`.
 */
export const CLAIM_KINDS = [
  "program",
  "address",
  "variable",
  "header",
  "folder",
  "rights",
  "agent",
  "hook",
  "database",
] as const
export type ClaimKind = (typeof CLAIM_KINDS)[number]

export interface Claim {
  readonly kind: ClaimKind
  /** Unique within a folder: `harness.claude`, `agent reviewer`. */
  readonly key: string
  /** JSON text of the value: what trust remembers and compares. */
  readonly value: string
  /** The value as a person is shown it, without credentials. */
  readonly shown: string
  /** File and line, or file. */
  readonly where: string
}

/** A claim of a configuration file, with the way to its value in the file. */
export interface ConfigClaim extends Claim {
  readonly parts: readonly string[]
}

/** A folder that claims more than this is not trusted: nobody can read such a list. */
export const MOST_CLAIMS = 200

/** One text for a set of claims: a person who said no to them is not asked about the same ones again. */
export const claimsText = (claims: readonly Claim[]): string =>
  claims
    .map(({ key, value }) => `${key}=${value}`)
    .toSorted()
    .join("\n")
