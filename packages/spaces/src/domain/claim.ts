/**
 * A claim: one thing that a folder's files would decide for the person working there. It counts only if the user
 * trusted the folder with exactly that value; see `trust.ts`.
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
  /** The value as it is shown to a person, without credentials. */
  readonly shown: string
  /** File and line, or just the file. */
  readonly where: string
}

/** A claim of a configuration file, with the path to its value in the file. */
export interface ConfigClaim extends Claim {
  readonly parts: readonly string[]
}

/** A folder with more claims than this cannot be trusted: no person can read such a list. */
export const MOST_CLAIMS = 200

/** One text for a set of claims, so that a person who refused them is not asked about the same set again. */
export const claimsText = (claims: readonly Claim[]): string =>
  claims
    .map(({ key, value }) => `${key}=${value}`)
    .toSorted()
    .join("\n")
