import { Failure } from "@meridian/protocol"
import { expect, test } from "vitest"

import { openWork, type Settled, type WorkOptions } from "./work.ts"

/** A session whose waits end when the test says so. */
const openDesk = (shown: WorkOptions["shown"] = () => Promise.resolve()) => {
  const waits: PromiseWithResolvers<void>[] = []
  const told: (Settled | "begun")[] = []
  const sessions: Pick<WorkOptions["sessions"], "inputs" | "wait"> = {
    wait: () => {
      const wait = Promise.withResolvers<void>()
      waits.push(wait)
      return wait.promise
    },
    inputs: () => Promise.resolve([]),
  }
  const work = openWork({
    sessionID: "ses_1",
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of a session only its last event is asked for
    sessions: { ...sessions, get: () => Promise.resolve({ seq: 7 }) } as unknown as WorkOptions["sessions"],
    shown,
    onBegin: () => void told.push("begun"),
    onSettled: (ending) => void told.push(ending),
  })
  return { work, waits, told }
}

const ENDED: Settled = { failure: undefined, inputs: 0 }

test("work demanded while other work goes on has the same watcher, and is reported once", async () => {
  const { work, waits, told } = openDesk()
  const first = work.watch()
  await expect.poll(() => waits.length).toBe(1)
  await work.watch()
  work.beginStopping()
  waits[0]?.resolve()
  await expect.poll(() => waits.length).toBe(2)
  expect([work.isWorking(), work.isStopping(), told]).toEqual([true, true, ["begun"]])
  waits[1]?.resolve()
  await first
  expect([work.isWorking(), work.isStopping(), told]).toEqual([false, false, ["begun", ENDED]])
})

test("work demanded while the last events are being shown is watched too", async () => {
  const shows: PromiseWithResolvers<void>[] = []
  const { work, waits, told } = openDesk(() => {
    const show = Promise.withResolvers<void>()
    shows.push(show)
    return show.promise
  })
  const first = work.watch()
  await expect.poll(() => waits.length).toBe(1)
  waits[0]?.resolve()
  await expect.poll(() => shows.length).toBe(1)
  await work.watch()
  shows[0]?.resolve()
  await expect.poll(() => waits.length).toBe(2)
  expect(told).toEqual(["begun"])
  waits[1]?.resolve()
  await expect.poll(() => shows.length).toBe(2)
  shows[1]?.resolve()
  await first
  expect(told).toEqual(["begun", ENDED])
})

test("a failure is reported, a bug is thrown", async () => {
  const failure = new Failure("ENGINE_CLOSED")
  const failing = openDesk()
  const watched = failing.work.watch()
  await expect.poll(() => failing.waits.length).toBe(1)
  failing.waits[0]?.reject(failure)
  await watched
  expect(failing.told).toEqual(["begun", { failure, inputs: 0 }])
  const broken = openDesk()
  const thrown = broken.work.watch()
  await expect.poll(() => broken.waits.length).toBe(1)
  broken.waits[0]?.reject(new Error("a bug"))
  await expect(thrown).rejects.toThrow("a bug")
})

test("other work is awaited, and its failure goes to its caller", async () => {
  const { work, waits, told } = openDesk()
  const watched = work.watch(Promise.reject(new Error("not ours")))
  await expect.poll(() => waits.length).toBe(1)
  waits[0]?.resolve()
  await watched
  expect(told).toEqual(["begun", ENDED])
})
