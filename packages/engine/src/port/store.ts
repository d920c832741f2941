/**
 * Durable state: everything the engine may ask of it, in the words of CONTEXT.md. A store keeps the logs of many sessions
 * for many processes. Callers decide, on the folded session; a store only compares and appends.
 *
 * Every verb is lazy and may be answered later. A failed verb has done either nothing or everything. A caller that must
 * know which one asks again. `Failure` is trouble of the store (full, unreachable, damaged), never a decision.
 */
import type {
  DurableEvent,
  DurableEventData,
  Failure,
  LiveEvent,
  Location,
  QuestionKind,
  Receipt,
  RecordedUsage,
  SessionMessage,
  StoredEvent,
} from "@meridian/protocol"
import { Context, type Effect, type Scope, type Stream } from "effect"

import type { Claim } from "../domain/claims.ts"
import type { DatedEvent } from "../domain/fork.ts"
import type { LoggedEvent } from "../domain/logged-event.ts"
import type { GivenApproval, SavedApproval } from "../domain/permission.ts"
import type { Stranded } from "../domain/stranded.ts"

export class Store extends Context.Service<Store, StoreVerbs>()("meridian/Store") {}

export interface StoreVerbs {
  /** The name that people see. */
  readonly name: string
  /** The same in every process that opens this store, whatever address it uses. No other store has it. */
  readonly identity: string
  /** The store answered recently. */
  readonly isReachable: () => boolean
  /** Milliseconds since 1970, the same for everybody who shares this store as far as it matters: limits end by it. */
  readonly now: () => number
  /** Appends all of the events or none of them. */
  readonly append: (append: Append) => Effect.Effect<Appended, Failure>

  readonly session: (id: string) => Effect.Effect<SessionSummary | undefined, Failure>
  /**
   * Deletes a session and everything derived from it. "held": a process is at work on it. A caller that holds the session
   * itself passes `heldAt`; then "moved" means that something was appended since.
   */
  readonly remove: (id: string, heldAt?: HeldAt) => Effect.Effect<Removed, Failure>
  /** Events after a sequence, oldest first. Empty for a session that does not exist. */
  readonly events: (range: EventRange) => Effect.Effect<readonly LoggedEvent[], Failure>
  /** The same events as frames, ready to pass on; undefined when there are none. */
  readonly eventFrames: (range: EventRange) => Effect.Effect<EventFrames | undefined, Failure>
  /**
   * Every event of a session that decides what became of its compactions, oldest first: compaction events and the ends of
   * undos.
   */
  readonly compactions: (session: string) => Effect.Effect<readonly LoggedEvent[], Failure>
  readonly messages: (
    session: string,
    stretch: Stretch,
  ) => Effect.Effect<readonly Placed<SessionMessage | undefined>[], Failure>
  readonly message: (session: string, id: string) => Effect.Effect<SessionMessage | undefined, Failure>
  /** Waiting inputs of a session, oldest first. */
  readonly inputs: (session: string, range?: InputRange) => Effect.Effect<readonly Receipt[], Failure>
  /** The input that was admitted under this id, in any session. */
  readonly input: (id: string) => Effect.Effect<Receipt | undefined, Failure>
  /** The best matches for the words: messages with all of them, or with any of them when none has all. */
  readonly search: (session: string, words: string) => Effect.Effect<readonly Hit[], Failure>

  /** Sessions in the order of their creation. */
  readonly sessions: (stretch: Stretch) => Effect.Effect<readonly Placed<SessionSummary>[], Failure>
  /** Unanswered permission requests of one session or of all, oldest first. */
  readonly requests: (session?: string) => Effect.Effect<readonly OpenRequest[], Failure>
  readonly request: (id: string) => Effect.Effect<OpenRequest | undefined, Failure>
  /** The same for all other questions, from calls and from the engine. */
  readonly questions: (session?: string) => Effect.Effect<readonly OpenQuestion[], Failure>
  /** What people have approved permanently for one project. */
  readonly approvals: (project: string) => Effect.Effect<readonly SavedApproval[], Failure>
  /** The permanent approvals of all projects, oldest first. */
  readonly givenApprovals: Effect.Effect<readonly GivenApproval[], Failure>
  /** Every session in which a person gave this approval. A revocation is recorded in all of them. */
  readonly approvedIn: (
    approval: SavedApproval & { readonly project: string },
  ) => Effect.Effect<readonly string[], Failure>
  /**
   * Sessions that this process should run on its own initiative. An input wants it, or a question was answered while its
   * call is still open; no interrupt came after that, and the session is not parked. A store that many machines share gives
   * each session to one of them, and includes parked sessions whose time has come.
   */
  readonly runnable: Effect.Effect<readonly string[], Failure>

  /** Sessions that wait for their provider or for an answer, and until when (milliseconds since 1970). */
  readonly parked: Effect.Effect<readonly Parked[], Failure>

  /**
   * A session that stays invisible until it is published. An unpublished draft disappears with its scope, or with its
   * process.
   */
  readonly draft: (creation: Creation) => Effect.Effect<Draft, Failure, Scope.Scope>
  readonly leases: Leases
  /**
   * Hints that another process has appended. Hints may be merged or lost, so nothing may depend on them. Our own appends
   * give no hint.
   */
  readonly changes: Stream.Stream<Change>
  /** Present when machines share this store. */
  readonly peers?: Peers
}

/** The processes that share a store, across machines. */
export interface Peers {
  /** The token by which peers recognise each other. */
  readonly token: string
  /** The process that holds the session, if it is not this one. */
  readonly ownerOf: (session: string) => Effect.Effect<Peer | undefined, Failure>
  /** The last nodes that had the session, oldest first. */
  readonly stays: (session: string) => Effect.Effect<readonly Stay[], Failure>
}

/** A period of a session on one node. */
export interface Stay {
  readonly host: string
  /** The number of the lease that it was given there. */
  readonly fence: number
  /** The last event at that time. */
  readonly seq: number
  /** Milliseconds since 1970, by the server's clock. */
  readonly time: number
}

export interface Peer {
  readonly id: string
  readonly host: string
  /** The address of its HTTP server, if it has one. */
  readonly address: string | undefined
}

export type Removed = "removed" | "missing" | "held" | "moved"

/** What a holder knows about the session it holds. */
export interface HeldAt {
  readonly fence: Fence
  /** The last event of the session. */
  readonly seq: number
}

export interface Append {
  readonly session: string
  /** Appends of a drain carry its fence. Requests of people carry none: they may come from any process. */
  readonly fence?: Fence
  /** The last event the writer knows. 0 means that the session does not exist yet; the first event creates it. */
  readonly after: number
  /** Recorded with each event, never compared. */
  readonly time: number
  /** An empty append proves the fence and the place, and that everything before is as durable as requested. */
  readonly events: readonly DurableEvent[]
  readonly durability: Durability
}

/**
 * What must survive a power cut once the append is `safe`. `acknowledged`: we are about to report that it is done. `act`:
 * we are about to do it. `progress`: the newest events may be lost; a resumed session repeats or reports them.
 */
export type Durability = "acknowledged" | "act" | "progress"

export type Appended =
  /**
   * The events have the sequences after `after`, and every process can read them. `safe` completes when they are as durable
   * as requested. Work may begin before that; an answer may not be given before it.
   */
  | { readonly kind: "committed"; readonly safe: Effect.Effect<void, Failure> }
  /** `after` is not the last event, or the session does not exist. Read on and decide again. */
  | { readonly kind: "moved" }
  /** A newer lease exists. This writer may not write any more. */
  | { readonly kind: "fenced" }
  /** An event claims a name that is already taken. */
  | { readonly kind: "taken"; readonly claim: Claim }

/** The right to write a session's own progress. The number only grows, across all processes and restarts. */
export interface Fence {
  readonly session: string
  readonly number: number
}

export interface Leases {
  /** Whether this process works on sessions at all. A process that does not leaves them to others. */
  readonly works: boolean
  /** From now on this process takes up no session, and the other processes know it. */
  readonly retire: Effect.Effect<void, Failure>
  /** This process has a free place for the session. Always true in a store that does not count places. */
  readonly hasRoom: (session: string) => boolean
  /** Asks the other processes for work. Possibly none of them hears it. */
  readonly ask: (demand: Asked) => Effect.Effect<void, Failure>
  /** Requests of other processes that this process has taken up. Their leases rest here. */
  readonly asked: Stream.Stream<Asked>
  /** A request with no reaction after this time was not heard. */
  readonly patienceMs: number
  readonly acquire: (session: string) => Effect.Effect<Acquisition, Failure>
  /** A sign of life. "lost" means that another process now has the session. */
  readonly renew: (fence: Fence) => Effect.Effect<"kept" | "lost", Failure>
  /**
   * For work that ended well. This process may take the session up again soon; otherwise it becomes free for all within a
   * moment.
   */
  readonly rest: (fence: Fence) => Effect.Effect<void>
  /** Retried later when it cannot be done now: a session is never kept by a process that is done with it. */
  readonly release: (fence: Fence) => Effect.Effect<void>
  /** Another holder has the session and is, as far as we know, alive. */
  readonly isHeldElsewhere: (session: string) => Effect.Effect<boolean, Failure>
  /** Sessions whose owner is lost: its process is gone, or it has been silent for too long. */
  readonly abandoned: Effect.Effect<readonly string[], Failure>
  /**
   * Emits each time this process proves that it still has its leases: for how many milliseconds from now no other process
   * may take them. Silent in a store where other processes notice a dead or frozen process directly.
   */
  readonly proofs: Stream.Stream<number>
  /**
   * Signals that work is left to take over, from a lost owner or from the process that admitted it. Repeats until it is
   * taken. A lost owner without leases is reported at least once: it may have acknowledged work that it never began.
   */
  readonly lost: Stream.Stream<void>
}

export interface Asked {
  readonly session: string
  /** At least one provider attempt, even without new input. */
  readonly forced: boolean
  /** The session's last event at the time of the request. A process that finds more was not the first to hear it. */
  readonly seq: number
}

export type Acquisition =
  /**
   * `abandoned`: the previous owner never released it, so its work must be settled first. `seq`: the last event of the
   * session, for a caller that knows fewer.
   */
  | {
      readonly kind: "acquired"
      readonly fence: Fence
      readonly abandoned: boolean
      readonly seq: number
    }
  /** Held by another process, or by another holder in this one: a lease has one holder. */
  | { readonly kind: "held" }
  /** A newer version has written to the session, so this version does not work on it. */
  | { readonly kind: "newer" }

export interface EventRange {
  readonly session: string
  readonly after: number
  readonly limit: number
  /** For frames only. The frame with which the data reaches this size is the last. */
  readonly bytes?: number
}

/** A part of the waiting inputs. A prompt may be large, and many may wait. */
export interface InputRange {
  /** Only inputs admitted after this sequence. */
  readonly after: number
  readonly limit: number
  /** The input with which the total reaches this size is the last. */
  readonly bytes: number
}

/** Consecutive events as readers receive them: frames of server-sent events, in UTF-8. */
export interface EventFrames {
  /** The sequences of the first and the last event. */
  readonly first: number
  readonly last: number
  readonly frames: Uint8Array
  /** More may follow. False: this was the end of the log. */
  readonly more: boolean
}

/** A part of a list: at most `limit` items after (`up`) or before (`down`) a place, in that direction. */
export interface Stretch {
  readonly direction: "up" | "down"
  /** Without it: starts at the first item (`up`) or at the last (`down`). */
  readonly from?: number
  readonly limit: number
}

export interface Placed<Item> {
  readonly place: number
  readonly item: Item
}

export interface Parked {
  readonly session: string
  readonly until: number
}

/** A session as lists show it. */
export interface ParentCall {
  readonly sessionID: string
  readonly messageID: string
  readonly callID: string
  readonly depth: number
}

export interface SessionSummary {
  readonly id: string
  /** The sequence of its last event. */
  readonly seq: number
  readonly location: Location
  readonly agent: string | undefined
  readonly model: string | undefined
  readonly title: string | undefined
  readonly isArchived: boolean
  readonly created: number
  readonly updated: number
  readonly usage: RecordedUsage
  readonly cost: number
  /** The session waits for a permission. */
  readonly isAsking: boolean
  /** The session asks another question: the kind of the oldest one. Questions of the engine come first. */
  readonly question: QuestionKind | undefined
  /** One of its questions was answered, but the call that asked has not settled. */
  readonly isAnswered: boolean
  /** Set while it waits for its provider, or for an answer (`NEVER`). */
  readonly parkedUntil: number | undefined
  /** Another process is at work on it. */
  readonly isHeldElsewhere: boolean
  /** Set for a child: the call of the session that began it, and its depth. */
  readonly task: ParentCall | undefined
  /** How its last work ended, unless it ended well. */
  readonly trouble: "failed" | "interrupted" | undefined
  /** The session has work, but no process can take it up. */
  readonly stranded?: Stranded | undefined
  /** When machines share the store: the node that works on it or last did. */
  readonly host?: string | undefined
}

export interface OpenRequest {
  readonly session: string
  readonly event: Extract<StoredEvent, { readonly type: "session.next.permission.asked.1" }>
}

export interface OpenQuestion {
  readonly session: string
  readonly event: Extract<StoredEvent, { readonly type: "session.next.question.asked.1" }>
}

export interface Hit {
  readonly seq: number
  readonly text: string
}

/** The first event of a draft. */
export interface Creation {
  readonly type: "session.next.created.1"
  readonly time: number
  readonly data: DurableEventData["session.next.created.1"]
}

export interface Draft {
  /** Used by no other draft or session of this store. The ids inside the draft are made from it. */
  readonly name: string
  /** After a failure the draft is unusable. */
  readonly append: (events: readonly DatedEvent[]) => Effect.Effect<void, Failure>
  /** Makes it a session, unless a session with its id exists by now. It is then as durable as an acknowledged append. */
  readonly publish: Effect.Effect<"published" | "taken", Failure>
}

/** The session that changed. Undefined: some session, it is not known which. */
export interface Change {
  readonly session: string | undefined
}

/** Asks the owner of a session for its live events. */
export type FollowPeer = (request: {
  readonly address: string
  readonly token: string
  readonly sessionID: string
  readonly signal: AbortSignal
}) => AsyncIterable<LiveEvent>
