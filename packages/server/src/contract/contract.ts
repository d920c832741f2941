/**
 * The HTTP contract as one table. The server gets its routes from it, the OpenAPI document its paths, the client its types.
 *
 * An input is one flat object: path names are taken from it; the rest is the query of a GET or DELETE, or the JSON body of
 * a POST. An answer is JSON; a route without one answers 204. Every failure is `{ error: { code, message, next } }` with
 * the status that the catalogue gives its code.
 */
import {
  anyOf,
  BOOLEAN,
  CAP_FIELDS,
  CAPS,
  COMPACTION_RECEIPT,
  COUNT,
  DELIVERY,
  described,
  integer,
  listOf,
  objectOf,
  oneOf,
  OVERRIDES_FIELDS,
  PERMISSION_REPLY,
  PROMPT,
  RECEIPT,
  SESSION_MESSAGE,
  STRING,
  text,
  type FailureCode,
  type Shape,
  type TypeOf,
} from "@meridian/protocol"

import { ADDRESSES, CHANGES_ADDRESS, EVENTS_ADDRESS, LIVE_ADDRESS, type Address } from "./addresses.ts"
import {
  AGENT,
  CLUSTER,
  COMMAND,
  DIRECTORY,
  LOCATION,
  MODEL,
  PERMISSION_REQUEST,
  QUESTION,
  SAVED_PERMISSION,
  SESSION,
  SESSION_BUDGET,
  STAY,
} from "./documents.ts"
import {
  DIFF_LINE,
  RUN_APPLIED,
  RUN_CONTINUED,
  RUN_DIFF,
  RUN_DISCARDED,
  RUN_RESUMED,
  RUN_TOLD,
} from "./run-work.ts"
import { CHAT, HOST_COMPACTION, RUN, RUN_ROW, RUN_STATUS, SPACE, SPACE_ROW } from "./spaces.ts"
import { AT_PROMPT, CHANGED_FILES, DIFF_FORM, OVERWRITE, UNDONE, UNDO_FIELDS } from "./undo.ts"

export interface Route<Input = unknown, Answer = unknown> extends Address {
  readonly summary: string
  readonly input: Shape<Input>
  /** Omitted when the answer is 204. */
  readonly answer?: Shape<Answer>
  /** Failure codes specific to this route. Every route can also give the general ones. */
  readonly failures?: readonly FailureCode[]
  /** Its body may be large. */
  readonly large?: true
  /** Its answer may be large. */
  readonly bulky?: true
  /** Needs no token. */
  readonly open?: true
  /** Also accepts the cluster's token. */
  readonly peer?: true
}

export type InputOf<R> = R extends { readonly input: Shape<infer Input> } ? Input : never
export type AnswerOf<R> = R extends { readonly answer: Shape<infer Answer> } ? Answer : void

/** An aborted `wait` or `run` costs the session nothing. Node's fetch gives up after 300 s without an answer. */
export const LONGEST_WAIT_SECS = 240

/** Clients remove `.` and `..` from an address before they send it. */
const NEW_ID = described(
  text({ pattern: /^(?!\.{1,2}$)/, like: "an id other than `.` and `..`" }),
  "Not `.` or `..`, which no address can contain.",
)
/** The name of an agent, a model or a compaction. */
const NAME = text({ most: 200 })
/** Lists show it in full. */
const TITLE = text({ most: 300 })
/** Reaches the model. */
const REASON = text({ most: 20_000 })
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
    "Answer with `settled: false` after this time; the work continues.",
  ),
}
/** Failures that work can end with. */
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
const HOW = described(
  DELIVERY,
  "steer joins the work at the next safe boundary, queue waits until it has settled.",
)
const SETTLED = objectOf({ settled: BOOLEAN, session: SESSION })

const RUN_PLACE = { spaceID: STRING, runID: STRING }
const RUN_FAILURES = ["SPACE_NOT_FOUND", "RUN_NOT_FOUND", "SPACE_DAMAGED"] as const
const GIT_FAILURES = ["GIT_MISSING", "GIT_TOO_OLD", "GIT_FAILED", "REPOSITORY_BUSY"] as const
const WORK_FAILURES = ["RUN_WITHOUT_WORKTREE", "RUN_ALREADY_APPLIED", "RUN_ALIVE", "WORKTREE_GONE"] as const

const pageOf = <T>(item: Shape<T>) => objectOf({ items: listOf(item) }, { next: STRING, previous: STRING })
const itemsOf = <T>(item: Shape<T>) => objectOf({ items: listOf(item) })

export const CONTRACT = {
  server: {
    health: {
      ...ADDRESSES.server.health,
      summary: "Says that the server answers.",
      input: objectOf({}),
      answer: objectOf({ healthy: BOOLEAN, version: STRING }),
      open: true,
    },
    models: {
      ...ADDRESSES.server.models,
      summary: "The models that sessions can use.",
      input: objectOf({}),
      answer: itemsOf(MODEL),
    },
    agents: {
      ...ADDRESSES.server.agents,
      summary: "The agents that sessions can use.",
      input: objectOf({}),
      answer: itemsOf(AGENT),
    },
    cluster: {
      ...ADDRESSES.server.cluster,
      summary:
        "The nodes that share the database, what they work on, and what waits. Takes as long as two signs of life.",
      input: objectOf({}),
      answer: CLUSTER,
      failures: ["DATABASE_NO_SERVER"],
    },
    directories: {
      ...ADDRESSES.server.directories,
      summary: "The folders in a directory on the server's machine, to choose one for a session.",
      input: objectOf(
        {},
        { path: described(text({ most: 4_096 }), "Absolute; the server's project by default.") },
      ),
      answer: DIRECTORY,
      failures: ["LOCATION_NOT_FOUND"],
    },
  },
  sessions: {
    create: {
      ...ADDRESSES.sessions.create,
      summary: "Creates a session, or returns the existing one with this id.",
      input: objectOf(
        { location: LOCATION },
        {
          id: NEW_ID,
          agent: NAME,
          model: NAME,
          title: TITLE,
          budget: described(CAPS, "What it may use up. Its agent and the engine may set lower caps."),
        },
      ),
      answer: SESSION,
      failures: ["LOCATION_NOT_FOUND", "MODEL_NOT_FOUND", "AGENT_NOT_FOUND", "AGENT_NOT_PRIMARY"],
    },
    list: {
      ...ADDRESSES.sessions.list,
      summary: "A page of the sessions.",
      input: objectOf({}, PAGE),
      answer: pageOf(SESSION),
      failures: ["INVALID_CURSOR"],
    },
    get: {
      ...ADDRESSES.sessions.get,
      summary: "One session.",
      input: objectOf(SESSION_ID),
      answer: SESSION,
      failures: NOT_FOUND,
    },
    fork: {
      ...ADDRESSES.sessions.fork,
      summary:
        "Creates a session with the same history. Asking again with the same id returns the first fork.",
      input: objectOf(SESSION_ID, {
        id: NEW_ID,
        at: described(
          anyOf(NAME, integer(1, 1_000_000_000)),
          "A message: the fork has the history up to and including it. Or the number of a prompt: with all of its work.",
        ),
        files: described(BOOLEAN, "Also restores the files of the place to that point."),
        overwrite: OVERWRITE,
      }),
      answer: SESSION,
      failures: [
        "SESSION_NOT_FOUND",
        "SESSION_EXISTS",
        "MESSAGE_NOT_FOUND",
        "MESSAGE_NOT_SETTLED",
        "PROMPT_NOT_FOUND",
        "SESSION_IN_USE",
        "FILES_CHANGED",
        "FILES_NOT_KEPT",
      ],
    },
    undo: {
      ...ADDRESSES.sessions.undo,
      summary: "Undoes the last prompts: their part of the conversation, and their file changes.",
      input: objectOf(SESSION_ID, UNDO_FIELDS),
      answer: UNDONE,
      failures: ["SESSION_NOT_FOUND", "SESSION_IN_USE", "NOTHING_TO_UNDO", "FILES_CHANGED", "FILES_NOT_KEPT"],
    },
    redo: {
      ...ADDRESSES.sessions.redo,
      summary: "Redoes the last undo. Not possible after another prompt.",
      input: objectOf(SESSION_ID, { overwrite: OVERWRITE }),
      answer: UNDONE,
      failures: ["SESSION_NOT_FOUND", "SESSION_IN_USE", "NOTHING_TO_REDO", "FILES_CHANGED", "FILES_NOT_KEPT"],
    },
    files: {
      ...ADDRESSES.sessions.files,
      summary: "The file changes of one prompt. Default: the last one.",
      input: objectOf(SESSION_ID, { at: AT_PROMPT, diff: DIFF_FORM }),
      answer: CHANGED_FILES,
      failures: ["SESSION_NOT_FOUND", "PROMPT_NOT_FOUND", "FILES_NOT_KEPT"],
      bulky: true,
    },
    prompt: {
      ...ADDRESSES.sessions.prompt,
      summary:
        "Admits an input durably and starts work. An exact retry with the same id gets the first receipt.",
      input: objectOf(
        { ...SESSION_ID, prompt: PROMPT },
        {
          id: NEW_ID,
          delivery: HOW,
          resume: described(BOOLEAN, "False only admits."),
          trace: described(STRING, "A `traceparent`. Default: the one in the request's headers."),
          expand: described(
            BOOLEAN,
            "Includes what the text names with @, and replaces a / command by its template. Default: true.",
          ),
          ...OVERRIDES_FIELDS,
        },
      ),
      answer: RECEIPT,
      failures: ["SESSION_NOT_FOUND", "LOCATION_NOT_FOUND", "PROMPT_CONFLICT", "INBOX_FULL"],
      large: true,
    },
    search: {
      ...ADDRESSES.sessions.search,
      summary: "The best matches for some words in the session, including what was compacted.",
      input: objectOf({ ...SESSION_ID, words: text({ least: 1, most: 1_000 }) }),
      answer: itemsOf(objectOf({ seq: COUNT, text: STRING })),
      failures: NOT_FOUND,
    },
    children: {
      ...ADDRESSES.sessions.children,
      summary: "The sessions that calls of this one began, oldest first.",
      input: objectOf(SESSION_ID),
      answer: itemsOf(SESSION),
      failures: NOT_FOUND,
    },
    synthetic: {
      ...ADDRESSES.sessions.synthetic,
      summary: "Adds a message that no person wrote and that says so. It starts no work.",
      input: objectOf({ ...SESSION_ID, text: text({ least: 1, most: 200_000 }) }, { id: NEW_ID }),
      answer: SESSION_MESSAGE,
      failures: ["SESSION_NOT_FOUND", "PROMPT_CONFLICT"],
      large: true,
    },
    commands: {
      ...ADDRESSES.sessions.commands,
      summary: "The commands that may be typed after a slash: of the project, of the user, built-in.",
      input: objectOf(SESSION_ID),
      answer: itemsOf(COMMAND),
      failures: ["SESSION_NOT_FOUND", "LOCATION_NOT_FOUND"],
    },
    run: {
      ...ADDRESSES.sessions.run,
      summary:
        "Makes at least one provider attempt and answers when the session has settled, or with its failure.",
      input: objectOf(SESSION_ID, WAIT),
      answer: SETTLED,
      failures: WORK,
    },
    wait: {
      ...ADDRESSES.sessions.wait,
      summary: "Answers when the session has settled. Fails if the work fails.",
      input: objectOf(SESSION_ID, WAIT),
      answer: SETTLED,
      failures: WORK,
    },
    wake: {
      ...ADDRESSES.sessions.wake,
      summary: "Says that there may be work.",
      input: objectOf(SESSION_ID),
      failures: NOT_FOUND,
    },
    interrupt: {
      ...ADDRESSES.sessions.interrupt,
      summary: "Stops the current work and answers when it has settled. Without work it does nothing.",
      input: objectOf(SESSION_ID),
    },
    compact: {
      ...ADDRESSES.sessions.compact,
      summary: "Compacts at the next safe boundary. Without a receipt there was nothing to compact.",
      input: objectOf(SESSION_ID),
      answer: objectOf({}, { receipt: COMPACTION_RECEIPT }),
      failures: WORK,
    },
    rename: {
      ...ADDRESSES.sessions.rename,
      summary: "Changes the title of the session.",
      input: objectOf({ ...SESSION_ID, title: TITLE }),
      failures: NOT_FOUND,
    },
    archive: {
      ...ADDRESSES.sessions.archive,
      summary: "Archives the session or brings it back. Work is possible either way.",
      input: objectOf({ ...SESSION_ID, archived: BOOLEAN }),
      failures: NOT_FOUND,
    },
    delete: {
      ...ADDRESSES.sessions.delete,
      summary: "Deletes the session permanently, with its whole log. Refused while a process works on it.",
      input: objectOf(SESSION_ID),
      failures: ["SESSION_NOT_FOUND", "SESSION_IN_USE"],
    },
    budget: {
      ...ADDRESSES.sessions.budget,
      summary: "What the session has used up, and what it may.",
      input: objectOf(SESSION_ID),
      answer: SESSION_BUDGET,
      failures: NOT_FOUND,
    },
    setBudget: {
      ...ADDRESSES.sessions.setBudget,
      summary:
        "Sets what the session may use up. A cap that is not named stays. A session that waited because of its budget continues.",
      input: objectOf(SESSION_ID, CAP_FIELDS),
      answer: SESSION_BUDGET,
      failures: ["SESSION_NOT_FOUND", "CAP_BELOW_SPENT"],
    },
    move: {
      ...ADDRESSES.sessions.move,
      summary: "Moves the session to another directory.",
      input: objectOf({ ...SESSION_ID, location: LOCATION }),
      failures: ["SESSION_NOT_FOUND", "LOCATION_NOT_FOUND"],
    },
    switchAgent: {
      ...ADDRESSES.sessions.switchAgent,
      summary: "Switches the agent from the next turn on.",
      input: objectOf({ ...SESSION_ID, agent: NAME }),
      failures: ["SESSION_NOT_FOUND", "AGENT_NOT_FOUND", "AGENT_NOT_PRIMARY"],
    },
    switchModel: {
      ...ADDRESSES.sessions.switchModel,
      summary: "Switches the model from the next turn on.",
      input: objectOf({ ...SESSION_ID, model: NAME }),
      failures: ["SESSION_NOT_FOUND", "MODEL_NOT_FOUND"],
    },
    messages: {
      ...ADDRESSES.sessions.messages,
      summary: "A page of the visible messages.",
      input: objectOf(SESSION_ID, PAGE),
      answer: pageOf(SESSION_MESSAGE),
      bulky: true,
      failures: ["SESSION_NOT_FOUND", "INVALID_CURSOR"],
    },
    message: {
      ...ADDRESSES.sessions.message,
      summary: "One visible message.",
      input: objectOf({ ...SESSION_ID, messageID: STRING }),
      answer: SESSION_MESSAGE,
      bulky: true,
      failures: ["SESSION_NOT_FOUND", "MESSAGE_NOT_FOUND"],
    },
    inputs: {
      ...ADDRESSES.sessions.inputs,
      summary: "A page of the waiting inputs, oldest first.",
      input: objectOf(SESSION_ID, {
        after: described(COUNT, "Only inputs admitted after this sequence: `next` of the previous page."),
        limit: integer(1, 200),
      }),
      answer: objectOf(
        { items: listOf(RECEIPT) },
        { next: described(COUNT, "Set when there are more: pass it as `after`.") },
      ),
      bulky: true,
      failures: NOT_FOUND,
    },
    cancel: {
      ...ADDRESSES.sessions.cancel,
      summary: "Cancels an input that still waits.",
      input: objectOf({ ...SESSION_ID, inputID: STRING }),
      answer: RECEIPT,
      failures: ["SESSION_NOT_FOUND", "INPUT_NOT_FOUND"],
    },
    receipts: {
      ...ADDRESSES.sessions.receipts,
      summary: "What each compaction kept and dropped, oldest first.",
      input: objectOf(SESSION_ID),
      answer: itemsOf(COMPACTION_RECEIPT),
      failures: NOT_FOUND,
    },
    stays: {
      ...ADDRESSES.sessions.stays,
      summary:
        "Each time a node took the session, oldest first; empty when machines do not share the database.",
      input: objectOf(SESSION_ID),
      answer: itemsOf(STAY),
      failures: NOT_FOUND,
    },
    restore: {
      ...ADDRESSES.sessions.restore,
      summary: "Returns to an older checkpoint, or without an id to the whole history.",
      input: objectOf(SESSION_ID, { compactionID: NAME }),
      failures: ["SESSION_NOT_FOUND", "CHECKPOINT_NOT_FOUND"],
    },
    permissions: {
      ...ADDRESSES.sessions.permissions,
      summary: "The open permission requests of one session.",
      input: objectOf(SESSION_ID),
      answer: itemsOf(PERMISSION_REQUEST),
      failures: NOT_FOUND,
    },
    questions: {
      ...ADDRESSES.sessions.questions,
      summary: "The open questions of one session, without permission requests.",
      input: objectOf(SESSION_ID),
      answer: itemsOf(QUESTION),
      failures: NOT_FOUND,
    },
  },
  questions: {
    list: {
      ...ADDRESSES.questions.list,
      summary: "The open questions of all sessions, without permission requests.",
      input: objectOf({}),
      answer: itemsOf(QUESTION),
    },
    reply: {
      ...ADDRESSES.questions.reply,
      summary:
        "Answers a question with the label of a choice, with free text where allowed, or with several.",
      input: objectOf({ requestID: STRING, answer: anyOf(REASON, listOf(REASON, 50)) }),
      failures: ["QUESTION_NOT_FOUND", "CAP_BELOW_SPENT"],
    },
  },
  permissions: {
    list: {
      ...ADDRESSES.permissions.list,
      summary: "The open permission requests of all sessions.",
      input: objectOf({}),
      answer: itemsOf(PERMISSION_REQUEST),
    },
    reply: {
      ...ADDRESSES.permissions.reply,
      summary: "Answers a permission request. The message of a rejection reaches the model.",
      input: objectOf({ requestID: STRING, reply: PERMISSION_REPLY }, { message: REASON }),
      failures: ["REQUEST_NOT_FOUND"],
    },
    saved: {
      ...ADDRESSES.permissions.saved,
      summary: "What was allowed permanently, in all projects.",
      input: objectOf({}),
      answer: itemsOf(SAVED_PERMISSION),
    },
    revoke: {
      ...ADDRESSES.permissions.revoke,
      summary: "Revokes a saved approval: from now on it is asked again.",
      input: objectOf({ id: STRING }),
      failures: ["APPROVAL_NOT_FOUND"],
    },
  },
  spaces: {
    list: {
      ...ADDRESSES.spaces.list,
      summary: "The spaces, last used first.",
      input: objectOf({}, { limit: integer(1, 200) }),
      answer: itemsOf(SPACE_ROW),
    },
    get: {
      ...ADDRESSES.spaces.get,
      summary: "A space with its chats and the ids of its runs.",
      input: objectOf({ spaceID: STRING }),
      answer: SPACE,
      failures: ["SPACE_NOT_FOUND", "SPACE_DAMAGED"],
    },
    chats: {
      ...ADDRESSES.spaces.chats,
      summary: "The chats of a space.",
      input: objectOf({ spaceID: STRING }),
      answer: itemsOf(CHAT),
      failures: ["SPACE_NOT_FOUND", "SPACE_DAMAGED"],
    },
    compactions: {
      ...ADDRESSES.spaces.compactions,
      summary: "What each compaction of a chat in a host kept and lost, and what was put back, oldest first.",
      input: objectOf({ spaceID: STRING, chatID: STRING }),
      answer: itemsOf(HOST_COMPACTION),
      failures: ["SPACE_NOT_FOUND", "CHAT_NOT_FOUND", "SPACE_DAMAGED"],
    },
    runs: {
      ...ADDRESSES.spaces.runs,
      summary: "The runs of a space, newest first.",
      input: objectOf({ spaceID: STRING }, { limit: integer(1, 1000), status: RUN_STATUS }),
      answer: itemsOf(RUN_ROW),
      failures: ["SPACE_NOT_FOUND", "SPACE_DAMAGED"],
    },
    run: {
      ...ADDRESSES.spaces.run,
      summary: "One run, with its whole report on request.",
      input: objectOf({ spaceID: STRING, runID: STRING }, { report: BOOLEAN }),
      answer: RUN,
      failures: ["SPACE_NOT_FOUND", "RUN_NOT_FOUND", "SPACE_DAMAGED"],
    },
    diff: {
      ...ADDRESSES.spaces.diff,
      summary: "What a run changed, by file and hunk; `isCut` when there is more than is shown.",
      input: objectOf(RUN_PLACE),
      answer: RUN_DIFF,
      bulky: true,
      failures: [...RUN_FAILURES, ...GIT_FAILURES, "RUN_WITHOUT_DIFF"],
    },
    apply: {
      ...ADDRESSES.spaces.apply,
      summary:
        "Applies the work of a run to the checkout it was spawned from, once its checks pass there. A failure changes nothing.",
      input: objectOf(RUN_PLACE, {
        noCommit: described(BOOLEAN, "Leave the changes staged."),
        force: described(BOOLEAN, "Apply a run even if its checks are red; no check runs."),
      }),
      answer: RUN_APPLIED,
      failures: [
        ...RUN_FAILURES,
        ...GIT_FAILURES,
        ...WORK_FAILURES,
        "CHECKOUT_LOCKED",
        "CHECKOUT_IN_THE_WAY",
        "CHECKOUT_GONE",
        "APPLY_CONFLICT",
        "APPLY_BRANCH_MOVES",
        "APPLY_ELSEWHERE",
        "RUN_REFUTED",
        "CHECKS_RED",
        "CHECKS_UNKNOWN",
        "INTERRUPTED",
      ],
    },
    discard: {
      ...ADDRESSES.spaces.discard,
      summary: "Discards the work of a run. It stays reachable under the ref in the answer.",
      input: objectOf(RUN_PLACE),
      answer: RUN_DISCARDED,
      failures: [...RUN_FAILURES, ...GIT_FAILURES, ...WORK_FAILURES],
    },
    send: {
      ...ADDRESSES.spaces.send,
      summary:
        "Sends text to a run that has not ended. It is the next message after the agent's turn. `at`: the line it is about.",
      input: objectOf({ ...RUN_PLACE, text: REASON }, { at: DIFF_LINE }),
      answer: RUN_TOLD,
      failures: [...RUN_FAILURES, "RUN_ENDED", "PROMPT_REQUIRED"],
    },
    resume: {
      ...ADDRESSES.spaces.resume,
      summary:
        "Continues a run that is paused or waits. If its budget is used up it needs a higher cap, for its total spending.",
      input: objectOf(RUN_PLACE, CAP_FIELDS),
      answer: RUN_RESUMED,
      failures: [
        ...RUN_FAILURES,
        "RUN_ENDED",
        "RUN_NOT_RESUMABLE",
        "BUDGET_SPENT",
        "CAP_BELOW_SPENT",
        "CAP_NOT_YOURS",
      ],
    },
    continue: {
      ...ADDRESSES.spaces.continue,
      summary:
        "Continues the conversation of an ended run in a new run at the same place. Answers once that has begun.",
      input: objectOf({ ...RUN_PLACE, text: REASON }, { at: DIFF_LINE }),
      answer: RUN_CONTINUED,
      failures: [
        ...RUN_FAILURES,
        "PROMPT_REQUIRED",
        "RUN_ALIVE",
        "RUN_WITHOUT_SESSION",
        "SPACE_CLOSED",
        "WORKTREE_GONE",
        "HARNESS_NOT_INSTALLED",
        "HARNESS_NOT_STARTED",
        "MODEL_NOT_USABLE",
        "DIRECTORY_NOT_FOUND",
        "BACKGROUND_LAUNCH_FAILED",
      ],
    },
  },
} as const satisfies {
  readonly [Group in keyof typeof ADDRESSES]: {
    readonly [Name in keyof (typeof ADDRESSES)[Group]]: Route
  }
}

export type Contract = typeof CONTRACT

/**
 * Durable events as server-sent events. Each has its sequence as `id`, no event name, and `{seq, time, type, data}` as
 * data. Named frames carry no id and move no cursor: `synced` where the replay ended, `live` for a fragment of the model's
 * output, `dropped` for fragments that a slow reader missed, `closed` with the reason when the server ends the stream.
 */
export const EVENTS = {
  ...EVENTS_ADDRESS,
  summary: "The durable events after a cursor, then new ones, as server-sent events.",
  input: objectOf(SESSION_ID, {
    after: described(COUNT, "Only events after this sequence. `Last-Event-ID` takes precedence."),
    live: described(BOOLEAN, "Includes fragments of the model's output while it writes."),
    follow: described(BOOLEAN, "False: ends where the replay ends. Default: true."),
  }),
  failures: ["SESSION_NOT_FOUND", "INVALID_CURSOR", "STREAMS_FULL"],
} as const satisfies Route

/**
 * Which sessions changed, as server-sent events without ids: a first `changed` frame at once, then one whenever sessions
 * have new events, with `{ sessions, elsewhere }`. `elsewhere` means that another process wrote, so any session may have
 * changed.
 */
export const CHANGES = {
  ...CHANGES_ADDRESS,
  summary: "Which sessions changed, as server-sent events, for lists that are kept current.",
  input: objectOf({}),
  failures: ["STREAMS_FULL"],
} as const satisfies Route

/**
 * Live fragments of the model's output in this process, as server-sent events. Other nodes of a cluster ask for them with
 * the cluster's token.
 */
export const LIVE = {
  ...LIVE_ADDRESS,
  summary: "Fragments of the model's output from this process alone, as server-sent events; for other nodes.",
  input: objectOf(SESSION_ID),
  failures: ["SESSION_NOT_FOUND", "STREAMS_FULL"],
  peer: true,
} as const satisfies Route

export type EventsInput = TypeOf<typeof EVENTS.input>
