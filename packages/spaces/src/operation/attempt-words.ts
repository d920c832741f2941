/**
 * What an attempt is told besides its prompt. While it works, words that were sent and a note of its budget are offered to
 * whatever can tell them: the engine at its next step, a hook or plugin after the next tool. What nobody takes is the next message.
 * What was handed over counts as told once the conversation of the agent has it, so that a kill in between neither loses it nor
 * says it twice.
 */
import { statSync } from "node:fs"

import { harnessSessionId, type RunOffer } from "@meridian/protocol"

import { budgetNotice, type BudgetNotice, type RunSpent } from "../domain/run-caps.ts"
import type { RunAttempt } from "../domain/run.ts"
import type { Harness } from "../port/harness.ts"
import type { RunPlace } from "../store/place.ts"
import {
  noteHanded,
  noteTold,
  readTold,
  takeBack,
  waitingWords,
  writeTold,
  type SentWords,
} from "../store/run-inbox.ts"
import {
  forgetTaken,
  isOffered,
  makeOffer,
  offeredAt,
  takenOffer,
  withdrawOffer,
} from "../store/run-offer.ts"
import type { AttemptSpending } from "./attempt-spending.ts"
import { launchEnvironment } from "./launcher.ts"
import type { Leg } from "./run-context.ts"

export interface AttemptWords extends Disposable {
  /** Offers what is new, and sees what was taken. */
  readonly look: () => void
  /** Said with the next offer. */
  readonly ask: (question: string) => void
}

/** So much the context of a hook holds; more waits for the next message. */
const MOST_OFFERED = 8_000

export const openAttemptWords = (leg: Leg, spending: AttemptSpending, given: number): AttemptWords => {
  const { files, harness } = leg
  let doneUpTo = given
  let outstanding: RunOffer | undefined
  let notice: BudgetNotice | undefined
  let question: string | undefined
  let inboxSize = -1
  let words: readonly SentWords[] = []

  /** Whether the last offer is out of the way. */
  const seeTaken = (): boolean => {
    if (outstanding === undefined) return true
    if (isOffered(files)) return false
    const upTo = outstanding.words.at(-1)?.number
    if (upTo !== undefined) {
      doneUpTo = upTo
      if (harness.steering === "tool") noteHanded(files, { upTo, at: offeredAt(files), by: "offer" })
    }
    if (notice !== undefined) noteNotice(leg, notice)
    forgetTaken(files)
    outstanding = undefined
    notice = undefined
    question = undefined
    return true
  }

  const look = (): void => {
    if (harness.steering === "message") return
    const isFree = seeTaken()
    const size = sizeOf(files.inbox)
    if (size !== inboxSize) words = waitingWords(files)
    inboxSize = size
    const fresh = fitting(words.filter(({ number }) => number > doneUpTo))
    // The engine is told what it may use, and tells its agent by itself.
    const next = harness.steering === "tool" ? noticeOf(leg, spending) : undefined
    const note = [question, next?.text].filter((part) => part !== undefined).join("\n\n")
    const offer: RunOffer = {
      words: fresh.map(({ number, text }) => ({ number, text })),
      ...(note === "" ? {} : { note }),
    }
    if (fresh.length === 0 && note === "") return
    if (JSON.stringify(offer) === JSON.stringify(outstanding)) return
    // Taken at this very moment: seen at the next look.
    if (!isFree && !withdrawOffer(files)) return
    makeOffer(files, offer)
    outstanding = offer
    notice = next
  }

  return {
    look: () => {
      try {
        look()
      } catch {
        // A full disk: words wait for the next message, as they do without a hook.
      }
    },
    ask: (asked) => {
      question = asked
    },
    [Symbol.dispose]: () => {
      if (outstanding !== undefined && !withdrawOffer(files)) seeTaken()
    },
  }
}

const fitting = (words: readonly SentWords[]): readonly SentWords[] => {
  let left = MOST_OFFERED
  const end = words.findIndex(({ text }) => (left -= text.length + 2) < 0)
  return end === -1 ? words : words.slice(0, end)
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** The mark that was passed and not told yet. */
export const noticeOf = (
  { plan, files }: Pick<Leg, "plan" | "files">,
  spending: { readonly sum: () => RunSpent },
): BudgetNotice | undefined =>
  plan.caps === undefined ? undefined : budgetNotice(plan.caps, spending.sum(), readTold(files).budget ?? [])

export const noteNotice = ({ files }: Pick<Leg, "files">, { told }: BudgetNotice): void =>
  writeTold(files, { ...readTold(files), budget: told })

/**
 * What the last attempt was handed is told, or waits again. Called when it is over, also by a worker that finds it so.
 */
export const settleWords = async (
  { files, world }: Pick<Leg, "files" | "world">,
  last: RunAttempt | undefined,
  harness: Harness,
): Promise<void> => {
  seeLeftOffer(files, harness)
  const { handed, told } = readTold(files)
  if (handed === undefined) return
  const words = waitingWords(files).filter(({ number }) => number > told && number <= handed.upTo)
  const isThere =
    last?.why === "succeeded" ||
    (handed.by === "message" && last?.madeProgress === true) ||
    (last?.harnessSessionId !== undefined &&
      ((await harness.holdsWords?.({
        id: harnessSessionId(last.harnessSessionId),
        environment: launchEnvironment(world),
        sinceMs: Date.parse(handed.at),
        words: words.map(({ text }) => text),
      })) ??
        false))
  if (isThere) noteTold(files, handed.upTo)
  else takeBack(files)
}

/** Its worker was killed before it saw what became of it. */
const seeLeftOffer = (files: RunPlace, harness: Harness): void => {
  if (isOffered(files)) withdrawOffer(files)
  const taken = takenOffer(files)
  const upTo = taken?.words.at(-1)?.number
  if (upTo !== undefined && harness.steering === "tool")
    noteHanded(files, { upTo, at: offeredAt(files), by: "offer" })
  forgetTaken(files)
}
