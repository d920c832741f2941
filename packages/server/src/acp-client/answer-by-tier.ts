/**
 * Answers an agent's permission question by the tier it was launched with. Looking is always allowed. From `workspace-write`
 * on, so is changing files inside the folder; from `full-access` on, changing any file, commands and the network. A call of
 * an unknown kind is refused below `danger`. Nothing is allowed permanently, so the next question is asked again.
 */
import { isAbsolute, relative, resolve } from "node:path"

import type { PermissionOption, RequestPermissionRequest, ToolKind } from "@agentclientprotocol/sdk"
import type { PermissionTier } from "@meridian/spaces"

export type Answer =
  | { readonly tag: "allowed"; readonly optionId: string }
  | { readonly tag: "refused"; readonly optionId: string }
  /** The agent offers no option for this answer. The question is withdrawn, which an agent takes as a no. */
  | { readonly tag: "cancelled" }

type Question = Pick<RequestPermissionRequest, "toolCall" | "options">

export const answerByTier = (question: Question, tier: PermissionTier, directory: string): Answer =>
  answerWith(question.options, isAllowed(question.toolCall, tier, directory))

/** The option that says yes or no once. A permanent no serves as a no, too. */
export const answerWith = (options: readonly PermissionOption[], isYes: boolean): Answer => {
  const find = (kind: PermissionOption["kind"]): string | undefined =>
    options.find((option) => option.kind === kind)?.optionId
  const yes = isYes ? find("allow_once") : undefined
  if (yes !== undefined) return { tag: "allowed", optionId: yes }
  const no = find("reject_once") ?? find("reject_always")
  return no === undefined ? { tag: "cancelled" } : { tag: "refused", optionId: no }
}

const LOOKING: ReadonlySet<ToolKind> = new Set<ToolKind>(["read", "search", "think"])
const CHANGING: ReadonlySet<ToolKind> = new Set<ToolKind>(["edit", "delete", "move"])
const REACHING: ReadonlySet<ToolKind> = new Set<ToolKind>(["execute", "fetch"])

const isAllowed = (call: Question["toolCall"], tier: PermissionTier, directory: string): boolean => {
  if (tier === "danger") return true
  const kind = call.kind ?? "other"
  if (LOOKING.has(kind)) return true
  if (tier === "read-only") return false
  if (CHANGING.has(kind)) return tier === "full-access" || staysInside(call, directory)
  return tier === "full-access" && REACHING.has(kind)
}

/** Every path that the agent names is inside the folder, and it names at least one. */
const staysInside = ({ locations, content }: Question["toolCall"], directory: string): boolean => {
  const paths = [
    ...(locations ?? []).map(({ path }) => path),
    ...(content ?? []).flatMap((part) => (part.type === "diff" ? [part.path] : [])),
  ]
  return (
    paths.length > 0 &&
    paths.every((path) => {
      const inside = relative(directory, resolve(directory, path))
      return inside !== "" && inside !== ".." && !inside.startsWith("../") && !isAbsolute(inside)
    })
  )
}
