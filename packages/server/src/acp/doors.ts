/**
 * The doors of one connection, by session. Their number is bounded: the one idle for longest is closed, and reopened on
 * demand.
 */
import { Failure } from "@meridian/protocol"

import type { Door } from "./door.ts"

export interface Doors<Wish> {
  readonly find: (session: string) => Door | undefined
  /** How the session was opened, even after its door was closed to make room. */
  readonly wishOf: (session: string) => Wish | undefined
  /** Throws ACP_SESSIONS_FULL before opening anything when all open sessions are at work. */
  readonly put: (session: string, wish: Wish, open: () => Promise<Door>) => Promise<void>
  readonly close: (session: string) => Promise<void>
  /** Like `close`, and the session is not reopened on demand. */
  readonly forget: (session: string) => Promise<void>
  readonly closeAll: () => Promise<void>
}

export const openDoors = <Wish>({ most }: { readonly most: number }): Doors<Wish> => {
  /** In the order of last use. */
  const doors = new Map<string, Door>()
  const wishes = new Map<string, Wish>()
  let isClosed = false

  const close = async (session: string): Promise<void> => {
    const door = doors.get(session)
    doors.delete(session)
    await door?.close()
  }

  const makeRoom = async (): Promise<void> => {
    if (doors.size < most) return
    const resting = [...doors].find(([, door]) => !door.isBusy())
    if (resting === undefined) throw new Failure("ACP_SESSIONS_FULL", { limit: most })
    await close(resting[0])
  }

  return {
    find: (session) => {
      const door = doors.get(session)
      if (door === undefined) return undefined
      doors.delete(session)
      doors.set(session, door)
      return door
    },
    wishOf: (session) => wishes.get(session),
    put: async (session, wish, open) => {
      await makeRoom()
      const door = await open()
      // Another request may have been faster, or the client may be gone by now.
      await close(session)
      doors.set(session, door)
      wishes.set(session, wish)
      if (isClosed) await close(session)
    },
    close,
    forget: async (session) => {
      wishes.delete(session)
      await close(session)
    },
    closeAll: async () => {
      isClosed = true
      await Promise.all([...doors.keys()].map(close))
    },
  }
}
