import type { Behaviour } from "../behaviours.ts"

/** Seed 004. */
export const ENGINE_BEHAVIOURS = {
  "prompt.retry.exact": {
    seed: "004",
    says: "exact reuse of a message id returns the same admitted receipt",
    owed: "the engine is being built",
  },
  "tools.registry.scoped": {
    seed: "004",
    says: "closing a contribution removes its tool from the advertised ones and reveals the one beneath",
  },
  "tools.registry.settles": {
    seed: "004",
    says: "execution decodes input, asks, runs, checks the output, and settles failures as typed errors",
  },
  "tools.read.stays-inside": {
    seed: "004",
    says: "read refuses absolute paths, escapes and links that lead outside, whatever the rules say",
  },
  "tools.read.references": {
    seed: "004",
    says: "read resolves one path relative to the Location or a named project reference",
  },
  "tools.read.canonical-resource": {
    seed: "004",
    says: "read asks for the canonical resource, not for the name the model used",
  },
  "tools.read.pages-text": {
    seed: "004",
    says: "oversized UTF-8 text is paged by bounded line ranges",
  },
  "tools.read.binary": {
    seed: "004",
    says: "binary content comes back as base64",
  },
  "tools.read.directory": {
    seed: "004",
    says: "a directory lists its direct children, directories first, paged by a one-based offset and a next cursor",
  },
  "tools.bash.workdir": {
    seed: "004",
    says: "a working directory outside the project needs external_directory approval",
  },
  "tools.bash.advice": {
    seed: "004",
    says: "absolute arguments outside the project produce warnings only",
  },
  "tools.patch.one-question": {
    seed: "004",
    says: "external directories are approved first, then one edit batch",
  },
  "tools.patch.preflight": {
    seed: "004",
    says: "every update and delete is checked before the first write",
  },
  "tools.patch.partial": {
    seed: "004",
    says: "a failure while committing leaves earlier changes applied and reports exactly which",
  },
} as const satisfies Record<string, Behaviour>
