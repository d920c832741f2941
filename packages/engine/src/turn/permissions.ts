/**
 * Asking before acting. A question is an event, so it survives a restart. The answer is an event too, from this process or
 * another. A call waits until the log has its answer.
 */
import { createHash } from "node:crypto"

import {
  Failure,
  literalPattern,
  messageId,
  permissionRequestId,
  type DurableEvent,
  type PermissionReply,
} from "@meridian/protocol"
import { Context, Effect, Layer } from "effect"

import { decideUnder, type PermissionRule, type SavedApproval, type Verdict } from "../domain/permission.ts"
import { findCall, requestsOf, type CallName, type Request } from "../domain/transcript/calls.ts"
import { Ids } from "../port/ids.ts"
import { Store } from "../port/store.ts"
import { ToolError, type PermissionQuestion } from "../port/tool.ts"
import { FoldedSessions, Signals, type SessionHandle } from "../session/index.ts"
import { proveOurs } from "./act-again.ts"

/** A call that asks. */
export interface Asker extends CallName {
  readonly session: SessionHandle
  readonly rules: readonly PermissionRule[]
  /** The rules of the sessions this one works for. */
  readonly ceilings?: readonly (readonly PermissionRule[])[]
  /** Saved approvals belong to a project, identified by its directory. */
  readonly project: string
}

export interface OpenPermissionRequest {
  readonly id: string
  readonly sessionID: string
  readonly messageID: string
  readonly callID: string
  readonly action: string
  /** The first of `resources`; most questions have one. */
  readonly resource: string
  readonly resources: readonly string[]
  readonly title: string
  readonly time: number
}

/** An approval that answers questions until somebody revokes it. */
export interface SavedPermission {
  /** Stays the same when the same approval is given again. */
  readonly id: string
  /** The directory of the sessions it applies to. */
  readonly project: string
  readonly action: string
  /** A pattern, as in rules. */
  readonly resource: string
  readonly sessionID: string
  readonly time: number
}

export interface PermissionAnswer {
  readonly requestID: string
  readonly reply: PermissionReply
  /** Only with "reject": text for the model. */
  readonly message?: string
}

export class AskPermission extends Context.Service<
  AskPermission,
  {
    /** Completes when the call may act. */
    readonly ask: (asker: Asker, question: PermissionQuestion) => Effect.Effect<void, ToolError | Failure>
    /** Whether the call waits for an answer that may still come after this engine has closed. */
    readonly staysOpen: (asker: Asker) => Effect.Effect<boolean>
    /** From now on an interrupted question stays open, and the next engine shows it again. */
    readonly close: Effect.Effect<void>
    /** Work that ends now was not asked to end. */
    readonly isClosing: () => boolean
    readonly list: (sessionID?: string) => Effect.Effect<readonly OpenPermissionRequest[], Failure>
    readonly saved: Effect.Effect<readonly SavedPermission[], Failure>
    readonly revoke: (id: string) => Effect.Effect<void, Failure>
    /** Records an answer. `parked`: no call was waiting, so the caller should wake the session. */
    readonly reply: (
      answer: PermissionAnswer,
    ) => Effect.Effect<{ readonly sessionID: string; readonly parked: boolean }, Failure>
  }
>()("meridian/AskPermission") {
  /** `asksAgain`: this engine ignores answers in the database that were given to another engine. */
  static readonly layer = (options: {
    readonly asksAgain: boolean
  }): Layer.Layer<AskPermission, never, Store | FoldedSessions | Signals | Ids> =>
    Layer.effect(
      AskPermission,
      Effect.suspend(() => makePermissions(options)),
    )
}

const setsOf = ({ rules, ceilings = [] }: Asker): readonly (readonly PermissionRule[])[] => [
  rules,
  ...ceilings,
]

interface Waiting {
  readonly asker: Asker
  readonly question: PermissionQuestion
}

type Reply = NonNullable<Request["reply"]>

const makePermissions = Effect.fnUntraced(function* ({ asksAgain }: { readonly asksAgain: boolean }) {
  const store = yield* Store
  const sessions = yield* FoldedSessions
  const signals = yield* Signals
  const ids = yield* Ids
  /** Waiting calls of this process, by the id of their request. */
  const waiting = new Map<string, Waiting>()
  /** The answers given to this engine, for `asksAgain`. */
  const told = openAnswers()
  let closing = false

  const judge = ({ asker, question }: Waiting): Effect.Effect<Verdict, Failure> => {
    // Rules alone settle most questions. Approvals are read only for the rest.
    const byRules = decideUnder(question, setsOf(asker), [])
    if (byRules.kind !== "ask") return Effect.succeed(byRules)
    return Effect.map(approvalsFor(asker), (approvals) => decideUnder(question, setsOf(asker), approvals))
  }

  const approvalsFor = (asker: Asker): Effect.Effect<readonly SavedApproval[], Failure> =>
    Effect.gen(function* () {
      if (asksAgain) return told.approvals(asker)
      const { allowed } = yield* callsOf(asker)
      return [
        ...(yield* store.approvals(asker.project)),
        ...allowed.map((action) => ({ action, resource: "*" })),
      ]
    })

  const counts = ({ requestID, reply: given }: Request): boolean =>
    given === undefined || !asksAgain || told.has(requestID)

  const callsOf = (asker: Asker) =>
    Effect.map(sessions.current(asker.session.id), ({ transcript }) => transcript.calls)

  const ask: AskPermission["Service"]["ask"] = (asker, question) =>
    Effect.gen(function* () {
      const verdict = yield* judge({ asker, question })
      if (verdict.kind === "allow") return
      if (verdict.kind === "deny")
        return yield* Effect.fail(new ToolError("denied", denial(question, verdict.rule)))
      // A call that is restarted after a crash reuses the question it asked before, answered or not.
      const earlier = requestsOf(yield* callsOf(asker), asker).find(
        (request) => isSame(request, question) && counts(request),
      )
      if (earlier?.reply !== undefined) return yield* act(asker, earlier.reply)
      const requestID = earlier?.requestID ?? (yield* record(asker, question))
      yield* act(asker, yield* answerTo(requestID, { asker, question }))
    })

  const record = (asker: Asker, question: PermissionQuestion): Effect.Effect<string, Failure> =>
    Effect.suspend(() => {
      const requestID = permissionRequestId(ids.next("per_"))
      const { messageID, callID, project } = asker
      const { action, resources, title, detail } = question
      const asked: DurableEvent = {
        type: "session.next.permission.asked.1",
        data: {
          requestID,
          assistantMessageID: messageId(messageID),
          callID,
          action,
          resources,
          title,
          project,
          always: question.always ?? resources.map(literalPattern),
          ...(detail === undefined ? {} : { detail }),
        },
      }
      return asker.session.decideToAct(() => ({
        kind: "append",
        events: [asked],
        answer: () => requestID,
      }))
    })

  const answerTo = (requestID: string, wait: Waiting): Effect.Effect<Reply, ToolError | Failure> =>
    Effect.scoped(
      Effect.gen(function* () {
        const { asker } = wait
        const watch = yield* signals.watch(asker.session.id)
        yield* Effect.acquireRelease(
          Effect.sync(() => waiting.set(requestID, wait)),
          () => Effect.sync(() => waiting.delete(requestID)),
        )
        for (;;) {
          const request = (yield* callsOf(asker)).requests.get(requestID)
          // Another process has settled the call, so there is nothing to wait for.
          if (request === undefined)
            return yield* Effect.fail(
              new ToolError("interrupted", "Interrupted while waiting for permission."),
            )
          if (request.reply !== undefined) return request.reply
          if (!(yield* answerIfAllowed(requestID, wait))) yield* watch.changed
        }
      }),
    )

  const act = (asker: Asker, answer: Reply): Effect.Effect<void, ToolError | Failure> =>
    answer.reply === "reject"
      ? Effect.fail(new ToolError("rejected", rejection(answer.message)))
      : proveOurs(asker)

  const reply: AskPermission["Service"]["reply"] = (answer) =>
    Effect.gen(function* () {
      const { requestID } = answer
      const notFound = new Failure("REQUEST_NOT_FOUND", { request: requestID })
      const open = yield* store.request(requestID)
      if (open === undefined) return yield* Effect.fail(notFound)
      const sessionID = open.session
      const parked = !waiting.has(requestID) && !(yield* store.leases.isHeldElsewhere(sessionID))
      yield* sessions.write({ session: sessionID, durability: "acknowledged" }, ({ calls, choices }) => {
        const request = calls.requests.get(requestID)
        if (request === undefined || request.reply !== undefined) return { kind: "refuse", failure: notFound }
        if (answer.reply === "session" && request.action !== "edit")
          return { kind: "refuse", failure: EDITS_ONLY }
        const directory = choices.location?.directory ?? ""
        const event = replied(answer, request, { parked, directory })
        return { kind: "append", events: [event], answer: () => told.note(sessionID, request, event.data) }
      })
      if (answer.reply === "always" || answer.reply === "session") yield* answerOthers
      return { sessionID, parked }
    })

  /** An approval, given in this process or another, may answer other open questions of the same project. */
  const answerIfAllowed = (requestID: string, wait: Waiting): Effect.Effect<boolean, Failure> =>
    Effect.gen(function* () {
      const verdict = yield* judge(wait)
      if (verdict.kind !== "allow") return false
      yield* Effect.catchIf(
        reply({ requestID, reply: "once" }),
        ({ code }) => code === "REQUEST_NOT_FOUND",
        () => Effect.void,
      )
      return true
    })

  const answerOthers = Effect.suspend(() =>
    Effect.forEach([...waiting], ([requestID, wait]) => answerIfAllowed(requestID, wait), { discard: true }),
  )

  const saved = Effect.map(store.givenApprovals, (approvals) =>
    approvals.map(({ session, ...approval }): SavedPermission => ({
      id: approvalId(approval),
      ...approval,
      sessionID: session,
    })),
  )

  const revoke: AskPermission["Service"]["revoke"] = (id) =>
    Effect.gen(function* () {
      const found = (yield* saved).find((approval) => approval.id === id)
      if (found === undefined) return yield* Effect.fail(new Failure("APPROVAL_NOT_FOUND", { approval: id }))
      const { project, action, resource } = found
      const revoked = {
        type: "session.next.permission.revoked.1",
        data: { project, action, resource },
      } as const
      yield* Effect.forEach(
        yield* store.approvedIn({ project, action, resource }),
        (session) =>
          sessions.write({ session, durability: "acknowledged" }, () => ({
            kind: "append",
            events: [revoked],
            answer: () => undefined,
          })),
        { discard: true },
      )
    })

  return AskPermission.of({
    ask,
    saved,
    revoke,
    reply,
    staysOpen: (asker) =>
      Effect.suspend(() =>
        closing
          ? callsOf(asker).pipe(
              Effect.map((calls) => findCall(calls, asker)?.restartable === true),
              // If the check fails, the call is reported as interrupted, which is always true.
              Effect.orElseSucceed(() => false),
            )
          : Effect.succeed(false),
      ),
    close: Effect.sync(() => {
      closing = true
    }),
    isClosing: () => closing,
    list: (sessionID) =>
      Effect.map(store.requests(sessionID), (requests) =>
        requests.map(({ session, event: { data, time } }) => ({
          id: data.requestID,
          sessionID: session,
          messageID: data.assistantMessageID,
          callID: data.callID,
          action: data.action,
          resource: data.resources[0] ?? "*",
          resources: data.resources,
          title: data.title,
          time,
        })),
      ),
  })
})

const approvalId = ({
  project,
  action,
  resource,
}: Pick<SavedPermission, "project" | "action" | "resource">): string =>
  `apr_${createHash("sha256")
    .update(JSON.stringify([project, action, resource]))
    .digest("hex")
    .slice(0, 16)}`

const EDITS_ONLY = new Failure("INVALID_INPUT", {
  what: 'Only a question about an edit is answered with "session"',
})

/** The answers given to this engine: which calls may act on them, and what they allow from then on. */
const openAnswers = () => {
  const answered = new Set<string>()
  const saved: (SavedApproval & { readonly project: string })[] = []
  const allowed = new Map<string, readonly SavedApproval[]>()
  return {
    has: (requestID: string): boolean => answered.has(requestID),
    approvals: ({ project, session }: Asker): readonly SavedApproval[] => [
      ...saved.filter((approval) => approval.project === project),
      ...(allowed.get(session.id) ?? []),
    ],
    note: (session: string, { requestID, action }: Request, { reply, saved: given }: Replied): void => {
      answered.add(requestID)
      if (given !== undefined)
        saved.push(...given.resources.map((resource) => ({ project: given.project, action, resource })))
      if (reply === "session")
        allowed.set(session, [...(allowed.get(session) ?? []), { action, resource: "*" }])
    },
  }
}

type Replied = ReturnType<typeof replied>["data"]

const isSame = ({ action, resources }: Request, question: PermissionQuestion): boolean =>
  action === question.action && resources.join("\0") === question.resources.join("\0")

/** `always` adds an approval to the project that the question named. Older logs do not name one. */
const replied = (
  { requestID, reply, message }: PermissionAnswer,
  { project, action, always }: Request,
  facts: { readonly parked: boolean; readonly directory: string },
) =>
  ({
    type: "session.next.permission.replied.1",
    data: {
      requestID: permissionRequestId(requestID),
      reply,
      parked: facts.parked,
      ...(message === undefined ? {} : { message }),
      ...(reply === "always"
        ? { saved: { project: project ?? facts.directory, action, resources: always } }
        : {}),
    },
  }) as const

const rejection = (message: string | undefined): string =>
  message === undefined || message === ""
    ? "The user rejected this call."
    : `The user rejected this call and said: ${message}`

const denial = (question: PermissionQuestion, rule: PermissionRule): string =>
  `Permission denied: ${question.action} on ${question.resources.join(", ")} is refused by the rule ${rule.action} ${rule.resource}.`
