import { Failure, sessionId, type DurableEvent } from "@meridian/protocol"
import { expect, test } from "vitest"

import { openDatabase } from "./database.ts"
import { MOST_TOGETHER } from "./group-commit.ts"
import { createLog, type DrainWrite, type Fence, type Log } from "./log.ts"

const CALLED: DurableEvent = {
  type: "session.next.execution.failed.1",
  data: { error: { code: "x", message: "y" } },
}

/** Sessions with a lease each, on a database that counts its commits. */
const openScene = (count: number) => {
  let commits = 0
  let failing: Error | undefined
  let alone = false
  const database = openDatabase(":memory:", (point) => {
    if (point !== "commit") return
    commits += 1
    if (failing !== undefined) throw failing
  })
  const log = createLog({ database, now: () => 0, isAlone: () => alone })
  const drains = Array.from({ length: count }, (_, index) => {
    const id = sessionId(`ses_${index}`)
    const { row } = log.create(id, {
      type: "session.next.created.1",
      data: { sessionID: id, location: { directory: "/" } },
    })
    database.raw.prepare("insert into lease (session, fence, owner) values (?, 1, 'me')").run(row.key)
    const fence: Fence = { key: row.key, number: 1 }
    return { sessionID: id, fence }
  })
  commits = 0
  return {
    log,
    drains,
    commits: () => commits,
    beAlone: () => {
      alone = true
    },
    failWith: (error: Error) => {
      failing = error
    },
    seqs: () => drains.map(({ sessionID }) => log.head(sessionID).seq),
    [Symbol.dispose]: () => database.close(),
  }
}

const soon = (log: Log, drain: DrainWrite): Promise<void> => Promise.resolve(log.appendSoon(drain, [CALLED]))

const codeOf = async (write: unknown): Promise<string> => {
  try {
    await write
    return "done"
  } catch (cause) {
    return cause instanceof Failure ? cause.code : String(cause)
  }
}

test("what sessions write in one turn of the event loop is one commit, and told after it", async () => {
  using scene = openScene(5)
  const { log, drains } = scene
  const told: string[] = []
  log.onCommit((sessionID) => told.push(`${sessionID} after ${scene.commits()}`))
  const writes = drains.map((drain) => soon(log, drain))
  expect(scene.seqs()).toEqual([1, 1, 1, 1, 1])
  await Promise.all(writes)
  expect(scene.seqs()).toEqual([2, 2, 2, 2, 2])
  expect(told).toEqual(drains.map(({ sessionID }) => `${sessionID} after 1`))
})

test("a session that is alone waits for nobody, unless somebody waits already", async () => {
  using scene = openScene(2)
  const { log, drains } = scene
  const [one, other] = drains
  if (one === undefined || other === undefined) throw new Error("two sessions")
  const waiting = log.appendSoon(one, [CALLED])
  scene.beAlone()
  const behind = log.appendSoon(other, [CALLED])
  expect([waiting, behind, scene.seqs()]).toEqual([expect.any(Promise), expect.any(Promise), [1, 1]])
  await behind
  expect([log.appendSoon(one, [CALLED]), scene.seqs(), scene.commits()]).toEqual([undefined, [3, 2], 2])
})

test("one that is refused takes nothing from the others, and leaves nothing of its own", async () => {
  using scene = openScene(3)
  const { log, drains } = scene
  const [first, second, third] = drains
  if (first === undefined || second === undefined || third === undefined) throw new Error("three sessions")
  const told: string[] = []
  log.onCommit((sessionID, events) => told.push(`${sessionID} ${events.length}`))
  const outcomes = [
    codeOf(log.appendSoon(first, [CALLED])),
    codeOf(
      log.writeSoon(second, ({ append }) => {
        append([CALLED])
        throw new Failure("FENCED", { session: second.sessionID })
      }),
    ),
    codeOf(log.appendSoon({ ...third, fence: { ...third.fence, number: 7 } }, [CALLED])),
  ]
  expect(await Promise.all(outcomes)).toEqual(["done", "FENCED", "FENCED"])
  expect(scene.seqs()).toEqual([2, 1, 1])
  expect(told).toEqual([`${first.sessionID} 1`])
})

test("two writes of one session follow each other: the second sees the first", async () => {
  using scene = openScene(2)
  const { log, drains } = scene
  const [one, other] = drains
  if (one === undefined || other === undefined) throw new Error("two sessions")
  const seen: number[] = []
  const told: number[] = []
  log.onCommit((sessionID, events) =>
    told.push(...(sessionID === one.sessionID ? events.map(({ seq }) => seq) : [])),
  )
  await Promise.all(
    [one, one, other, one].map(async (drain) => {
      await log.writeSoon(drain, ({ session, append }) => {
        if (drain === one) seen.push(session.seq, told.length)
        append([CALLED])
      })
    }),
  )
  expect(seen).toEqual([1, 0, 2, 1, 3, 2])
  expect(told).toEqual([2, 3, 4])
})

test("a write that does not wait comes after those of its session that do", async () => {
  using scene = openScene(2)
  const { log, drains } = scene
  const [one, other] = drains
  if (one === undefined || other === undefined) throw new Error("two sessions")
  const order: string[] = []
  const waiting = log.writeSoon(one, ({ session }) => order.push(`waited at ${session.seq}`))
  log.append(other, [CALLED])
  expect(order).toEqual([])
  log.append(one, [CALLED])
  expect(order).toEqual(["waited at 1"])
  await waiting
})

test("a commit that fails is a failure of everyone in it, and nothing is written", async () => {
  using scene = openScene(2)
  const { log, drains } = scene
  scene.failWith(new Failure("DATABASE_UNWRITABLE", { file: "here", why: "full" }))
  const outcomes = drains.map((drain) => codeOf(log.appendSoon(drain, [CALLED])))
  expect(await Promise.all(outcomes)).toEqual(["DATABASE_UNWRITABLE", "DATABASE_UNWRITABLE"])
  expect([scene.seqs(), scene.commits()]).toEqual([[1, 1], 1])
})

test("who listens badly to one write keeps nothing from the others", async () => {
  using scene = openScene(3)
  const { log, drains } = scene
  log.onCommit((sessionID) => {
    if (sessionID === drains[1]?.sessionID) throw new Error("deaf")
  })
  const outcomes = drains.map((drain) => codeOf(log.appendSoon(drain, [CALLED])))
  expect(await Promise.all(outcomes)).toEqual(["done", "Error: deaf", "done"])
})

test("a transaction has room for so many, the rest has the next one", async () => {
  using scene = openScene(MOST_TOGETHER + 1)
  await Promise.all(scene.drains.map((drain) => soon(scene.log, drain)))
  expect(scene.commits()).toBe(2)
  expect(scene.seqs().every((seq) => seq === 2)).toBe(true)
})
