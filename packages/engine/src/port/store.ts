/**
 * Durable state: everything the engine may ask of it, in the words of CONTEXT.md. A store keeps the logs of many
 * sessions for many processes. Decisions are made by whoever asks, on the folded session; a store only compares and appends.
 *
 * Every verb is lazy and may be answered later. A verb that fails has either done nothing or done all of it: whoever must
 * know which asks again. `Failure` is the store's trouble (full, unreachable, damaged), never a decision.
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
  /** As people are told of it. */
  readonly name: string
  /** The same for every process that opens this store, however it is addressed, and of no other store. */
  readonly identity: string
  /** It has answered lately. */
  readonly isReachable: () => boolean
  /** All of the events or none of them. */
  readonly append: (append: Append) => Effect.Effect<Appended, Failure>

  readonly session: (id: string) => Effect.Effect<SessionSummary | undefined, Failure>
  /**
   * Deletes a session and everything derived from it; "held" while a process is at work on it. Whoever holds it itself says
   * so, and where it ends: "moved" when something was appended since.
   */
  readonly remove: (id: string, heldAt?: HeldAt) => Effect.Effect<Removed, Failure>
  /** Events behind a place, oldest first; none for a session that does not exist. */
  readonly events: (range: EventRange) => Effect.Effect<readonly LoggedEvent[], Failure>
  /** The same as frames, for those who pass them on; undefined when there are none. */
  readonly eventFrames: (range: EventRange) => Effect.Effect<EventFrames | undefined, Failure>
  /** Every event of a session that says what became of its compactions, oldest first: theirs, and the ends of undos. */
  readonly compactions: (session: string) => Effect.Effect<readonly LoggedEvent[], Failure>
  readonly messages: (
    session: string,
    stretch: Stretch,
  ) => Effect.Effect<readonly Placed<SessionMessage | undefined>[], Failure>
  readonly message: (session: string, id: string) => Effect.Effect<SessionMessage | undefined, Failure>
  /** Inputs of a session that wait, oldest first. */
  readonly inputs: (session: string, range?: InputRange) => Effect.Effect<readonly Receipt[], Failure>
  /** What was admitted under an id, in whichever session. */
  readonly input: (id: string) => Effect.Effect<Receipt | undefined, Failure>
  /** The best places for some words: those with all of them, or with any when none has all. */
  readonly search: (session: string, words: string) => Effect.Effect<readonly Hit[], Failure>

  /** In the order in which they were made. */
  readonly sessions: (stretch: Stretch) => Effect.Effect<readonly Placed<SessionSummary>[], Failure>
  /** Questions nobody has answered, of one session or of all, oldest first. */
  readonly requests: (session?: string) => Effect.Effect<readonly OpenRequest[], Failure>
  readonly request: (id: string) => Effect.Effect<OpenRequest | undefined, Failure>
  /** The same of what is asked besides permissions, by calls and by the engine. */
  readonly questions: (session?: string) => Effect.Effect<readonly OpenQuestion[], Failure>
  /** What people have approved for good, for one project. */
  readonly approvals: (project: string) => Effect.Effect<readonly SavedApproval[], Failure>
  /** Those of all projects, oldest first. */
  readonly givenApprovals: Effect.Effect<readonly GivenApproval[], Failure>
  /** Every session in which somebody ever gave this one: a revocation is recorded in all of them. */
  readonly approvedIn: (
    approval: SavedApproval & { readonly project: string },
  ) => Effect.Effect<readonly string[], Failure>
  /**
   * Sessions for this process to run without being asked: an input wants it, or a question was answered and its call is
   * still open, and no interrupt came behind that; none that is parked. A store that many machines share gives each to one of them, and
   * parked ones whose time has come as well.
   */
  readonly runnable: Effect.Effect<readonly string[], Failure>

  /** Sessions that wait for their provider or for an answer, and until when (milliseconds since 1970). */
  readonly parked: Effect.Effect<readonly Parked[], Failure>

  /** A session nobody sees until it is published. Without that it is gone with its scope, or with its process. */
  readonly draft: (creation: Creation) => Effect.Effect<Draft, Failure, Scope.Scope>
  readonly leases: Leases
  /**
   * Hints that another process has appended. Several may become one, and one may be lost: nothing depends on them. Own
   * appends are not told.
   */
  readonly changes: Stream.Stream<Change>
  /** Where machines share this store. */
  readonly peers?: Peers
}

/** The processes that share a store, over machines. */
export interface Peers {
  /** By which they know each other. */
  readonly token: string
  /** Who has the session, when it is another process. */
  readonly ownerOf: (session: string) => Effect.Effect<Peer | undefined, Failure>
}

export interface Peer {
  readonly id: string
  readonly host: string
  /** Where its HTTP server is reached, if it has one. */
  readonly address: string | undefined
}

export type Removed = "removed" | "missing" | "held" | "moved"

/** What somebody knows of a session it holds. */
export interface HeldAt {
  readonly fence: Fence
  /** Its last event. */
  readonly seq: number
}

export interface Append {
  readonly session: string
  /** What a drain appends carries its fence. What people ask for carries none: it may come from any process. */
  readonly fence?: Fence
  /** The last event the writer knows. 0: there is no session yet, and the first event makes it. */
  readonly after: number
  /** Written down with each event, never compared. */
  readonly time: number
  /** None: proves fence and place, and that everything before is as durable as asked for. */
  readonly events: readonly DurableEvent[]
  readonly durability: Durability
}

/**
 * What must survive a power cut once it is `safe`. `acknowledged`: we are about to say that it is done. `act`: we are about
 * to do it. `progress`: the newest of it may be lost; a resumed session repeats or reports it.
 */
export type Durability = "acknowledged" | "act" | "progress"

export type Appended =
  /**
   * The events have the numbers behind `after`, and everybody can read them. `safe` is done when they are as durable as
   * asked for; work may begin before that, an answer may not.
   */
  | { readonly kind: "committed"; readonly safe: Effect.Effect<void, Failure> }
  /** `after` is not the last event, or there is no such session. Read on, decide again. */
  | { readonly kind: "moved" }
  /** A newer lease was given: this writer's time is over. */
  | { readonly kind: "fenced" }
  /** An event brings a name that stands for something else already. */
  | { readonly kind: "taken"; readonly claim: Claim }

/** The right to write a session's own progress. The number only grows, over every process and every restart. */
export interface Fence {
  readonly session: string
  readonly number: number
}

export interface Leases {
  /** Whether this process works on sessions at all; one that does not asks others. */
  readonly works: boolean
  /** From now on this process takes up no session, and the others know. */
  readonly retire: Effect.Effect<void, Failure>
  /** There is a place for it here; always where nobody counts them. */
  readonly hasRoom: (session: string) => boolean
  /** Asks the other processes for work. Nobody may hear it. */
  readonly ask: (demand: Asked) => Effect.Effect<void, Failure>
  /** What others ask for and this process has taken up: its lease rests here. */
  readonly asked: Stream.Stream<Asked>
  /** After so long without a sign nobody has heard it. */
  readonly patienceMs: number
  readonly acquire: (session: string) => Effect.Effect<Acquisition, Failure>
  /** A sign of life; "lost" when somebody else has the session now. */
  readonly renew: (fence: Fence) => Effect.Effect<"kept" | "lost", Failure>
  /** For work that ended well: soon taken up again by this process, or else free for everybody within a moment. */
  readonly rest: (fence: Fence) => Effect.Effect<void>
  /** When that cannot be done now it is done later: a session is never kept by a process that is done with it. */
  readonly release: (fence: Fence) => Effect.Effect<void>
  /** Somebody else has the session and is, as far as we know, alive. */
  readonly isHeldElsewhere: (session: string) => Effect.Effect<boolean, Failure>
  /** Sessions whose owner is lost: its process is gone, or it has been silent for too long. */
  readonly abandoned: Effect.Effect<readonly string[], Failure>
  /**
   * Each time this process is known to have its leases still: for how many milliseconds from now nobody else may take them.
   * Silent where a process that is gone or frozen is seen by the others.
   */
  readonly proofs: Stream.Stream<number>
  /**
   * Says that work is left to take over: by an owner that was lost, or by whoever admitted it. Again until it is taken. An
   * owner that held nothing is told at least once: it may have acknowledged what it did not begin with.
   */
  readonly lost: Stream.Stream<void>
}

export interface Asked {
  readonly session: string
  /** At least one provider attempt, also without new input. */
  readonly forced: boolean
  /** The session's last event when it was asked: whoever finds more was not the first to hear it. */
  readonly seq: number
}

export type Acquisition =
  /**
   * `abandoned`: the previous owner never gave it back, so its work must be settled first. `seq`: the last event of the
   * session, for whoever knows less.
   */
  | {
      readonly kind: "acquired"
      readonly fence: Fence
      readonly abandoned: boolean
      readonly seq: number
    }
  /** By another process, or by somebody else in this one: a lease is given once. */
  | { readonly kind: "held" }
  /** A newer version has written to it: this one does not work on it. */
  | { readonly kind: "newer" }

export interface EventRange {
  readonly session: string
  readonly after: number
  readonly limit: number
  /** Of frames: the one that reaches this many bytes of data, with those before it, is the last. */
  readonly bytes?: number
}

/** A part of the inputs that wait: a prompt may be large, and many may wait. */
export interface InputRange {
  /** Only those admitted behind this sequence. */
  readonly after: number
  readonly limit: number
  /** The one that reaches this size, with those before it, is the last. */
  readonly bytes: number
}

/** Consecutive events as they are sent to readers: frames of server-sent events, in UTF-8. */
export interface EventFrames {
  /** The sequence of the first one, and of the last. */
  readonly first: number
  readonly last: number
  readonly frames: Uint8Array
  /** More may follow; without it, this was the end of the log. */
  readonly more: boolean
}

/** A part of a list: at most so many items behind a place (`up`) or before it (`down`), in that direction. */
export interface Stretch {
  readonly direction: "up" | "down"
  /** Without one, from the first item, or from the last. */
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
  /** Sequence of its last event. */
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
  /** It asks for a permission. */
  readonly isAsking: boolean
  /** It asks something else: the kind of the oldest question, the engine's own first. */
  readonly question: QuestionKind | undefined
  /** A question of it was answered, and the call that asked has not settled. */
  readonly isAnswered: boolean
  /** It waits for its provider, or for an answer (`NEVER`). */
  readonly parkedUntil: number | undefined
  /** Another process is at work on it. */
  readonly isHeldElsewhere: boolean
  /** It is a child: which call of which session began it, and how deep it lies. */
  readonly task: ParentCall | undefined
  /** How its last work ended, unless it ended well. */
  readonly trouble: "failed" | "interrupted" | undefined
  /** There is work to do, and no process can take it up. */
  readonly stranded?: Stranded | undefined
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
  /** Of no other draft or session of this store: the ids inside it are made from it. */
  readonly name: string
  /** When it fails, the draft is good for nothing any more. */
  readonly append: (events: readonly DatedEvent[]) => Effect.Effect<void, Failure>
  /** Makes it a session, unless one has its id by now. It is then as durable as what was acknowledged. */
  readonly publish: Effect.Effect<"published" | "taken", Failure>
}

/** Of which session; undefined: of some, nobody knows which. */
export interface Change {
  readonly session: string | undefined
}

/** Asks the owner of a session for what it says. */
export type FollowPeer = (request: {
  readonly address: string
  readonly token: string
  readonly sessionID: string
  readonly signal: AbortSignal
}) => AsyncIterable<LiveEvent>
