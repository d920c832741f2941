/** Sent words that still wait, and when the agent will get them. */
import type { Run } from "../domain/run.ts"
import type { Harness } from "../port/harness.ts"
import type { RunPlace } from "../store/place.ts"
import { readTold, waitingWords } from "../store/run-inbox.ts"
import type { WordsDocument } from "./run-schema.ts"

export const wordsDocument = (
  files: RunPlace,
  run: Pick<Run, "status">,
  { steering }: Pick<Harness, "steering">,
): WordsDocument | undefined => {
  const waiting = waitingWords(files)
  const handedUpTo = readTold(files).handed?.upTo ?? 0
  if (waiting.length === 0) return undefined
  return {
    told: run.status === "running" ? steering : "message",
    waiting: waiting.map(({ number, at, text }) => ({ at, text, handed_over: number <= handedUpTo })),
  }
}

export const TOLD_WHEN: Readonly<Record<WordsDocument["told"], string>> = {
  step: "at its next step",
  tool: "after its next tool, else with its next message",
  message: "with its next message",
}
