/** Finds the space that was used last. */
import type { Space } from "../domain/space.ts"
import { lastChatStart } from "../store/chat-store.ts"
import { spacePlace } from "../store/place.ts"
import { lastRunStart } from "../store/run-store.ts"
import { listSpaces } from "../store/space-store.ts"
import type { State } from "./state.ts"

export const activeSpaces = (state: State): readonly Space[] =>
  listSpaces(state.place).flatMap((found) =>
    found.tag === "space" && found.space.status === "active" ? [found.space] : [],
  )

/** The active space whose chat or run started last. A space in which nothing has started counts by its creation time. */
export const lastActiveSpace = (state: State): Space | undefined => {
  let last: { readonly space: Space; readonly at: string } | undefined
  for (const space of activeSpaces(state)) {
    const place = spacePlace(state.place, space.id)
    const at = [lastChatStart(place, state.onDamage), lastRunStart(place, state.onDamage), space.startedAt]
      .filter((time) => time !== undefined)
      .reduce((latest, time) => (time > latest ? time : latest), "")
    if (last === undefined || at >= last.at) last = { space, at }
  }
  return last?.space
}
