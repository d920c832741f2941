/**
 * What an attempt is told besides its prompt. While it works, sent words and a note about its budget are offered to
 * the part that can deliver them: the engine at its next step, a hook or plugin after the next tool. Offers that are
 * not taken become the next message. Words that were handed over count as told once the agent's conversation has
 * them, so a kill in between neither loses nor repeats them.
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
  /** Offers new words, and notices which were taken. */
  readonly look: () => void
  /** Adds the question to the next offer, or takes it out. */
  readonly ask: (question: string | undefined) => void
}

/** The context of a hook holds this much; more waits for the next message. */
const MOST_OFFERED = 8_000

export const openAttemptWords = (leg: Leg, spending: AttemptSpending, given: number): AttemptWords => {
  const { files, harness } = leg
  let doneUpTo = given
  let outstanding: RunOffer | undefined
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
    if (outstanding.budget !== undefined) noteNotice(leg, { told: outstanding.budget })
    forgetTaken(files)
    outstanding = undefined
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
    // The engine gets the caps and tells its agent itself.
    const next = harness.steering === "tool" ? noticeOf(leg, spending) : undefined
    const note = [question, next?.text].filter((part) => part !== undefined).join("\n\n")
    const offer: RunOffer = {
      words: fresh.map(({ number, text }) => ({ number, text })),
      ...(note === "" ? {} : { note }),
      ...(next === undefined ? {} : { budget: next.told }),
    }
    if (fresh.length === 0 && note === "") {
      if (!isFree && withdrawOffer(files)) outstanding = undefined
      return
    }
    if (JSON.stringify(offer) === JSON.stringify(outstanding)) return
    // Taken at this very moment: the next look notices it.
    if (!isFree && !withdrawOffer(files)) return
    makeOffer(files, offer)
    outstanding = offer
  }

  return {
    look: () => {
      try {
        look()
      } catch {
        // A full disk: the words wait for the next message, as without a hook.
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

/** The budget mark that was passed but not told yet. */
export const noticeOf = (
  { plan, files }: Pick<Leg, "plan" | "files">,
  spending: { readonly sum: () => RunSpent },
): BudgetNotice | undefined =>
  plan.caps === undefined ? undefined : budgetNotice(plan.caps, spending.sum(), readTold(files).budget ?? [])

export const noteNotice = ({ files }: Pick<Leg, "files">, { told }: Pick<BudgetNotice, "told">): void =>
  writeTold(files, { ...readTold(files), budget: told })

/**
 * Words handed to the last attempt count as told, or wait again. Called when the attempt is over, and by a worker
 * that finds it over.
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

/** The worker was killed before it saw the fate of its offer. */
const seeLeftOffer = (files: RunPlace, harness: Harness): void => {
  if (isOffered(files)) withdrawOffer(files)
  const taken = takenOffer(files)
  if (taken?.budget !== undefined) noteNotice({ files }, { told: taken.budget })
  const upTo = taken?.words.at(-1)?.number
  if (upTo !== undefined && harness.steering === "tool")
    noteHanded(files, { upTo, at: offeredAt(files), by: "offer" })
  forgetTaken(files)
}
