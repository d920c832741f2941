import type { FailureEntry } from "./entry.ts"

/** Failures of the brief, the rules and the hooks that carry them. */
export const CONTINUITY_FAILURES = {
  HOST_UNKNOWN: {
    exit: 2,
    http: 400,
    cause: (f) => `Unknown host '${f["host"]}'.`,
    next: (f) => `use one of ${f["known"]}.`,
  },
  HOOK_SETTINGS_INVALID: {
    exit: 1,
    http: 409,
    cause: (f) => `${f["path"]} cannot be changed: ${f["problem"]}.`,
    next: () => "correct the file and run the command again; nothing was written.",
  },
  PLUGIN_NOT_OURS: {
    exit: 1,
    http: 409,
    cause: (f) => `${f["path"]} exists and is not Meridian's plugin.`,
    next: () => "move or rename that file and run the command again.",
  },
  RECALL_PLACE_UNKNOWN: {
    exit: 1,
    http: 404,
    cause: (f) => `No conversation of this project is at '${f["place"]}'.`,
    next: () => "run 'meridian recall WORDS' and take a place it shows.",
  },
  PLUGIN_NOT_BUILT: {
    exit: 1,
    http: 500,
    cause: () => "The built OpenCode plugin was not found beside this program.",
    next: () => "run 'npm run build' in the checkout, or install the package again.",
  },
} as const satisfies Record<string, FailureEntry>
