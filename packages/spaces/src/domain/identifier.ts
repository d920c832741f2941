/** Ids of spaces, chats and runs: a letter and a counter that only grows. */
import { chatId, runId, spaceId, type ChatId, type RunId, type SpaceId } from "@meridian/protocol"

/** One more than the greatest number ever seen, in logs or as a directory. Gaps are never filled. */
export const nextNumber = (prefix: string, seen: Iterable<string>): number => {
  let greatest = 0
  for (const id of seen) greatest = Math.max(greatest, numberOf(prefix, id))
  return greatest + 1
}

export const nextSpaceId = (seen: Iterable<string>): SpaceId => spaceId(`s${nextNumber("s", seen)}`)
export const nextChatId = (seen: Iterable<string>): ChatId => chatId(`c${nextNumber("c", seen)}`)
export const nextRunId = (seen: Iterable<string>): RunId => runId(`r${nextNumber("r", seen)}`)

export const asSpaceId = (text: string | undefined): SpaceId | undefined =>
  text !== undefined && numberOf("s", text) > 0 ? spaceId(text) : undefined
export const asChatId = (text: string | undefined): ChatId | undefined =>
  text !== undefined && numberOf("c", text) >= 0 ? chatId(text) : undefined
export const asRunId = (text: string | undefined): RunId | undefined =>
  text !== undefined && numberOf("r", text) > 0 ? runId(text) : undefined

/** s2 before s10. */
export const byNumber = (left: string, right: string): number =>
  Number(left.slice(1)) - Number(right.slice(1))

/** -1 if the text is not such an id. Leading zeros are not ours (`r007` is not r7). */
const numberOf = (prefix: string, id: string): number =>
  id.startsWith(prefix) && /^(0|[1-9][0-9]{0,8})$/.test(id.slice(prefix.length))
    ? Number(id.slice(prefix.length))
    : -1
