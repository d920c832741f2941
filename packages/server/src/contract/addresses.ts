/**
 * The address of each route. Separate from the contract, because a client needs only this at run time, so the page does not
 * load the shapes. Both tables use the same names; the compiler compares them.
 */

/** `:name` in a path matches one segment. */
export interface Address {
  readonly method: "GET" | "POST" | "DELETE"
  readonly path: string
}

export const ADDRESSES = {
  server: {
    health: { method: "GET", path: "/api/health" },
    models: { method: "GET", path: "/api/model" },
    agents: { method: "GET", path: "/api/agent" },
    cluster: { method: "GET", path: "/api/cluster" },
    directories: { method: "GET", path: "/api/directory" },
  },
  sessions: {
    create: { method: "POST", path: "/api/session" },
    list: { method: "GET", path: "/api/session" },
    get: { method: "GET", path: "/api/session/:sessionID" },
    fork: { method: "POST", path: "/api/session/:sessionID/fork" },
    undo: { method: "POST", path: "/api/session/:sessionID/undo" },
    redo: { method: "POST", path: "/api/session/:sessionID/redo" },
    files: { method: "GET", path: "/api/session/:sessionID/file" },
    prompt: { method: "POST", path: "/api/session/:sessionID/prompt" },
    search: { method: "GET", path: "/api/session/:sessionID/search" },
    children: { method: "GET", path: "/api/session/:sessionID/children" },
    synthetic: { method: "POST", path: "/api/session/:sessionID/synthetic" },
    commands: { method: "GET", path: "/api/session/:sessionID/commands" },
    run: { method: "POST", path: "/api/session/:sessionID/run" },
    wait: { method: "POST", path: "/api/session/:sessionID/wait" },
    wake: { method: "POST", path: "/api/session/:sessionID/wake" },
    interrupt: { method: "POST", path: "/api/session/:sessionID/interrupt" },
    compact: { method: "POST", path: "/api/session/:sessionID/compact" },
    rename: { method: "POST", path: "/api/session/:sessionID/title" },
    archive: { method: "POST", path: "/api/session/:sessionID/archive" },
    delete: { method: "DELETE", path: "/api/session/:sessionID" },
    budget: { method: "GET", path: "/api/session/:sessionID/budget" },
    setBudget: { method: "POST", path: "/api/session/:sessionID/budget" },
    move: { method: "POST", path: "/api/session/:sessionID/move" },
    switchAgent: { method: "POST", path: "/api/session/:sessionID/agent" },
    switchModel: { method: "POST", path: "/api/session/:sessionID/model" },
    messages: { method: "GET", path: "/api/session/:sessionID/message" },
    message: { method: "GET", path: "/api/session/:sessionID/message/:messageID" },
    inputs: { method: "GET", path: "/api/session/:sessionID/input" },
    cancel: { method: "DELETE", path: "/api/session/:sessionID/input/:inputID" },
    receipts: { method: "GET", path: "/api/session/:sessionID/receipt" },
    stays: { method: "GET", path: "/api/session/:sessionID/stay" },
    restore: { method: "POST", path: "/api/session/:sessionID/restore" },
    permissions: { method: "GET", path: "/api/session/:sessionID/permission" },
    questions: { method: "GET", path: "/api/session/:sessionID/question" },
  },
  permissions: {
    list: { method: "GET", path: "/api/permission" },
    reply: { method: "POST", path: "/api/permission/:requestID/reply" },
    saved: { method: "GET", path: "/api/approval" },
    revoke: { method: "DELETE", path: "/api/approval/:id" },
  },
  questions: {
    list: { method: "GET", path: "/api/question" },
    reply: { method: "POST", path: "/api/question/:requestID/reply" },
  },
  spaces: {
    list: { method: "GET", path: "/api/space" },
    get: { method: "GET", path: "/api/space/:spaceID" },
    chats: { method: "GET", path: "/api/space/:spaceID/chat" },
    compactions: { method: "GET", path: "/api/space/:spaceID/chat/:chatID/compaction" },
    runs: { method: "GET", path: "/api/space/:spaceID/run" },
    run: { method: "GET", path: "/api/space/:spaceID/run/:runID" },
    diff: { method: "GET", path: "/api/space/:spaceID/run/:runID/diff" },
    apply: { method: "POST", path: "/api/space/:spaceID/run/:runID/apply" },
    discard: { method: "POST", path: "/api/space/:spaceID/run/:runID/discard" },
    send: { method: "POST", path: "/api/space/:spaceID/run/:runID/send" },
    resume: { method: "POST", path: "/api/space/:spaceID/run/:runID/resume" },
    continue: { method: "POST", path: "/api/space/:spaceID/run/:runID/continue" },
  },
} as const satisfies Record<string, Record<string, Address>>

/** The streams of server-sent events, which have no JSON answer. */
export const EVENTS_ADDRESS = {
  method: "GET",
  path: "/api/session/:sessionID/event",
} as const satisfies Address
export const LIVE_ADDRESS = {
  method: "GET",
  path: "/api/session/:sessionID/live",
} as const satisfies Address
export const CHANGES_ADDRESS = { method: "GET", path: "/api/event" } as const satisfies Address
