/**
 * Calls without an outcome, and the questions they asked. A call that had only asked can be restarted after its process
 * died, because none of it happened. Any other open call may have acted, so it is reported and never repeated.
 */
import type { Json, PermissionReply, QuestionChoice } from "@meridian/protocol"

import type { LoggedEvent } from "../logged-event.ts"

export interface OpenCall {
  readonly messageID: string
  readonly callID: string
  readonly tool: string
  readonly input: Json | undefined
  /** The provider runs it. */
  readonly hosted: boolean
  /** It has only asked so far, or a separate session does its work and it will find that session again. */
  readonly restartable: boolean
  /** That session exists. */
  readonly delegated?: true
}

export interface Request {
  readonly requestID: string
  readonly messageID: string
  readonly callID: string
  readonly action: string
  readonly resources: readonly string[]
  /** The project whose approvals an "always" joins. Older logs do not name it. */
  readonly project: string | undefined
  /** What an "always" saves. */
  readonly always: readonly string[]
  readonly reply?: { readonly reply: PermissionReply; readonly message?: string; readonly parked: boolean }
}

/** What a call has asked besides permissions. */
export interface CallQuestion {
  readonly requestID: string
  readonly messageID: string
  readonly callID: string
  readonly text: string
  readonly choices: readonly QuestionChoice[]
  readonly answer?: readonly string[]
}

export interface Calls {
  /** Oldest first. */
  readonly open: readonly OpenCall[]
  /** Requests of open calls, answered or not, by id. */
  readonly requests: ReadonlyMap<string, Request>
  /** Questions of open calls, likewise. */
  readonly questions: ReadonlyMap<string, CallQuestion>
  /** Actions that a person has allowed for the rest of the session. */
  readonly allowed: readonly string[]
}

export const NO_CALLS: Calls = { open: [], requests: new Map(), questions: new Map(), allowed: [] }

export const foldCalls = (calls: Calls, events: readonly LoggedEvent[]): Calls =>
  events.reduce(foldOne, calls)

const foldOne = (calls: Calls, event: LoggedEvent): Calls => {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest concerns no call
  switch (event.type) {
    case "session.next.tool.called.1": {
      const { assistantMessageID: messageID, callID, tool, input, hosted } = event.data
      const call = { messageID, callID, tool, input, hosted: hosted === true, restartable: false }
      return { ...calls, open: [...calls.open, call] }
    }
    case "session.next.tool.success.1":
    case "session.next.tool.failed.1":
      return settle(calls, { messageID: event.data.assistantMessageID, callID: event.data.callID })
    case "session.next.tool.resumed.1": {
      const call = { messageID: event.data.assistantMessageID, callID: event.data.callID }
      // While its question is open it has not acted, however often it was restarted.
      const asking =
        requestsOf(calls, call).some(({ reply }) => reply === undefined) ||
        questionsOf(calls, call).some(({ answer }) => answer === undefined)
      return setRestartable(calls, call, asking || isDelegated(calls, call))
    }
    case "session.next.task.started.1": {
      const call = { messageID: event.data.assistantMessageID, callID: event.data.callID }
      return {
        ...calls,
        open: calls.open.map((other) =>
          isSame(other, call) ? { ...other, restartable: true, delegated: true as const } : other,
        ),
      }
    }
    case "session.next.permission.asked.1": {
      const {
        requestID,
        assistantMessageID: messageID,
        callID,
        action,
        resources,
        always,
        project,
      } = event.data
      const request = { requestID, messageID, callID, action, resources, project, always: always ?? [] }
      const requests = new Map(calls.requests).set(requestID, request)
      return setRestartable({ ...calls, requests }, request, true)
    }
    case "session.next.permission.replied.1": {
      const { requestID, reply, message, parked } = event.data
      const request = calls.requests.get(requestID)
      if (request === undefined) return calls
      const answered = { reply, parked, ...(message === undefined ? {} : { message }) }
      const requests = new Map(calls.requests).set(requestID, { ...request, reply: answered })
      const allowed = reply === "session" ? [...new Set([...calls.allowed, request.action])] : calls.allowed
      return setRestartable({ ...calls, requests, allowed }, request, parked || isDelegated(calls, request))
    }
    case "session.next.question.asked.1": {
      const { requestID, assistantMessageID: messageID, callID, text, choices } = event.data
      if (messageID === undefined || callID === undefined) return calls
      const question = { requestID, messageID, callID, text, choices }
      const questions = new Map(calls.questions).set(requestID, question)
      return setRestartable({ ...calls, questions }, question, true)
    }
    case "session.next.question.replied.1": {
      const { requestID, answer, parked } = event.data
      const question = calls.questions.get(requestID)
      if (question === undefined) return calls
      const questions = new Map(calls.questions).set(requestID, { ...question, answer })
      return setRestartable({ ...calls, questions }, question, parked || isDelegated(calls, question))
    }
    default:
      return calls
  }
}

/** Names a call. A provider may repeat call ids from turn to turn. */
export interface CallName {
  readonly messageID: string
  readonly callID: string
}

const isSame = (left: CallName, right: CallName): boolean =>
  left.callID === right.callID && left.messageID === right.messageID

const settle = (calls: Calls, call: CallName): Calls => {
  if (findCall(calls, call) === undefined) return calls
  return {
    ...calls,
    open: calls.open.filter((other) => !isSame(other, call)),
    requests: without(calls.requests, call),
    questions: without(calls.questions, call),
  }
}

const without = <Asked extends CallName>(
  asked: ReadonlyMap<string, Asked>,
  call: CallName,
): ReadonlyMap<string, Asked> => {
  const others = [...asked].filter(([, one]) => !isSame(one, call))
  return others.length === asked.size ? asked : new Map(others)
}

const isDelegated = (calls: Calls, call: CallName): boolean => findCall(calls, call)?.delegated === true

const setRestartable = (calls: Calls, call: CallName, restartable: boolean): Calls => ({
  ...calls,
  open: calls.open.map((other) => (isSame(other, call) ? { ...other, restartable } : other)),
})

export const findCall = (calls: Calls, call: CallName): OpenCall | undefined =>
  calls.open.find((other) => isSame(other, call))

export const requestsOf = (calls: Calls, call: CallName): readonly Request[] =>
  [...calls.requests.values()].filter((request) => isSame(request, call))

export const questionsOf = (calls: Calls, call: CallName): readonly CallQuestion[] =>
  [...calls.questions.values()].filter((question) => isSame(question, call))

/** Calls that wait for an answer, or whose answer came when no call was waiting. */
export const parkedCalls = (calls: Calls): readonly OpenCall[] =>
  calls.open.filter(({ restartable, hosted }) => restartable && !hosted)

/** A parked call has its answer, so a wake may restart it. */
export const hasAnsweredCall = (calls: Calls): boolean =>
  parkedCalls(calls).some(
    (call) =>
      requestsOf(calls, call).some(({ reply }) => reply !== undefined) ||
      questionsOf(calls, call).some(({ answer }) => answer !== undefined),
  )
