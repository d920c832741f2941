/** A permission question as a client is asked it, and the meaning of its answer. Pure. */
import type { PermissionOption, RequestPermissionResponse } from "@agentclientprotocol/sdk"
import { oneLine, type PermissionReply } from "@meridian/protocol"

import type { Question } from "./session-updates.ts"

export type Answer =
  | { readonly tag: "reply"; readonly reply: PermissionReply }
  /** The user cancelled the whole turn. */
  | { readonly tag: "interrupt" }

export const permissionOptions = (question: Pick<Question, "always" | "action">): PermissionOption[] => [
  { optionId: "once", kind: "allow_once", name: "Allow once" },
  { optionId: "always", kind: "allow_always", name: alwaysName(question) },
  ...(question.action === "edit" ? [SESSION] : []),
  { optionId: "reject", kind: "reject_once", name: "Reject" },
]

export const answerOf = ({ outcome }: RequestPermissionResponse): Answer => {
  if (outcome.outcome === "cancelled") return { tag: "interrupt" }
  switch (outcome.optionId) {
    case "once":
    case "always":
    case "session":
      return { tag: "reply", reply: outcome.optionId }
    default:
      return { tag: "reply", reply: "reject" }
  }
}

const SESSION: PermissionOption = {
  optionId: "session",
  kind: "allow_always",
  name: "Allow every edit in this session",
}

const LONGEST_NAME = 120

/** Names what the approval would cover, because that may be more than the current call. */
const alwaysName = ({ always, action }: Pick<Question, "always" | "action">): string => {
  // A backslash in a pattern makes the next character literal.
  const patterns = always.map((pattern) => pattern.replaceAll(/\\([*?\\])/g, "$1"))
  const all = patterns.length === 0 || patterns.includes("*")
  return oneLine(
    all
      ? `Always allow every ${action} in this project`
      : `Always allow ${action} in this project: ${patterns.join(", ")}`,
    LONGEST_NAME,
  )
}
