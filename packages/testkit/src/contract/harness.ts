/**
 * What every harness adapter promises, whatever its stream looks like. A new adapter passes this with its own recordings;
 * the caller supplies the table of expected verdicts.
 */
import type { Harness } from "@meridian/spaces"
import { describe } from "vitest"

import { endingContract } from "./harness-ending.ts"
import { launchContract } from "./harness-launch.ts"
import type { RecordedRun } from "./harness-recording.ts"
import { streamContract } from "./harness-stream.ts"

export type { RecordedRun } from "./harness-recording.ts"

export const harnessContract = (harness: Harness, runs: readonly RecordedRun[]): void => {
  describe(`${harness.id} streams`, () => {
    streamContract(harness, runs)
  })
  describe(`${harness.id} endings`, () => {
    endingContract(harness, runs)
  })
  describe(`${harness.id} launches`, () => {
    launchContract(harness)
  })
}
