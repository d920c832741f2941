/** A chat whose harness switched to another conversation (`/new` and `/sessions` of Direct): the record follows. */
import { asChatId, asSpaceId } from "../domain/identifier.ts"
import { readChats, updateChat } from "../store/chat-store.ts"
import { openPlace, spacePlace } from "../store/place.ts"
import type { World } from "./world.ts"

/** Does nothing outside a chat, or in a chat about another conversation than `from`. */
export const noteSession = async (
  { from, to }: { readonly from: string; readonly to: string },
  { env, cwd }: Pick<World, "env" | "cwd">,
): Promise<void> => {
  const space = asSpaceId(env["MERIDIAN_SPACE_ID"] ?? "")
  const chat = asChatId(env["MERIDIAN_CHAT_ID"] ?? "")
  if (space === undefined || chat === undefined) return
  const place = spacePlace(openPlace(env, cwd), space)
  const record = readChats(place, () => undefined).findLast(({ chatId }) => chatId === chat)
  if (record?.harnessSessionId === from) await updateChat(place, chat, to)
}
