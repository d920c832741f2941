import type { FailureEntry } from "./entry.ts"

/** Failures of the HTTP server. None of them names a file or a directory of the server. */
export const SERVER_FAILURES = {
  UNAUTHORIZED: {
    exit: 1,
    http: 401,
    cause: () => "The request carries no valid token.",
    next: () => "send 'Authorization: Bearer TOKEN' with the token of the address the server printed.",
  },
  HOST_REFUSED: {
    exit: 1,
    http: 403,
    cause: () => "The Host header does not name this server.",
    next: () => "use the address the server printed.",
  },
  ORIGIN_REFUSED: {
    exit: 1,
    http: 403,
    cause: () => "This server does not answer requests from other web pages.",
    next: () => "open the page this server serves, or send no Origin header.",
  },
  ROUTE_NOT_FOUND: {
    exit: 1,
    http: 404,
    cause: (f) => `There is no ${f["method"]} route here.`,
    next: () => "see /openapi.json for the list of routes.",
  },
  METHOD_NOT_ALLOWED: {
    exit: 1,
    http: 405,
    cause: (f) => `This address does not support ${f["method"]}.`,
    next: (f) => `use ${f["allowed"]}.`,
  },
  MESSAGE_NOT_SETTLED: {
    exit: 1,
    http: 409,
    cause: (f) => `Message ${f["message"]} of session ${f["session"]} is still being worked on.`,
    next: () => "wait until it has settled, or name an earlier one.",
  },
  MESSAGE_NOT_FOUND: {
    exit: 1,
    http: 404,
    cause: (f) => `Session ${f["session"]} has no visible message ${f["message"]}.`,
    next: () => "list the messages; an input becomes one when it is promoted.",
  },
  REQUEST_MALFORMED: {
    exit: 1,
    http: 400,
    cause: () => "The request is not valid HTTP.",
    next: () => "fix the client.",
  },
  REQUEST_TIMEOUT: {
    exit: 1,
    http: 408,
    cause: () => "The request did not arrive in time.",
    next: () => "send it again over a faster connection.",
  },
  BODY_TOO_LARGE: {
    exit: 1,
    http: 413,
    cause: (f) => `The body is larger than ${f["limit"]} bytes.`,
    next: () => "send a smaller body.",
  },
  ADDRESS_TOO_LONG: {
    exit: 1,
    http: 414,
    cause: (f) => `The address is longer than ${f["limit"]} characters.`,
    next: () => "shorten it.",
  },
  MEDIA_TYPE_REFUSED: {
    exit: 1,
    http: 415,
    cause: () => "The body is not plain JSON.",
    next: () => "send 'Content-Type: application/json' and no Content-Encoding.",
  },
  EXPECTATION_REFUSED: {
    exit: 1,
    http: 417,
    cause: () => "The request expects something this server does not do.",
    next: () => "send 'Expect: 100-continue' or no Expect at all.",
  },
  HEADERS_TOO_LARGE: {
    exit: 1,
    http: 431,
    cause: () => "The headers are too large.",
    next: () => "send fewer.",
  },
  STREAMS_FULL: {
    exit: 1,
    http: 503,
    cause: (f) => `${f["limit"]} event streams are already open.`,
    next: () => "close one, or try again later.",
  },
  SERVER_BUSY: {
    exit: 1,
    http: 503,
    cause: () => "This server is receiving more than it can hold.",
    next: () => "send it again in a moment.",
  },
  SERVER_FAILED: {
    exit: 1,
    http: 500,
    cause: (f) => `The server failed (reference ${f["reference"]}).`,
    next: () => "find the reference in the server's log: this is a bug in Meridian or a broken disk.",
  },
  PAGE_NOT_BUILT: {
    exit: 1,
    http: 404,
    cause: () => "The page is not built.",
    next: () => "run 'npm run build'; the API under /api works without it.",
  },
  PORT_UNAVAILABLE: {
    exit: 1,
    http: 500,
    cause: (f) => `Cannot listen on ${f["host"]} port ${f["port"]}: ${f["why"]}.`,
    next: () => "end the program that holds it, or give another --port or --host.",
  },
  TOKEN_UNUSABLE: {
    exit: 1,
    http: 500,
    cause: (f) => `The token file ${f["file"]} cannot be used: ${f["why"]}.`,
    next: () => "remove it; the next start makes a new one.",
  },
} as const satisfies Record<string, FailureEntry>
