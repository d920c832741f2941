import { expect, test } from "vitest"

import { openDatabase } from "./database.ts"
import { createGroupCommit, MOST_TOGETHER } from "./group-commit.ts"

/** A table of numbers on a database that counts its commits. */
const openScene = () => {
  let commits = 0
  let failing: Error | undefined
  const database = openDatabase({
    file: ":memory:",
    tap: (point) => {
      if (point !== "commit") return
      commits += 1
      if (failing !== undefined) throw failing
    },
  })
  const { raw } = database
  raw.exec("create table note (number integer)")
  const insert = raw.prepare("insert into note values (?)")
  const { join } = createGroupCommit(database)
  return {
    commits: () => commits,
    numbers: () =>
      raw
        .prepare("select number from note order by rowid")
        .all()
        .map((row) => row["number"]),
    /** Writes a number and returns what was reported. */
    write: (number: number, trouble?: Error) =>
      new Promise<string>((resolve) => {
        join(
          () => {
            insert.run(number)
            if (trouble !== undefined) throw trouble
            return number
          },
          {
            committed: (result) => resolve(`${result} in commit ${commits}`),
            failed: (cause) => resolve(`failed: ${cause instanceof Error ? cause.message : "?"}`),
          },
        )
      }),
    failWith: (error: Error) => {
      failing = error
    },
    [Symbol.dispose]: () => database.close(),
  }
}

test("what is written in one turn of the event loop is one commit, and told after it", async () => {
  using scene = openScene()
  const writes = [1, 2, 3].map((number) => scene.write(number))
  expect(scene.numbers()).toEqual([])
  expect(await Promise.all(writes)).toEqual(["1 in commit 1", "2 in commit 1", "3 in commit 1"])
  expect(scene.numbers()).toEqual([1, 2, 3])
})

test("what comes later is a separate commit", async () => {
  using scene = openScene()
  expect([await scene.write(1), await scene.write(2)]).toEqual(["1 in commit 1", "2 in commit 2"])
})

test("one that throws does not affect the others, and leaves nothing behind", async () => {
  using scene = openScene()
  const heard = await Promise.all([scene.write(1), scene.write(2, new Error("no")), scene.write(3)])
  expect(heard).toEqual(["1 in commit 1", "failed: no", "3 in commit 2"])
  expect(scene.numbers()).toEqual([1, 3])
})

test("a failed commit fails for every member, and nothing is written", async () => {
  using scene = openScene()
  scene.failWith(new Error("full"))
  expect(await Promise.all([scene.write(1), scene.write(2)])).toEqual(["failed: full", "failed: full"])
  expect([scene.numbers(), scene.commits()]).toEqual([[], 1])
})

test("a transaction has a bounded size, and the rest goes into the next one", async () => {
  using scene = openScene()
  await Promise.all(Array.from({ length: MOST_TOGETHER + 1 }, (_, number) => scene.write(number)))
  expect([scene.commits(), scene.numbers().length]).toEqual([2, MOST_TOGETHER + 1])
})
