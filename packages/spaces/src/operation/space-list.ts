import type { Space } from "../domain/space.ts"
import { lastChatStart } from "../store/chat-store.ts"
import { spacePlace } from "../store/place.ts"
import { lastRunStart } from "../store/run-store.ts"
import { listSpaces } from "../store/space-store.ts"
import { openState } from "./open-state.ts"
import { implement } from "./operation.ts"
import { sparse } from "./run-document.ts"
import { SPACE_LIST } from "./space.meta.ts"
import type { State } from "./state.ts"
import { columns } from "./text-table.ts"

export const spaceList = implement(SPACE_LIST, {
  run: async (input, world) => {
    const state = openState(world)
    const spaces = listSpaces(state.place).map((found) =>
      found.tag === "damaged"
        ? { space_id: found.id, status: "damaged" as const, last_active_at: undefined }
        : document(found.space, state),
    )
    const newestFirst = spaces
      .toReversed()
      .toSorted((left, right) => compare(right.last_active_at, left.last_active_at))
    return await Promise.resolve({ spaces: newestFirst.slice(0, input.limit).map((space) => sparse(space)) })
  },
  text: ({ spaces }) =>
    spaces.length === 0
      ? "(no spaces)"
      : columns(
          spaces.map((space) => [
            space.space_id,
            space.status,
            space.name ?? "-",
            space.last_active_at ?? "-",
          ]),
        ),
})

const document = (space: Space, state: State) => {
  const place = spacePlace(state.place, space.id)
  const times = [lastChatStart(place, state.onDamage), lastRunStart(place, state.onDamage), space.startedAt]
  return {
    space_id: space.id,
    status: space.status,
    name: space.name,
    started_at: space.startedAt,
    finished_at: space.finishedAt,
    last_active_at: times
      .filter((time) => time !== undefined)
      .toSorted(compare)
      .at(-1),
  }
}

const compare = (left: string | undefined, right: string | undefined): number =>
  (left ?? "").localeCompare(right ?? "")
