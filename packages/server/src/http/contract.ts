/**
 * The HTTP contract: one table, from which the server takes its routes, the OpenAPI document its paths and the client its
 * types and addresses. It runs anywhere, so the page can use it.
 *
 * An input is one flat object: the names in the path are taken from there, the rest is the query of a GET or DELETE and
 * the JSON body of a POST. An answer is JSON; a route without one answers 204. Every failure is
 * `{ error: { code, message, next } }` with the status the catalogue gives its code.
 */
import type { FailureCode } from "@meridian/protocol"

import {
  COMPACTION,
  DELIVERY,
  LOCATION,
  MESSAGE,
  MODEL,
  PERMISSION_REQUEST,
  PROMPT,
  RECEIPT,
  SESSION,
} from "./contract-documents.ts"
import {
  BOOLEAN,
  COUNT,
  described,
  integer,
  listOf,
  objectOf,
  oneOf,
  STRING,
  text,
  type DocumentOf,
  type Shape,
} from "./contract-shape.ts"
import { CHAT, RUN, RUN_ROW, SPACE, SPACE_ROW } from "./contract-spaces.ts"

export interface Route<Input = unknown, Answer = unknown> {
  readonly method: "GET" | "POST" | "DELETE"
  /** `:name` stands for one segment. */
  readonly path: string
  readonly summary: string
  readonly input: Shape<Input>
  /** Absent: the answer is 204. */
  readonly answer?: Shape<Answer>
  /** Codes of its own, beside those every route can give. */
  readonly failures?: readonly FailureCode[]
  /** Most bytes of a body; the rest have a small limit. */
  readonly large?: true
  /** Needs no token. */
  readonly open?: true
}

export type InputOf<R> = R extends { readonly input: Shape<infer Input> } ? Input : never
export type AnswerOf<R> = R extends { readonly answer: Shape<infer Answer> } ? Answer : void

/** An aborted `wait` or `run` costs the session nothing; Node's fetch gives up after 300 s without an answer. */
export const LONGEST_WAIT_SECS = 240

/** Programs that ask take `.` and `..` out of an address before they send it. */
const NEW_ID: Shape<string> = {
  json: {
    type: "string",
    pattern: "^(?!\\.{1,2}$)",
    description: "Not `.` or `..`: no address can hold them.",
  },
}
/** Of an agent, a model, a compaction. */
const NAME = text(200)
/** Lists show it whole. */
const TITLE = text(300)
/** Reaches the model. */
const REASON = text(20_000)
const SESSION_ID = { sessionID: STRING }
const NOT_FOUND = ["SESSION_NOT_FOUND"] as const
const PAGE = {
  cursor: described(STRING, "From `next` or `previous` of a page."),
  limit: integer(1, 200),
  order: oneOf("asc", "desc"),
}
const WAIT = {
  timeoutSecs: described(
    integer(1, LONGEST_WAIT_SECS),
    "Answer with `settled: false` after this time; the work goes on.",
  ),
}
/** What work can end with. */
const WORK = [
  "SESSION_NOT_FOUND",
  "LOCATION_NOT_FOUND",
  "MODEL_NOT_FOUND",
  "AGENT_NOT_FOUND",
  "MODEL_FAILED",
  "TURN_LIMIT",
  "INTERRUPTED",
  "FENCED",
  "CONTEXT_UNAVAILABLE",
] as const
const SETTLED = objectOf({ settled: BOOLEAN, session: SESSION })

const pageOf = <T>(item: Shape<T>) => objectOf({ items: listOf(item) }, { next: STRING, previous: STRING })
const itemsOf = <T>(item: Shape<T>) => objectOf({ items: listOf(item) })

export const CONTRACT = {
  server: {
    health: {
      method: "GET",
      path: "/api/health",
      summary: "Says that the server answers.",
      input: objectOf({}),
      answer: objectOf({ healthy: BOOLEAN, version: STRING }),
      open: true,
    },
    models: {
      method: "GET",
      path: "/api/model",
      summary: "The models sessions can use.",
      input: objectOf({}),
      answer: itemsOf(MODEL),
    },
    agents: {
      method: "GET",
      path: "/api/agent",
      summary: "The agents sessions can use.",
      input: objectOf({}),
      answer: itemsOf(objectOf({ name: STRING }, { model: STRING })),
    },
  },
  sessions: {
    create: {
      method: "POST",
      path: "/api/session",
      summary: "Makes a session, or returns the one that has this id already.",
      input: objectOf({ location: LOCATION }, { id: NEW_ID, agent: NAME, model: NAME, title: TITLE }),
      answer: SESSION,
      failures: ["LOCATION_NOT_FOUND", "MODEL_NOT_FOUND", "AGENT_NOT_FOUND"],
    },
    list: {
      method: "GET",
      path: "/api/session",
      summary: "A page of the sessions.",
      input: objectOf({}, PAGE),
      answer: pageOf(SESSION),
      failures: ["INVALID_CURSOR"],
    },
    get: {
      method: "GET",
      path: "/api/session/:sessionID",
      summary: "One session.",
      input: objectOf(SESSION_ID),
      answer: SESSION,
      failures: NOT_FOUND,
    },
    fork: {
      method: "POST",
      path: "/api/session/:sessionID/fork",
      summary: "Makes a session with the same history; asking again with the same id returns the first fork.",
      input: objectOf(SESSION_ID, { id: NEW_ID }),
      answer: SESSION,
      failures: ["SESSION_NOT_FOUND", "SESSION_EXISTS"],
    },
    prompt: {
      method: "POST",
      path: "/api/session/:sessionID/prompt",
      summary:
        "Admits an input durably and starts work. An exact retry with the same id gets the first receipt.",
      input: objectOf(
        { ...SESSION_ID, prompt: PROMPT },
        { id: NEW_ID, delivery: DELIVERY, resume: described(BOOLEAN, "False admits only.") },
      ),
      answer: RECEIPT,
      failures: ["SESSION_NOT_FOUND", "PROMPT_CONFLICT", "INBOX_FULL"],
      large: true,
    },
    run: {
      method: "POST",
      path: "/api/session/:sessionID/run",
      summary:
        "Makes at least one provider attempt and answers when the session has settled, or with its failure.",
      input: objectOf(SESSION_ID, WAIT),
      answer: SETTLED,
      failures: WORK,
    },
    wait: {
      method: "POST",
      path: "/api/session/:sessionID/wait",
      summary: "Answers when the session has settled; fails with the work it waited for.",
      input: objectOf(SESSION_ID, WAIT),
      answer: SETTLED,
      failures: WORK,
    },
    wake: {
      method: "POST",
      path: "/api/session/:sessionID/wake",
      summary: "Says that there may be work.",
      input: objectOf(SESSION_ID),
      failures: NOT_FOUND,
    },
    interrupt: {
      method: "POST",
      path: "/api/session/:sessionID/interrupt",
      summary: "Stops the current work and answers when it has settled. Nothing to stop is fine.",
      input: objectOf(SESSION_ID),
    },
    compact: {
      method: "POST",
      path: "/api/session/:sessionID/compact",
      summary: "Compacts at the next safe boundary. Without a receipt there was nothing to compact.",
      input: objectOf(SESSION_ID),
      answer: objectOf({}, { receipt: COMPACTION }),
      failures: WORK,
    },
    move: {
      method: "POST",
      path: "/api/session/:sessionID/move",
      summary: "Moves the session to another directory.",
      input: objectOf({ ...SESSION_ID, location: LOCATION }),
      failures: ["SESSION_NOT_FOUND", "LOCATION_NOT_FOUND"],
    },
    switchAgent: {
      method: "POST",
      path: "/api/session/:sessionID/agent",
      summary: "Another agent from the next turn on.",
      input: objectOf({ ...SESSION_ID, agent: NAME }),
      failures: ["SESSION_NOT_FOUND", "AGENT_NOT_FOUND"],
    },
    switchModel: {
      method: "POST",
      path: "/api/session/:sessionID/model",
      summary: "Another model from the next turn on.",
      input: objectOf({ ...SESSION_ID, model: NAME }),
      failures: ["SESSION_NOT_FOUND", "MODEL_NOT_FOUND"],
    },
    messages: {
      method: "GET",
      path: "/api/session/:sessionID/message",
      summary: "A page of the visible messages.",
      input: objectOf(SESSION_ID, PAGE),
      answer: pageOf(MESSAGE),
      failures: ["SESSION_NOT_FOUND", "INVALID_CURSOR"],
    },
    message: {
      method: "GET",
      path: "/api/session/:sessionID/message/:messageID",
      summary: "One visible message.",
      input: objectOf({ ...SESSION_ID, messageID: STRING }),
      answer: MESSAGE,
      failures: ["SESSION_NOT_FOUND", "MESSAGE_NOT_FOUND"],
    },
    inputs: {
      method: "GET",
      path: "/api/session/:sessionID/input",
      summary: "The inputs that wait, oldest first.",
      input: objectOf(SESSION_ID),
      answer: itemsOf(RECEIPT),
      failures: NOT_FOUND,
    },
    cancel: {
      method: "DELETE",
      path: "/api/session/:sessionID/input/:inputID",
      summary: "Takes back an input that still waits.",
      input: objectOf({ ...SESSION_ID, inputID: STRING }),
      answer: RECEIPT,
      failures: ["SESSION_NOT_FOUND", "INPUT_NOT_FOUND"],
    },
    receipts: {
      method: "GET",
      path: "/api/session/:sessionID/receipt",
      summary: "What each compaction kept and dropped, oldest first.",
      input: objectOf(SESSION_ID),
      answer: itemsOf(COMPACTION),
      failures: NOT_FOUND,
    },
    restore: {
      method: "POST",
      path: "/api/session/:sessionID/restore",
      summary: "Goes back to an older checkpoint; without one, to the whole history.",
      input: objectOf(SESSION_ID, { compactionID: NAME }),
      failures: ["SESSION_NOT_FOUND", "CHECKPOINT_NOT_FOUND"],
    },
    permissions: {
      method: "GET",
      path: "/api/session/:sessionID/permission",
      summary: "The open permission requests of one session.",
      input: objectOf(SESSION_ID),
      answer: itemsOf(PERMISSION_REQUEST),
      failures: NOT_FOUND,
    },
  },
  permissions: {
    list: {
      method: "GET",
      path: "/api/permission",
      summary: "The open permission requests of all sessions.",
      input: objectOf({}),
      answer: itemsOf(PERMISSION_REQUEST),
    },
    reply: {
      method: "POST",
      path: "/api/permission/:requestID/reply",
      summary: "Answers a permission request. The message of a rejection reaches the model.",
      input: objectOf({ requestID: STRING, reply: oneOf("once", "always", "reject") }, { message: REASON }),
      failures: ["REQUEST_NOT_FOUND"],
    },
  },
  spaces: {
    list: {
      method: "GET",
      path: "/api/space",
      summary: "The spaces, the one worked in last first.",
      input: objectOf({}, { limit: integer(1, 200) }),
      answer: itemsOf(SPACE_ROW),
    },
    get: {
      method: "GET",
      path: "/api/space/:spaceID",
      summary: "A space with its chats and the ids of its runs.",
      input: objectOf({ spaceID: STRING }),
      answer: SPACE,
      failures: ["SPACE_NOT_FOUND", "SPACE_DAMAGED"],
    },
    chats: {
      method: "GET",
      path: "/api/space/:spaceID/chat",
      summary: "The chats of a space.",
      input: objectOf({ spaceID: STRING }),
      answer: itemsOf(CHAT),
      failures: ["SPACE_NOT_FOUND", "SPACE_DAMAGED"],
    },
    runs: {
      method: "GET",
      path: "/api/space/:spaceID/run",
      summary: "The runs of a space, newest first.",
      input: objectOf(
        { spaceID: STRING },
        { limit: integer(1, 1000), status: oneOf("queued", "running", "succeeded", "failed", "cancelled") },
      ),
      answer: itemsOf(RUN_ROW),
      failures: ["SPACE_NOT_FOUND", "SPACE_DAMAGED"],
    },
    run: {
      method: "GET",
      path: "/api/space/:spaceID/run/:runID",
      summary: "One run; with its whole report when that is asked for.",
      input: objectOf({ spaceID: STRING, runID: STRING }, { report: BOOLEAN }),
      answer: RUN,
      failures: ["SPACE_NOT_FOUND", "RUN_NOT_FOUND", "SPACE_DAMAGED"],
    },
  },
} as const satisfies Record<string, Record<string, Route>>

export type Contract = typeof CONTRACT

/**
 * Durable events as server-sent events. Each has its sequence as `id`, no event name and `{seq, time, type, data}` as
 * data; named frames carry no id and move no cursor: `synced` where the replay ended, `live` for a fragment of the model's
 * output, `dropped` for fragments a slow reader missed, `closed` when the server ends the stream and says why.
 */
export const EVENTS = {
  method: "GET",
  path: "/api/session/:sessionID/event",
  summary: "The durable events behind a cursor, then those to come, as server-sent events.",
  input: objectOf(SESSION_ID, {
    after: described(COUNT, "Only events behind this sequence; `Last-Event-ID` goes before it."),
    live: described(BOOLEAN, "Also fragments of the model's output while it writes."),
    follow: described(BOOLEAN, "False: ends where the replay ends. True by default."),
  }),
  failures: ["SESSION_NOT_FOUND", "INVALID_CURSOR", "STREAMS_FULL"],
} as const satisfies Route

/**
 * Which sessions changed, as server-sent events without ids: a first `changed` frame at once, then one whenever sessions
 * have new events, with `{ sessions, elsewhere }`; `elsewhere` says that another process wrote, so any may have changed.
 */
export const CHANGES = {
  method: "GET",
  path: "/api/event",
  summary: "Says which sessions changed, as server-sent events; for lists that are kept current.",
  input: objectOf({}),
  failures: ["STREAMS_FULL"],
} as const satisfies Route

export type EventsInput = DocumentOf<typeof EVENTS.input>
