/**
 * Requests that go to the server in groups: appends, and taking leases. A request that comes alone goes at once. Requests
 * that come in a crowd, or while others are on the way, wait and go together. With two lanes, one fills while the other
 * waits for the server's disk.
 */
import { nextTurn } from "../../port/next-turn.ts"
import { makeCrowd } from "../sqlite/crowd.ts"

export interface GroupQueue<Item, Answer> {
  readonly join: (item: Item) => Promise<Answer>
}

interface Waiting<Item, Answer> {
  readonly item: Item
  readonly resolve: (answer: Answer) => void
  readonly reject: (cause: unknown) => void
}

export const openGroupQueue = <Item extends { readonly key: number | string }, Answer>(options: {
  readonly lanes: readonly ((items: readonly Item[]) => Promise<readonly Answer[]>)[]
  readonly most: number
}): GroupQueue<Item, Answer> => {
  const waiting: Waiting<Item, Answer>[] = []
  const free = [...options.lanes]
  const crowd = makeCrowd()
  /** One request per session at a time: a second write is decided on the result of the first. */
  const underWay = new Set<Item["key"]>()

  /** Takes the oldest write of each session that has none under way. The others keep their order. */
  const take = (): readonly Waiting<Item, Answer>[] => {
    const taken: Waiting<Item, Answer>[] = []
    for (let index = 0; index < waiting.length && taken.length < options.most;) {
      const entry = waiting[index]
      if (entry === undefined || underWay.has(entry.item.key)) {
        index += 1
        continue
      }
      underWay.add(entry.item.key)
      taken.push(entry)
      waiting.splice(index, 1)
    }
    return taken
  }

  const pump = (): void => {
    while (free.length > 0) {
      const batch = take()
      if (batch.length === 0) return
      const lane = free.pop()
      if (lane !== undefined) void travel(lane, batch)
    }
  }

  const travel = async (
    lane: (items: readonly Item[]) => Promise<readonly Answer[]>,
    batch: readonly Waiting<Item, Answer>[],
  ): Promise<void> => {
    try {
      const answers = await lane(batch.map(({ item }) => item))
      for (const [index, { resolve, reject }] of batch.entries()) {
        const answer = answers[index]
        if (answer === undefined) reject(new Error("one of a group got no answer"))
        else resolve(answer)
      }
    } catch (cause) {
      for (const { reject } of batch) reject(cause)
    }
    for (const { item } of batch) underWay.delete(item.key)
    free.push(lane)
    pump()
  }

  return {
    join: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        if (crowd.join()) void nextTurn().then(pump)
        else pump()
      }),
  }
}
