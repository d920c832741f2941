import { HARNESSES } from "@meridian/spaces"
import { harnessContract } from "@meridian/testkit/contract/harness"
import { expect, test } from "vitest"

import { recordedRuns, unmatched } from "./harness-recordings.ts"

test("every recording has a row in the table of verdicts", () => {
  expect(unmatched()).toEqual([])
})

for (const entry of HARNESSES) harnessContract(await entry.load(), recordedRuns(entry.id))
