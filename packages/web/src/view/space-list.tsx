import { fragmentOf } from "../domain/route.ts"
import { agoText } from "../domain/text.ts"
import { useApp } from "../state/app.ts"
import { Status } from "./session-list.tsx"

export const SpaceList = () => {
  const { spaces, route } = useApp()
  const list = spaces.value
  if (list === undefined) return <p class="empty">Loading…</p>
  if (list.length === 0)
    return (
      <p class="empty">
        No spaces yet. <code>meridian start</code> makes one.
      </p>
    )
  const here = route.value
  const open = here.place === "space" ? here.id : here.place === "run" ? here.spaceID : undefined
  return (
    <ul class="cards">
      {list.map((space) => (
        <li key={space.spaceId}>
          <a
            class="card"
            href={fragmentOf({ place: "space", id: space.spaceId })}
            aria-current={space.spaceId === open ? "true" : undefined}
          >
            <span class="card-title">{space.name ?? space.spaceId}</span>
            <Status status={space.status} />
            <span class="card-facts">
              {space.spaceId}
              {space.lastActiveAt === undefined
                ? ""
                : ` · ${agoText(Date.parse(space.lastActiveAt), Date.now())}`}
            </span>
          </a>
        </li>
      ))}
    </ul>
  )
}
