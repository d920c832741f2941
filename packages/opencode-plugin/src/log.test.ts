import { expect, test } from "vitest"

import { openLog } from "./log.ts"
import type { World } from "./world.ts"

const openWorld = (isScreen: boolean, printed: string[]): World => ({
  environment: {},
  platform: "linux",
  clock: () => 0,
  now: () => 0,
  wait: () => ({ over: Promise.resolve(), cancel: () => undefined }),
  print: (line) => printed.push(line),
  isScreen,
})

test("P10: debug mode writes nothing where the host may be drawing", () => {
  const printed: string[] = []
  openLog(undefined, openWorld(true, printed), () => true).trace("Sent rules to session ses_1")
  expect(printed).toEqual([])
  openLog(undefined, openWorld(false, printed), () => true).trace("Sent rules to session ses_1")
  expect(printed).toEqual(["[opencode-rules] Sent rules to session ses_1"])
})
