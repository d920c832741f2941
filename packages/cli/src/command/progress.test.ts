import { expect, test } from "vitest"

import { openLiveLines } from "../live-lines.ts"
import { openProgress } from "./progress.ts"

const scene = () => {
  let now = 0
  let drawn = ""
  const lines = openLiveLines(
    (text) => (drawn += text),
    () => ({ columns: 80, rows: 24 }),
  )
  return {
    world: { clock: { now: () => now, sleep: async () => {} }, openLive: async () => lines.show },
    at: (milliseconds: number) => {
      now = milliseconds
    },
    drawn: () => drawn,
  }
}

test("long work redraws one line and removes it at the end", async () => {
  const { world, at, drawn } = scene()
  const progress = await openProgress(world, "Indexing sessions")
  at(500)
  progress.show(1, 4)
  at(800)
  progress.show(3, 4)
  progress[Symbol.dispose]()
  const up = "\r\u001B[1A\u001B[J"
  expect(drawn()).toBe(`Indexing sessions: 25 %\n${up}Indexing sessions: 75 %\n${up}`)
})

test("short work writes nothing", async () => {
  const { world, at, drawn } = scene()
  const progress = await openProgress(world, "Indexing sessions")
  at(300)
  progress.show(1, 4)
  progress[Symbol.dispose]()
  expect(drawn()).toBe("")
})
