import type { FailureEntry } from "./entry.ts"

/** Failures of editors, search and schedules. */
export const DOORS_FAILURES = {
  ACP_CONTENT_UNSUPPORTED: {
    exit: 1,
    http: 400,
    cause: (f) => `Meridian does not accept ${f["type"]} from a client.`,
    next: () => "leave it out; the answer to initialize lists what is supported.",
  },
  ACP_SESSION_NOT_OPEN: {
    exit: 1,
    http: 404,
    cause: (f) => `Session ${f["session"]} is not open on this connection.`,
    next: () => "open it with session/load or session/resume, or make one with session/new.",
  },
  ACP_SESSIONS_FULL: {
    exit: 1,
    http: 429,
    cause: (f) => `${f["limit"]} sessions are at work on this connection, and no more may be open.`,
    next: () => "wait for one of them, or close one with session/close.",
  },
  ACP_DIRECTORY_RELATIVE: {
    exit: 1,
    http: 400,
    cause: (f) => `The working directory ${f["directory"]} is not an absolute path.`,
    next: () => "send the absolute path of a directory as cwd.",
  },
  SCHEDULE_PATTERN: {
    exit: 2,
    http: 400,
    cause: (f) => `'${f["pattern"]}' is not a valid time pattern: ${f["problem"]}.`,
    next: () =>
      'give five fields in quotes (minute hour day month weekday, such as "0 9 * * 1-5") or one time (2026-12-24T09:00).',
  },
  SCHEDULE_ZONE: {
    exit: 2,
    http: 400,
    cause: (f) => `'${f["zone"]}' is not a time zone that this machine knows.`,
    next: () => "name one such as Europe/Berlin or UTC, or leave --zone out.",
  },
  SCHEDULE_NEVER: {
    exit: 2,
    http: 400,
    cause: (f) => `No future time matches '${f["pattern"]}'.`,
    next: () => "give a pattern that matches a future time.",
  },
  SCHEDULE_COMMAND: {
    exit: 2,
    http: 400,
    cause: (f) => `${f["problem"]}.`,
    next: () =>
      `put 'run spawn' or 'run continue' with its flags behind --, such as: -- run spawn -p "review".`,
  },
  SCHEDULE_NEEDS_PERSON: {
    exit: 1,
    http: 403,
    cause: (f) =>
      `'meridian ${f["command"]}' was called from inside a chat or a run, and schedules are a person's decision.`,
    next: () => "run it in a terminal of your own (without MERIDIAN_SPACE_ID).",
  },
  SCHEDULE_NOT_FOUND: {
    exit: 1,
    http: 404,
    cause: (f) => `Schedule '${f["schedule"]}' not found.`,
    next: () => "run 'meridian schedule list' to see the schedules.",
  },
  SCHEDULE_FOREIGN: {
    exit: 1,
    http: 403,
    cause: (f) => `Schedule ${f["schedule"]} was not made by you in this place, so it fires nothing.`,
    next: () => "create it again, or remove it with 'meridian schedule remove'.",
  },
  SCHEDULE_FIRED: {
    exit: 1,
    http: 409,
    cause: (f) => `${f["firing"]} has already started run ${f["run"]}.`,
    next: () => "nothing: a firing starts only one run.",
  },
  SCHEDULES_FULL: {
    exit: 1,
    http: 429,
    cause: (f) => `This project has ${f["limit"]} schedules, and no more may be made.`,
    next: () => "remove one with 'meridian schedule remove'.",
  },
  SCHEDULES_DAMAGED: {
    exit: 1,
    http: 500,
    cause: (f) => `${f["file"]} cannot be read: ${f["reason"]}.`,
    next: () => "restore it, or move it away and create the schedules again; until then nothing fires.",
  },
  SEARCH_INDEX_UNUSABLE: {
    exit: 1,
    http: 500,
    cause: (f) => `The index ${f["file"]} cannot be used: ${f["reason"]}.`,
    next: () => "make its folder writable, or name another with XDG_CACHE_HOME.",
  },
  EXPORT_FILE_EXISTS: {
    exit: 1,
    http: 409,
    cause: (f) => `${f["file"]} already exists.`,
    next: () => "name another file with --output, or remove that one.",
  },
} as const satisfies Record<string, FailureEntry>
