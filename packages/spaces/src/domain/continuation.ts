/** What `start --continue` means: which record it continues, with which parameters. */
import type { SpaceId } from "@meridian/protocol"

import { findChat, type ChatRecord } from "./chat.ts"

export interface SpaceChats {
  readonly space: SpaceId
  readonly records: readonly ChatRecord[]
}

export type Target =
  | { readonly tag: "found"; readonly space: SpaceId; readonly record: ChatRecord }
  | { readonly tag: "unknown" }
  | { readonly tag: "ambiguous"; readonly spaces: readonly SpaceId[] }

/**
 * A chat alias that exists in several spaces is ambiguous. A harness's own id is globally unique: in several spaces
 * it is the same conversation, and the newest record speaks for it.
 */
export const findTarget = (spaces: readonly SpaceChats[], reference: string): Target => {
  const matches = spaces.flatMap(({ space, records }) => {
    const record = findChat(records, reference)
    return record === undefined ? [] : [{ space, record }]
  })
  const aliases = matches.filter(({ record }) => record.chatId === reference)
  if (aliases.length > 1) return { tag: "ambiguous", spaces: aliases.map(({ space }) => space) }
  const [found] = aliases.length === 1 ? aliases : matches.toSorted(newestFirst)
  return found === undefined ? { tag: "unknown" } : { tag: "found", ...found }
}

const newestFirst = (left: { readonly record: ChatRecord }, right: { readonly record: ChatRecord }): number =>
  right.record.startedAt.localeCompare(left.record.startedAt)
