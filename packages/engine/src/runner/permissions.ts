/**
 * Asking before acting. A question is an event, so it survives a restart; an answer is an event too, from this process or
 * another one. The tool's promise waits for the answer; the rows decide what it is.
 */
import { Failure, messageId, permissionRequestId, type PermissionReply } from "@meridian/protocol"

import { decidePermission, literalPattern, type PermissionRule } from "../domain/permission.ts"
import { findCall } from "../domain/transcript/calls.ts"
import { ToolError, type PermissionQuestion } from "../port/tool.ts"
import type { World } from "../port/world.ts"
import type { Fence } from "../store/log.ts"
import type { Store } from "../store/store.ts"
import type { Histories } from "./histories.ts"
import type { Signals } from "./signals.ts"

export interface Asker {
  readonly sessionID: string
  readonly fence: Fence
  readonly rules: readonly PermissionRule[]
  /** Saved approvals belong to a project, here its directory. */
  readonly project: string
  readonly messageID: string
  readonly callID: string
  readonly signal: AbortSignal
}

export type CallOwner = Pick<Asker, "sessionID" | "fence" | "messageID" | "callID">

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

export interface Permissions {
  readonly ask: (asker: Asker, question: PermissionQuestion) => Promise<void>
  /** Whether the call waits for an answer that may still come after this engine has closed. */
  readonly outlives: (call: CallOwner) => boolean
  /** From now on interrupted questions stay open: the next engine shows them again. */
  readonly close: () => void
  readonly list: (sessionID?: string) => readonly OpenPermissionRequest[]
  /** Says whether nobody was waiting, so that the caller can wake the session. */
  readonly reply: (answer: {
    readonly requestID: string
    readonly reply: PermissionReply
    readonly message?: string
  }) => { readonly sessionID: string; readonly parked: boolean }
}

interface Answer {
  readonly reply: PermissionReply
  readonly message?: string
}

interface Waiting {
  readonly asker: Asker
  readonly question: PermissionQuestion
}

export const createPermissions = (options: {
  readonly store: Store
  readonly world: World
  readonly signals: Signals
  readonly histories: Histories
}): Permissions => {
  const { store, world, signals, histories } = options
  const waiting = new Map<string, Waiting>()
  let closing = false

  const ask: Permissions["ask"] = async (asker, question) => {
    const approvals = store.reader.approvals(asker.project)
    const verdict = decidePermission(question, asker.rules, approvals)
    if (verdict.kind === "allow") return
    if (verdict.kind === "deny") throw new ToolError("denied", denial(question, verdict.rule))
    const earlier = earlierRequest(asker, question)
    if (earlier?.reply !== undefined) return act(asker, earlier.reply)
    const requestID = earlier?.requestID ?? record(asker, question)
    act(asker, await answerTo(requestID, asker, question))
  }

  /**
   * The last step before a call does what it was allowed to: it is still ours to run, however long the answer took, and
   * a call that could be started again says first that it no longer can.
   */
  const act = (asker: Asker, answer: Answer): void => {
    conclude(answer)
    const { sessionID, fence, messageID, callID } = asker
    store.log.write({ sessionID, durability: "FULL", fence }, ({ append }) => {
      if (!isRestartable(asker)) return
      append([
        {
          type: "session.next.tool.resumed.1",
          data: { assistantMessageID: messageId(messageID), callID },
        },
      ])
    })
  }

  /** It has only asked so far, as far as the log knows. */
  const isRestartable = ({ sessionID, fence, messageID, callID }: CallOwner): boolean =>
    findCall(histories.current({ id: sessionID, key: fence.key }).transcript.calls, { messageID, callID })
      ?.restartable === true

  /** A call that is started again after a restart finds the question it asked before, answered or not. */
  const earlierRequest = (asker: Asker, question: PermissionQuestion) => {
    const { transcript } = histories.current({ id: asker.sessionID, key: asker.fence.key })
    return [...transcript.calls.requests.values()].find(
      (request) =>
        request.messageID === asker.messageID &&
        request.callID === asker.callID &&
        request.action === question.action &&
        request.resources.join("\0") === question.resources.join("\0"),
    )
  }

  const record = (asker: Asker, question: PermissionQuestion): string => {
    const requestID = permissionRequestId(world.id("per_"))
    store.log.write({ sessionID: asker.sessionID, durability: "FULL", fence: asker.fence }, ({ append }) =>
      append([
        {
          type: "session.next.permission.asked.1",
          data: {
            requestID,
            assistantMessageID: messageId(asker.messageID),
            callID: asker.callID,
            action: question.action,
            resources: question.resources,
            title: question.title,
            project: asker.project,
            always: question.always ?? question.resources.map(literalPattern),
            ...(question.detail === undefined ? {} : { detail: question.detail }),
          },
        },
      ]),
    )
    return requestID
  }

  const answerTo = (requestID: string, asker: Asker, question: PermissionQuestion): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const leave = () => {
        waiting.delete(requestID)
        unwatch()
        asker.signal.removeEventListener("abort", giveUp)
      }
      const giveUp = () => {
        leave()
        reject(new ToolError("interrupted", "Interrupted while waiting for permission."))
      }
      const look = () => {
        const request = requestOf(requestID, asker)
        // Another process has settled the call: there is nothing left to wait for.
        if (request === undefined) return giveUp()
        if (request.reply === undefined) return answerWhatIsAllowedNow(requestID)
        leave()
        resolve(request.reply)
      }
      waiting.set(requestID, { asker, question })
      const unwatch = signals.watch(asker.sessionID, look)
      asker.signal.addEventListener("abort", giveUp)
      if (asker.signal.aborted) giveUp()
      else look()
    })

  const requestOf = (requestID: string, asker: Asker) =>
    histories.current({ id: asker.sessionID, key: asker.fence.key }).transcript.calls.requests.get(requestID)

  const reply: Permissions["reply"] = (answer) => {
    const row = store.reader.openRequest(answer.requestID)
    if (row === undefined) throw new Failure("REQUEST_NOT_FOUND", { request: answer.requestID })
    const { sessionID, event } = row
    const parked = store.log.write({ sessionID, durability: "FULL" }, ({ session, append }) => {
      if (store.reader.openRequest(answer.requestID) === undefined)
        throw new Failure("REQUEST_NOT_FOUND", { request: answer.requestID })
      const nobodyWaits = !waiting.has(answer.requestID) && !store.leases.isHeldElsewhere(session.key)
      append([
        {
          type: "session.next.permission.replied.1",
          data: {
            requestID: permissionRequestId(answer.requestID),
            reply: answer.reply,
            parked: nobodyWaits,
            ...(answer.message === undefined ? {} : { message: answer.message }),
            ...(answer.reply === "always"
              ? {
                  saved: {
                    project: event.data.project ?? session.directory,
                    action: event.data.action,
                    resources: event.data.always,
                  },
                }
              : {}),
          },
        },
      ])
      return nobodyWaits
    })
    if (answer.reply === "always") for (const other of waiting.keys()) answerWhatIsAllowedNow(other)
    return { sessionID, parked }
  }

  /** An approval, given here or elsewhere, may answer other open questions of the same project. */
  const answerWhatIsAllowedNow = (requestID: string): void => {
    const asked = waiting.get(requestID)
    if (asked === undefined) return
    const approvals = store.reader.approvals(asked.asker.project)
    const verdict = decidePermission(asked.question, asked.asker.rules, approvals)
    if (verdict.kind === "allow" && store.reader.openRequest(requestID) !== undefined)
      reply({ requestID, reply: "once" })
  }

  return {
    ask,
    reply,
    outlives: (call) => closing && isRestartable(call),
    close: () => {
      closing = true
    },
    list: (sessionID) =>
      store.reader
        .openRequests(sessionID === undefined ? undefined : store.log.head(sessionID).key)
        .map((row) => ({
          id: row.event.data.requestID,
          sessionID: row.sessionID,
          messageID: row.event.data.assistantMessageID,
          callID: row.event.data.callID,
          action: row.event.data.action,
          resource: row.event.data.resources[0] ?? "*",
          resources: row.event.data.resources,
          title: row.event.data.title,
          time: row.event.time,
        })),
  }
}

const conclude = (answer: Answer): void => {
  if (answer.reply !== "reject") return
  throw new ToolError(
    "rejected",
    answer.message === undefined || answer.message === ""
      ? "The user rejected this call."
      : `The user rejected this call and said: ${answer.message}`,
  )
}

const denial = (question: PermissionQuestion, rule: PermissionRule): string =>
  `Permission denied: ${question.action} on ${question.resources.join(", ")} is refused by the rule ${rule.action} ${rule.resource}.`
