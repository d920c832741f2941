import type { FailureEntry } from "./entry.ts"

/** Failures of the session engine. */
export const ENGINE_FAILURES = {
  INVALID_INPUT: {
    exit: 2,
    http: 400,
    cause: (f) => `${f["what"]}.`,
    next: () => "correct the request and send it again.",
  },
  INVALID_CURSOR: {
    exit: 2,
    http: 400,
    cause: () => "The cursor does not belong to this list.",
    next: () => "start again without a cursor.",
  },
  ENGINE_DATABASE_NOT_FOUND: {
    exit: 1,
    http: 404,
    cause: (f) => `There is no engine database at ${f["file"]}.`,
    next: () => "name another with --database, or start a session first.",
  },
  SESSION_NOT_FOUND: {
    exit: 1,
    http: 404,
    cause: (f) => `Session ${f["session"]} does not exist.`,
    next: () => "create it first, or list the existing sessions.",
  },
  INPUT_NOT_FOUND: {
    exit: 1,
    http: 404,
    cause: (f) => `Session ${f["session"]} has no pending input ${f["input"]}.`,
    next: () => "list the pending inputs; a promoted one can only be interrupted.",
  },
  REQUEST_NOT_FOUND: {
    exit: 1,
    http: 404,
    cause: (f) => `There is no open permission request ${f["request"]}.`,
    next: () => "list the open requests; an answered one cannot be answered again.",
  },
  QUESTION_NOT_FOUND: {
    exit: 1,
    http: 404,
    cause: (f) => `There is no open question ${f["question"]}.`,
    next: () => "list the open questions; an answered one cannot be answered again.",
  },
  CAP_BELOW_SPENT: {
    exit: 2,
    http: 409,
    cause: (f) => `A cap of ${f["cap"]} is not above what is already used up: ${f["spent"]}.`,
    next: () => "give a higher one.",
  },
  APPROVAL_NOT_FOUND: {
    exit: 1,
    http: 404,
    cause: (f) => `There is no saved approval ${f["approval"]}.`,
    next: () => "list the saved ones ('meridian permissions list'); it may have been revoked already.",
  },
  MODEL_NOT_FOUND: {
    exit: 1,
    http: 404,
    cause: (f) => `Model ${f["model"]} is not configured.`,
    next: (f) => `use one of: ${few(String(f["known"]))}.`,
  },
  MCP_UNAVAILABLE: {
    exit: 1,
    http: 503,
    cause: (f) => `The MCP server ${f["server"]} does not work: ${f["problem"]}`,
    next: () => "nothing; the work continues without its tools, and Meridian tries again later.",
  },
  EXTENSION_FAILED: {
    exit: 1,
    http: 500,
    cause: (f) => `The extension ${f["extension"]} failed in ${f["hook"]}: ${f["problem"]}`,
    next: () => "nothing; the work continues without its answer.",
  },
  AGENT_NOT_PRIMARY: {
    exit: 2,
    http: 409,
    cause: (f) => `Agent ${f["agent"]} works for other agents only (mode "sub").`,
    next: (f) => `use one of: ${few(String(f["known"]))}.`,
  },
  LOCATION_NOT_FOUND: {
    exit: 1,
    http: 404,
    cause: (f) => `The directory ${f["directory"]} does not exist or cannot be entered.`,
    next: () => "create it, or move the session to a directory that exists.",
  },
  WORKSPACE_LEFT: {
    exit: 2,
    http: 409,
    cause: (f) =>
      `${f["directory"]} is not inside the workspace ${f["workspace"]}, which is ${f["root"]} here.`,
    next: () => "name a directory inside it, or another workspace.",
  },
  SESSION_EXISTS: {
    exit: 1,
    http: 409,
    cause: (f) => `Session ${f["session"]} already exists and differs from this one.`,
    next: () => "use another id, or none.",
  },
  IMPORT_CHANGED: {
    exit: 1,
    http: 409,
    cause: (f) => `Session ${f["session"]} was imported from an earlier state of this conversation.`,
    next: () => "continue that session, or import this state under another id (--session).",
  },
  IMPORT_UNREADABLE: {
    exit: 1,
    http: 400,
    cause: (f) => `${f["file"]} cannot be read: ${f["why"]}.`,
    next: () => "give the path of the session file itself.",
  },
  IMPORT_FORMAT_UNKNOWN: {
    exit: 1,
    http: 400,
    cause: (f) =>
      `${f["file"]} is not a session that can be imported${f["why"] === undefined ? "" : `: ${f["why"]}`}.`,
    next: () =>
      "name the JSONL of a Claude Code session, a Codex rollout, the JSON of 'opencode export' or a session of pi.",
  },
  IMPORT_EMPTY: {
    exit: 1,
    http: 400,
    cause: (f) => `${f["file"]} holds no conversation.`,
    next: () => "name a session in which something was said.",
  },
  IMPORT_TOO_LARGE: {
    exit: 1,
    http: 413,
    cause: (f) => `The conversation is too large to import: ${f["what"]}.`,
    next: () => "import a part of it, for instance the file without its oldest lines.",
  },
  CHECKPOINT_NOT_FOUND: {
    exit: 1,
    http: 404,
    cause: (f) => `There is no completed compaction ${f["checkpoint"]} in this session.`,
    next: () => "list the compactions and take the id of one that ended.",
  },
  PROMPT_CONFLICT: {
    exit: 1,
    http: 409,
    cause: (f) => `Message id ${f["input"]} was already used with another ${f["field"]}.`,
    next: () => "send the same content to retry, or use a new id.",
  },
  INBOX_FULL: {
    exit: 1,
    http: 429,
    cause: (f) => `Session ${f["session"]} already has ${f["limit"]} pending inputs.`,
    next: () => "wait until some are promoted, or cancel some.",
  },
  TURN_LIMIT: {
    exit: 1,
    http: 409,
    cause: (f) =>
      `Session ${f["session"]} made ${f["limit"]} provider turns in one activity and is not done.`,
    next: () => "look at what it did, then run it again to continue.",
  },
  OUTPUT_INVALID: {
    exit: 1,
    http: 422,
    cause: (f) => `The model gave no answer in the requested form: ${f["problem"]}`,
    next: () => "look at what it answered, then ask again with a simpler schema or another model.",
  },
  MODEL_FAILED: {
    exit: 1,
    http: 502,
    cause: (f) => `The model failed (${f["kind"]}): ${f["message"]}`,
    next: () => "fix the cause if it is on your side, then run the session again.",
  },
  CONTEXT_UNAVAILABLE: {
    exit: 1,
    http: 503,
    cause: (f) => `The first context of session ${f["session"]} is unavailable: ${f["keys"]}.`,
    next: () => "make the source available; the prompt is kept and retried.",
  },
  FENCED: {
    exit: 1,
    http: 409,
    cause: (f) => `Another process took over session ${f["session"]}; this one can no longer write to it.`,
    next: () => "follow the session there, or wait until it is idle.",
  },
  ENGINE_CLOSED: {
    exit: 1,
    http: 503,
    cause: () => "The engine is closed.",
    next: () => "open it again.",
  },
  DATABASE_NEWER: {
    exit: 1,
    http: 500,
    cause: (f) =>
      `The database ${f["file"]} has schema version ${f["found"]}; this Meridian reads up to ${f["known"]}. Nothing was changed.`,
    next: () => "use the newer Meridian that wrote it.",
  },
  DATABASE_DAMAGED: {
    exit: 1,
    http: 500,
    cause: (f) => `The database ${f["file"]} cannot be read: ${f["why"]}. Nothing was changed.`,
    next: () =>
      "restore it from a copy, save what can be read with 'meridian doctor --salvage FILE', or move it away to start with an empty one.",
  },
  DATABASE_UNWRITABLE: {
    exit: 1,
    http: 500,
    cause: (f) =>
      `The database ${f["file"]} cannot be written: ${f["why"]}. Nothing of this request was stored.`,
    next: () => "make room or repair the permissions, then send it again.",
  },
  DATABASE_MOVED: {
    exit: 1,
    http: 500,
    cause: (f) =>
      `The file ${f["file"]} was ${f["what"]} while Meridian had it open. Nothing of this request was acknowledged.`,
    next: () =>
      "put the file back if it was moved; otherwise restart Meridian and resend everything that got no receipt.",
  },
  DATABASE_BUSY: {
    exit: 1,
    http: 503,
    cause: (f) => `The database ${f["file"]} was locked by another program for too long.`,
    next: () => "end the program that holds it, or try again.",
  },
  DATABASE_ADDRESS: {
    exit: 2,
    http: 400,
    cause: (f) => `The database address ${f["address"]} cannot be used: ${f["why"]}.`,
    next: () => "name a file, or a server as postgres://user@host/database.",
  },
  DATABASE_PASSWORD: {
    exit: 2,
    http: 400,
    cause: () => "A password in an argument can be read by every program on this machine.",
    next: () => "leave it out of --database; put it into MERIDIAN_DATABASE, PGPASSWORD or a passfile.",
  },
  SAME_DATABASE: {
    exit: 2,
    http: 400,
    cause: (f) => `Both names lead to the same database, ${f["database"]}. Nothing was changed.`,
    next: () => "name a different one with --to or --from.",
  },
  DATABASE_NO_SERVER: {
    exit: 2,
    http: 400,
    cause: () => "No database server is named.",
    next: () => "name one with --database postgres://user@host/database, or in MERIDIAN_DATABASE.",
  },
  DATABASE_UNREACHABLE: {
    exit: 1,
    http: 503,
    cause: (f) =>
      `The database ${f["database"]} did not answer: ${f["why"]}. It may or may not have stored this.`,
    next: () => "try again with the same id; nothing is stored twice.",
  },
  DATABASE_REFUSED: {
    exit: 1,
    http: 500,
    cause: (f) => `The database ${f["database"]} refused access: ${f["why"]}.`,
    next: () => "check the user, the password (PGPASSWORD or a passfile) and the name of the database.",
  },
  DATABASE_OLD: {
    exit: 1,
    http: 500,
    cause: (f) =>
      `The database ${f["database"]} has schema version ${f["found"]}; this Meridian needs ${f["known"]}. Nothing was changed.`,
    next: () => "run meridian database migrate once, when every node may be updated.",
  },
  DATABASE_STANDBY: {
    exit: 1,
    http: 503,
    cause: (f) => `The database ${f["database"]} is a standby: it can be read but not written.`,
    next: () => "also name the server that can be written, as postgres://db1,db2/…, or promote this one.",
  },
  DATABASE_TLS: {
    exit: 1,
    http: 500,
    cause: (f) => `There is no safe connection to the database ${f["database"]}: ${f["why"]}.`,
    next: () =>
      "turn on ssl on the server with a certificate this machine trusts (NODE_EXTRA_CA_CERTS), or say what is enough: sslmode=require, sslmode=disable.",
  },
  DATABASE_POOLED: {
    exit: 1,
    http: 500,
    cause: (f) =>
      `A pooler in transaction mode is in front of the database ${f["database"]}: it would hide this node from the others.`,
    next: () => "use the address of the server itself, or switch the pooler to session mode.",
  },
  DATABASE_TOO_OLD: {
    exit: 1,
    http: 500,
    cause: (f) => `The server of ${f["database"]} is Postgres ${f["found"]}; Meridian needs 14 or newer.`,
    next: () => "upgrade the server.",
  },
  CLUSTER_TOKEN: {
    exit: 2,
    http: 500,
    cause: (f) => `The nodes on ${f["database"]} have a different cluster token from this one.`,
    next: () =>
      "set the same MERIDIAN_CLUSTER_TOKEN on every node, or on none; use ?schema=NAME for a second cluster.",
  },
  NO_WORKER: {
    exit: 1,
    http: 503,
    cause: (f) => `No node can work on session ${f["session"]} now.`,
    next: () =>
      "start a node that works ('meridian serve --http' without --no-work), or look at 'meridian cluster'.",
  },
  DATABASE_WENT_BACK: {
    exit: 1,
    http: 500,
    cause: (f) => `The database ${f["database"]} has lost history: ${f["why"]}.`,
    next: () =>
      "check whether a standby that lagged behind has taken over; acknowledged work is missing there.",
  },
} as const satisfies Record<string, FailureEntry>

/** A catalogue may have hundreds of models; a sentence may not. */
const few = (names: string): string => {
  const all = names.split(", ")
  return all.length <= SHOWN ? names : `${all.slice(0, SHOWN).join(", ")} and ${all.length - SHOWN} more`
}

const SHOWN = 12
