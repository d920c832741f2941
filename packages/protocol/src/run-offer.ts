/**
 * What the agent of a run should be told while it works: `runs/<rN>/offer.json`, written by the worker. Each reader that
 * can tell the agent (a hook, a plugin, the engine) takes it by renaming it to `taken.json`. So exactly one takes it, and
 * the worker sees that.
 */
import { decoder } from "./shape/decode.ts"
import { encoder } from "./shape/encode.ts"
import { INTEGER, listOf, NUMBER, objectOf, STRING, type TypeOf } from "./shape/shape.ts"

export const OFFER_FILE = "offer.json"
export const TAKEN_FILE = "taken.json"

export const BUDGET_MARK = objectOf({ measure: STRING, cap: NUMBER, percent: NUMBER })

/** `number` counts from 1 over the life of the run. */
export const RUN_WORDS = objectOf({ number: INTEGER, text: STRING })

const RUN_OFFER = objectOf(
  {
    /** Messages from people, oldest first. */
    words: listOf(RUN_WORDS),
  },
  {
    /** Our own note, about the budget or a long silence. */
    note: STRING,
    /** Which marks of which caps it tells of. */
    budget: listOf(BUDGET_MARK),
  },
)
export type RunOffer = TypeOf<typeof RUN_OFFER>

export const encodeRunOffer = encoder(RUN_OFFER, "snake")
export const decodeRunOffer = decoder(RUN_OFFER, { names: "snake", unknown: "strip" })

/** The text for an agent in the middle of its work. It begins like all our notes. */
export const sayOffer = ({ words, note }: RunOffer): string =>
  [
    ...(note === undefined ? [] : [note]),
    ...(words.length === 0 ? [] : [`${SENT}\n\n${words.map(({ text }) => text).join("\n\n")}`]),
  ].join("\n\n")

const SENT = "[meridian] Whoever started this run sends you this while you work:"
