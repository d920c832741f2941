/** Tells the person when a session of this engine ends its work or asks something (`notify.command`). */
import type { Engine, SessionInfo } from "@meridian/engine"
import { oneLine } from "@meridian/protocol"
import { notify, type Notice, type World } from "@meridian/spaces"

type Status = SessionInfo["status"]

/** How many sessions' last statuses are remembered. */
const MOST_SESSIONS = 1_000
const TITLE_CHARACTERS = 80

/** Runs until the engine closes. */
export const notifySessions = async (
  engine: Engine,
  command: readonly string[],
  world: Pick<World, "env" | "cwd" | "warn">,
): Promise<void> => {
  if (command.length === 0) return
  const { sessions } = engine
  const statuses = new Map<string, Status>()
  /** Sessions at work, whose end we await: settling writes no event. */
  const ends = new Map<string, Promise<void>>()

  const look = async (id: string): Promise<void> => {
    const session = await sessions.get(id)
    const notice = noticeOf(session, statuses.get(id), await questionOf(engine, session))
    statuses.delete(id)
    statuses.set(id, session.status)
    if (statuses.size > MOST_SESSIONS) statuses.delete(statuses.keys().next().value ?? "")
    if (session.status === "running" && !ends.has(id)) ends.set(id, lookAtEnd(id))
    if (notice !== undefined) await notify(command, notice, world)
  }

  const lookAtEnd = async (id: string): Promise<void> => {
    await sessions.wait(id).catch(() => undefined)
    ends.delete(id)
    await look(id).catch(() => undefined)
  }

  for await (const changed of sessions.changes())
    // A session that was deleted in between needs no notice.
    for (const id of changed.sessions) await look(id).catch(() => undefined)
  await Promise.all(ends.values())
}

/** What a change of status means to a person. Undefined: nothing. */
export const noticeOf = (
  session: Pick<SessionInfo, "id" | "title" | "status">,
  before: Status | undefined,
  question: string | undefined,
): Notice | undefined => {
  const { id, status } = session
  if (status === before) return undefined
  const name = oneLine(session.title ?? id, TITLE_CHARACTERS)
  const facts = { session: id, status }
  if (status === "waiting")
    return {
      event: "asks",
      message: `${name} asks${question === undefined ? "" : `: ${question}`}`,
      facts,
    }
  const worked = before === "running" || before === "waiting"
  if (status === "running" || !worked) return undefined
  return { event: "ended", message: `${name} ${status === "idle" ? "is done" : `ended: ${status}`}`, facts }
}

const questionOf = async (
  { permissions }: Engine,
  { id, status }: SessionInfo,
): Promise<string | undefined> => {
  if (status !== "waiting") return undefined
  const [asked] = await permissions.list({ sessionID: id }).catch(() => [])
  return asked === undefined ? undefined : `${asked.action} ${asked.resources.join(", ")}`
}
