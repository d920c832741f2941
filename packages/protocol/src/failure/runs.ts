import type { FailureEntry } from "./entry.ts"

/** Failures of runs that outlive limits, budgets and their own harness. */
export const RUN_FAILURES = {
  FAILOVER_UNKNOWN: {
    exit: 2,
    http: 400,
    cause: (f) => `${f["where"]} names '${f["harness"]}', which is not a harness.`,
    next: (f) =>
      f["suggestion"] === undefined
        ? `use ${f["known"]}.`
        : `did you mean '${f["suggestion"]}'? There are ${f["known"]}.`,
  },
  SCHEMA_UNREADABLE: {
    exit: 2,
    http: 400,
    cause: (f) => `The schema ${f["path"]} cannot be used: ${f["problem"]}.`,
    next: () => "name a file with one JSON Schema of at most 64 KiB.",
  },
  SCHEMA_UNSUPPORTED: {
    exit: 2,
    http: 400,
    cause: (f) => `${f["harness"]} does not support a schema for its answer.`,
    next: () => "use claude, codex or direct, or leave --schema out.",
  },
  BUDGET_SPENT: {
    exit: 1,
    http: 409,
    cause: (f) => `Run ${f["run"]} cannot go on. ${f["what"]}`,
    next: (f) =>
      `raise ${f["flag"]}${String(f["flag"]).startsWith("--") ? " ('meridian run resume " + String(f["run"]) + " " + String(f["flag"]) + " N')" : " ('meridian config set')"}, or end it with 'meridian run cancel ${f["run"]}'.`,
  },
  CAP_NOT_YOURS: {
    exit: 2,
    http: 403,
    cause: (f) => `Run ${f["asker"]} does not raise the budget of run ${f["run"]}: it did not start it.`,
    next: () => "leave that to the person, or to the run that started it.",
  },
  SERVICE_UNUSABLE: {
    exit: 1,
    http: 400,
    cause: (f) => `No service can be written: ${f["why"]}.`,
    next: () => "run 'meridian up' after each start of the machine instead.",
  },
  SERVICE_NOT_OURS: {
    exit: 1,
    http: 409,
    cause: (f) => `${f["path"]} exists and was not written by Meridian.`,
    next: () => "move or rename that file and run the command again.",
  },
} as const satisfies Record<string, FailureEntry>
