/** The documents of the engine's sessions over HTTP. The shapes of events, messages and receipts are in protocol. */
import {
  ANY_OBJECT,
  BOOLEAN,
  CAPS,
  COUNT,
  described,
  listOf,
  named,
  NUMBER,
  objectOf,
  oneOf,
  QUESTION_CHOICE,
  QUESTION_KIND,
  RECORDED_USAGE,
  STRING,
  text,
  TIME,
  type TypeOf,
} from "@meridian/protocol"

/** Where a session works, as a caller gives it. */
export const LOCATION = objectOf(
  {
    directory: described(
      text({ most: 4_096 }),
      "An absolute path, or a path inside the named workspace. There is no default.",
    ),
  },
  {
    workspace: described(
      text({ most: 200 }),
      "A place that several nodes have. Default: `shared`, the same path everywhere.",
    ),
    workspaceID: described(text({ most: 200 }), "The same as `workspace`, in a request."),
  },
)

const SESSION_STATUS = oneOf("idle", "running", "waiting", "interrupted", "failed")
export type SessionStatus = TypeOf<typeof SESSION_STATUS>

export const SESSION = named(
  "Session",
  objectOf(
    {
      id: STRING,
      location: LOCATION,
      agent: STRING,
      seq: described(COUNT, "Sequence of the last event."),
      status: SESSION_STATUS,
      usage: RECORDED_USAGE,
      cost: NUMBER,
      time: objectOf({ created: TIME, updated: TIME }),
    },
    {
      model: STRING,
      title: STRING,
      parent: described(
        objectOf({ sessionID: STRING, messageID: STRING, callID: STRING, depth: COUNT }),
        "Set when it works for another session: the call that began it.",
      ),
      archived: described(BOOLEAN, "Archived: lists for people leave it out."),
      waitingFor: described(
        oneOf("permission", "question", "limit", "budget", "worker"),
        'With status "waiting": an answer (a permission, a question, a budget), the end of a provider\'s limit, or a node.',
      ),
      reason: described(STRING, "Why no node can work on it."),
      until: described(TIME, "When the session continues on its own."),
      node: described(STRING, "The node that works on it or last did, when machines share a database."),
    },
  ),
)
/** A period of a session on one node. */
export const STAY = objectOf({
  node: STRING,
  seq: described(COUNT, "The last event at that time. Later events happened on this node."),
  time: TIME,
})

export type SessionStay = TypeOf<typeof STAY>

/** What `meridian cluster` shows. */
export const CLUSTER = objectOf({
  nodes: listOf(
    objectOf(
      {
        id: STRING,
        host: STRING,
        alive: described(BOOLEAN, "Its sign of life advanced while the server watched."),
        beat: COUNT,
        leaves: BOOLEAN,
        places: COUNT,
        working: COUNT,
        workspaces: listOf(STRING),
        format: COUNT,
      },
      { address: STRING },
    ),
  ),
  sessions: COUNT,
  working: COUNT,
  waiting: described(
    listOf(objectOf({ id: STRING, workspace: STRING }, { reason: STRING })),
    "The first of the sessions whose work no node has taken up.",
  ),
})

export const SESSION_BUDGET = named(
  "SessionBudget",
  objectOf({
    spent: objectOf({ cost: NUMBER, tokens: NUMBER, turns: COUNT, timeMs: NUMBER }),
    caps: CAPS,
  }),
)

export type SessionDocument = TypeOf<typeof SESSION>

export const PERMISSION_REQUEST = named(
  "PermissionRequest",
  objectOf({
    id: STRING,
    sessionID: STRING,
    messageID: STRING,
    callID: STRING,
    action: STRING,
    /** The first of `resources`; most questions have one. */
    resource: STRING,
    resources: listOf(STRING),
    title: STRING,
    time: TIME,
  }),
)
export const QUESTION = named(
  "Question",
  objectOf(
    {
      id: STRING,
      sessionID: STRING,
      kind: described(
        QUESTION_KIND,
        "tool: a call asks. The engine asks the others, and the session waits for the answer.",
      ),
      text: STRING,
      choices: listOf(QUESTION_CHOICE),
      other: described(BOOLEAN, "Free text is accepted as an answer too."),
      multiple: described(BOOLEAN, "More than one choice may be taken."),
      time: TIME,
    },
    { messageID: STRING, callID: STRING, detail: ANY_OBJECT },
  ),
)
export type OpenQuestionDocument = TypeOf<typeof QUESTION>

export const SAVED_PERMISSION = named(
  "SavedPermission",
  objectOf({
    id: STRING,
    /** The directory of the sessions it applies to. */
    project: STRING,
    action: STRING,
    /** A pattern, as in rules. */
    resource: STRING,
    sessionID: STRING,
    time: TIME,
  }),
)

export type SavedPermissionDocument = TypeOf<typeof SAVED_PERMISSION>
export type PermissionRequestDocument = TypeOf<typeof PERMISSION_REQUEST>

export const MODEL = named(
  "Model",
  objectOf({ id: STRING, provider: STRING, contextWindow: COUNT, maxOutput: COUNT, isDefault: BOOLEAN }),
)
export type ModelDocument = TypeOf<typeof MODEL>

export const AGENT = named("Agent", objectOf({ name: STRING }, { description: STRING, model: STRING }))
export type AgentDocument = TypeOf<typeof AGENT>

export const COMMAND = named(
  "Command",
  objectOf({
    name: STRING,
    path: described(
      STRING,
      "The path of its template, relative to the session's directory; empty for a built-in one.",
    ),
    description: STRING,
  }),
)

export const DIRECTORY = named(
  "Directory",
  objectOf(
    {
      path: STRING,
      names: described(listOf(STRING), "Its folders by name, hidden ones last."),
      isCut: described(BOOLEAN, "Whether there are more."),
    },
    { parent: STRING },
  ),
)
export type DirectoryDocument = TypeOf<typeof DIRECTORY>

/** Which sessions have new events. `elsewhere`: another process wrote, so any session may have changed. */
export const CHANGED = objectOf({ sessions: listOf(STRING), elsewhere: BOOLEAN })
export type SessionChanges = TypeOf<typeof CHANGED>
