/**
 * The doors of one connection, by session. At most so many are open: the one that rested longest gives way, and is opened
 * again when it is asked for.
 */
import { Failure } from "@meridian/protocol"

import type { Door } from "./door.ts"

export interface Doors<Wish> {
  readonly find: (session: string) => Door | undefined
  /** What the session was opened with, also after its door had to give way. */
  readonly wishOf: (session: string) => Wish | undefined
  /** Throws ACP_SESSIONS_FULL before anything is opened when every open one is at work. */
  readonly put: (session: string, wish: Wish, open: () => Promise<Door>) => Promise<void>
  readonly close: (session: string) => Promise<void>
  /** As `close`, and it is not opened again by itself. */
  readonly forget: (session: string) => Promise<void>
  readonly closeAll: () => Promise<void>
}

export const openDoors = <Wish>({ most }: { readonly most: number }): Doors<Wish> => {
  /** In the order they were last asked for. */
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
      // Somebody may have been faster, or the client gone meanwhile.
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
