import type { FailureEntry } from "./entry.ts"

/** Failures of the ways in: editors, search. */
export const DOORS_FAILURES = {
  ACP_CONTENT_UNSUPPORTED: {
    exit: 1,
    http: 400,
    cause: (f) => `Meridian does not take ${f["type"]} from a client.`,
    next: () => "look at the capabilities that initialize answered, and leave it out.",
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
  SEARCH_INDEX_UNUSABLE: {
    exit: 1,
    http: 500,
    cause: (f) => `The index ${f["file"]} cannot be used: ${f["reason"]}.`,
    next: () => "let its folder be written to, or name another with XDG_CACHE_HOME.",
  },
  EXPORT_FILE_EXISTS: {
    exit: 1,
    http: 409,
    cause: (f) => `${f["file"]} exists already.`,
    next: () => "name another file with --output, or remove that one.",
  },
} as const satisfies Record<string, FailureEntry>
