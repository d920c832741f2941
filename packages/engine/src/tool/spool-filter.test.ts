import { readFileSync } from "node:fs"

import { expect, test } from "vitest"

import { openWorkspace } from "../../../../test/tool-scene.ts"
import { openSpool, withFilter } from "./spool.ts"

/** Removes "KEY" and holds back only possible beginnings of it. */
const filter = () => {
  let held = ""
  return {
    push: (piece: string): string => {
      const text = (held + piece).replaceAll("KEY", "*")
      held = /K?E?$/.exec(text)?.[0] ?? ""
      return held === "" ? text : text.slice(0, -held.length)
    },
    end: (): string => held,
  }
}

test("what a filter removes is neither in the text nor in the kept file, and every other byte is", async () => {
  await using space = await openWorkspace()
  const spool = withFilter(
    openSpool(space.outputDirectory, { lines: 4, bytes: 40, fileBytes: 1_000 }),
    filter(),
  )
  const whole = Buffer.concat([
    Buffer.from("a KEY é\n".repeat(20)),
    Buffer.from([0, 0xff, 0xc3, 10]),
    Buffer.from("the end K"),
  ])
  for (let at = 0; at < whole.length; at += 3) await spool.push(whole.subarray(at, at + 3))
  const { text, outputPath = "" } = await spool.finish()
  expect(text).not.toContain("KEY")
  expect(text.endsWith("the end K")).toBe(true)
  const expected = whole.toString("latin1").replaceAll("KEY", "*")
  expect(readFileSync(outputPath).toString("latin1")).toBe(expected)
})

test("without a filter a spool is itself", async () => {
  await using space = await openWorkspace()
  const spool = openSpool(space.outputDirectory)
  expect(withFilter(spool, undefined)).toBe(spool)
})
