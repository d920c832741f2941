/**
 * What several sessions write in one turn of the event loop shares one transaction: a commit costs as much for one as for
 * many, and many sessions would otherwise spend most of their time in it. A session that is alone waits for nobody. Each
 * write is still all or nothing, and nobody hears of one before it is committed.
 */
import type { Database } from "./database.ts"

/** The others wait while a transaction is open, and so does every other process. */
export const MOST_TOGETHER = 64

/** One write of one session. */
export interface Write<A> {
  readonly sessionID: string
  /** Inside the transaction; made again in one of its own when another write of the group refuses. */
  readonly body: () => A
  /** Right after the commit, before anyone is answered. */
  readonly committed: () => void
}

export interface GroupCommit {
  /** Committed when it returns, or else within this turn of the event loop. */
  readonly join: <A>(write: Write<A>) => A | Promise<A>
  /** Commits now what waits, if a write of this session is among it: what is written next comes after it. */
  readonly settle: (sessionID: string) => void
}

interface Member {
  readonly sessionID: string
  readonly body: () => void
  readonly succeed: () => void
  readonly fail: (cause: unknown) => void
}

export const createGroupCommit = (options: {
  readonly database: Pick<Database, "transact">
  /** Nobody else here is at work who could write in this turn of the event loop. */
  readonly isAlone: () => boolean
}): GroupCommit => {
  const { transact } = options.database
  let waiting: Member[] = []

  const flush = (): void => {
    while (waiting.length > 0) {
      const group = takeGroup()
      if (group.length === 1 || !commitTogether(group)) group.forEach(commitAlone)
    }
  }

  /** At most one write of a session: a second one must see what the first has done. */
  const takeGroup = (): readonly Member[] => {
    const group = new Map<string, Member>()
    const later: Member[] = []
    for (const member of waiting)
      if (group.has(member.sessionID) || group.size === MOST_TOGETHER) later.push(member)
      else group.set(member.sessionID, member)
    waiting = later
    return [...group.values()]
  }

  const commitAlone = ({ body, succeed, fail }: Member): void => {
    try {
      transact("NORMAL", body)
    } catch (cause) {
      return fail(cause)
    }
    succeed()
  }

  /** False when nothing was written because one of them refused: then each stands for itself. */
  const commitTogether = (group: readonly Member[]): boolean => {
    let refused = false
    try {
      transact("NORMAL", () => {
        refused = true
        for (const { body } of group) body()
        refused = false
      })
    } catch (cause) {
      if (!refused) for (const { fail } of group) fail(cause)
      return !refused
    }
    for (const { succeed } of group) succeed()
    return true
  }

  const writeNow = <A>({ body, committed }: Write<A>): A => {
    const result = transact("NORMAL", body)
    committed()
    return result
  }

  const wait = <A>({ sessionID, body, committed }: Write<A>): Promise<A> => {
    const { promise, resolve, reject } = Promise.withResolvers<A>()
    let result: A
    if (waiting.length === 0) setImmediate(flush)
    waiting.push({
      sessionID,
      body: () => {
        result = body()
      },
      succeed: () => {
        try {
          committed()
          resolve(result)
        } catch (cause) {
          // Its own trouble: the others of the group must still hear.
          reject(cause)
        }
      },
      fail: reject,
    })
    return promise
  }

  return {
    join: (write) => (waiting.length === 0 && options.isAlone() ? writeNow(write) : wait(write)),
    settle: (sessionID) => {
      if (waiting.some((member) => member.sessionID === sessionID)) flush()
    },
  }
}
