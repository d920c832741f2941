/** What `start --continue` means: which record, with which parameters. */
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
 * A chat alias in several spaces cannot be guessed. A harness's own id is unique by itself: seen in several spaces it is
 * the same conversation, and the newest record speaks for it.
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

/**
 * Recorded arguments are defaults: an explicit flag replaces every recorded use of the same flag, and the rest is added
 * behind. A flag owns the words after it up to the next flag (`--a 1 2 --b=3` are two).
 */
export const mergeParams = (recorded: readonly string[], explicit: readonly string[]): readonly string[] => {
  const given = groupArguments(explicit)
  const names = new Set(given.map((group) => group.name))
  const kept = groupArguments(recorded).filter((group) =>
    group.name === "" ? !names.has("") : !names.has(group.name),
  )
  return [...kept, ...given].flatMap((group) => group.words)
}

interface ArgumentGroup {
  /** "" for words before the first flag. */
  readonly name: string
  readonly words: readonly string[]
}

const groupArguments = (words: readonly string[]): readonly ArgumentGroup[] => {
  const groups: { name: string; words: string[] }[] = []
  for (const word of words) {
    const isFlag = /^--?[^\s-]/.test(word) && !/^-[0-9.]+$/.test(word)
    const last = groups.at(-1)
    if (isFlag) groups.push({ name: word.split("=", 1)[0] ?? word, words: [word] })
    else if (last === undefined) groups.push({ name: "", words: [word] })
    else last.words.push(word)
  }
  return groups
}

const newestFirst = (left: { readonly record: ChatRecord }, right: { readonly record: ChatRecord }): number =>
  right.record.startedAt.localeCompare(left.record.startedAt)
