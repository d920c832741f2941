/** Puts inputs into a session's inbox and takes them out again. */
import { Failure, messageId, type Receipt } from "@meridian/protocol"
import { Effect } from "effect"

import { decideAdmission, type AdmissionRequest, type InboxFacts } from "../domain/admission.ts"
import { unreachable } from "../domain/assert.ts"
import { findInput } from "../domain/transcript/inbox.ts"
import { Store } from "../port/store.ts"
import type { Decision, Written } from "./decision.ts"
import { FoldedSessions } from "./folded-sessions.ts"
import { Settings } from "./settings.ts"

export interface PromptAdmission extends AdmissionRequest {
  readonly resume: boolean
  /** The id was generated for this request, so it is unused. */
  readonly isFresh: boolean
  /** The trace of the request that brings the prompt. */
  readonly trace?: string | undefined
  /** Instruction files beside what the prompt names. */
  readonly discovered?: readonly string[]
}

export interface InboxVerbs {
  /** Admits the prompt. An exact retry gets the first receipt. The caller may get the receipt once it is safe. */
  readonly admit: (request: PromptAdmission) => Effect.Effect<Written<Receipt>, Failure>
  readonly cancel: (session: string, id: string) => Effect.Effect<Receipt, Failure>
}

export const openInbox: Effect.Effect<InboxVerbs, never, Store | FoldedSessions | Settings> = Effect.gen(
  function* () {
    const store = yield* Store
    const sessions = yield* FoldedSessions
    const { limits } = yield* Settings

    /** `usedByMessage`: the id belongs to something that is not an input. */
    const admit = (
      request: PromptAdmission,
      usedByMessage: boolean,
    ): Effect.Effect<Written<Receipt>, Failure> => {
      const to = { session: request.sessionID, durability: "acknowledged" } as const
      const claim = (earlier: Receipt | undefined) =>
        sessions.claim(to, ({ inbox, surroundings }) =>
          admission(request, {
            earlier,
            usedByMessage: usedByMessage && earlier === undefined,
            pending: inbox.length,
            limit: limits.pendingInputs,
            known: surroundings.discovered,
          }),
        )
      // Another process was faster, or the id belongs to a message. Look again.
      return Effect.flatMap(request.isFresh ? NEVER_ADMITTED : store.input(request.id), claim).pipe(
        Effect.catchTag("Taken", () => admit(request, true)),
      )
    }

    const cancel: InboxVerbs["cancel"] = (session, id) =>
      Effect.gen(function* () {
        yield* sessions.current(session)
        const receipt = yield* store.input(id)
        const notFound = new Failure("INPUT_NOT_FOUND", { session, input: id })
        if (receipt === undefined) return yield* Effect.fail(notFound)
        return yield* sessions.write({ session, durability: "acknowledged" }, ({ inbox }) =>
          findInput(inbox, id) !== undefined
            ? {
                kind: "append",
                events: [{ type: "session.next.prompt.cancelled.1", data: { messageID: messageId(id) } }],
                answer: ([stored]) => ({ ...receipt, cancelledSeq: stored?.seq ?? 0 }),
              }
            : { kind: "refuse", failure: notFound },
        )
      })

    return { admit: (request) => admit(request, false), cancel }
  },
)

const NEVER_ADMITTED = Effect.succeed(undefined)

const admission = (
  request: PromptAdmission,
  facts: InboxFacts & { readonly known: readonly string[] },
): Decision<Receipt> => {
  const { id, sessionID, prompt, delivery, resume, overrides, trace, discovered = [] } = request
  const decision = decideAdmission(request, facts)
  switch (decision.kind) {
    case "replay":
      return { kind: "append", events: [], answer: () => decision.receipt }
    case "conflict":
      return {
        kind: "refuse",
        failure: new Failure("PROMPT_CONFLICT", { input: id, field: decision.field }),
      }
    case "full":
      return {
        kind: "refuse",
        failure: new Failure("INBOX_FULL", { session: sessionID, limit: decision.limit }),
      }
    case "admit":
      return {
        kind: "append",
        events: [
          {
            type: "session.next.prompt.admitted.1",
            data: {
              messageID: messageId(id),
              prompt,
              delivery,
              resume,
              ...overrides,
              ...(trace === undefined ? {} : { trace }),
            },
          },
          ...discovered
            .filter((path) => !facts.known.includes(path))
            .map((path) => ({ type: "session.next.instruction.discovered.1", data: { path } }) as const),
        ],
        answer: ([stored]) => ({
          id,
          sessionID,
          prompt,
          delivery,
          resume,
          ...overrides,
          admittedSeq: stored?.seq ?? 0,
          time: stored?.time ?? 0,
        }),
      }
    default:
      return unreachable(decision)
  }
}
