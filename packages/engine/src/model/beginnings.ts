/**
 * What is known about the beginning of a conversation. A session sends its whole history every turn, and its messages stay
 * the same objects, so only messages since the last request need work. Comparing objects costs a tenth of reading them.
 */
import type { PromptMessage } from "../domain/prompt.ts"

/** An earlier prompt, and the value derived from it. */
export interface Known<Message, Value> {
  readonly messages: readonly Message[]
  readonly value: Value
}

export interface Beginnings<Message extends object, Value> {
  /** The longest known prompt that this one begins with, if any. */
  readonly find: (prompt: readonly Message[]) => Known<Message, Value> | undefined
  /** Replaces the prompt that this one extends: only the newest request of a conversation is kept. */
  readonly keep: (known: Known<Message, Value>, extended: Known<Message, Value> | undefined) => void
}

export const openBeginnings = <Message extends object, Value>(): Beginnings<Message, Value> => {
  /** Keyed by the last message, so an entry disappears with its session. */
  const byLast = new WeakMap<Message, Known<Message, Value>>()

  const find: Beginnings<Message, Value>["find"] = (prompt) => {
    for (let last = prompt.length - 1; last >= Math.max(0, prompt.length - LOOK_BACK); last -= 1) {
      const message = prompt[last]
      const known = message === undefined ? undefined : byLast.get(message)
      if (known?.messages.length === last + 1 && isBeginning(known.messages, prompt)) return known
    }
    return undefined
  }

  return {
    find,
    keep: (known, extended) => {
      const [before, last] = [extended?.messages.at(-1), known.messages.at(-1)]
      if (before !== undefined) byLast.delete(before)
      if (last !== undefined) byLast.set(last, known)
    },
  }
}

/** A plain loop, because it runs over the whole history of every request. */
const isBeginning = (beginning: readonly object[], prompt: readonly object[]): boolean => {
  for (let at = 0; at < beginning.length; at += 1) if (beginning[at] !== prompt[at]) return false
  return true
}

/** A turn adds its question, its answer and the results in between. */
const LOOK_BACK = 64

/** Whether any message of a prompt matches. Messages without a match are not checked again. */
export const openSearch = (
  isLike: (message: PromptMessage) => boolean,
): ((prompt: readonly PromptMessage[]) => boolean) => {
  const without = openBeginnings<PromptMessage, undefined>()
  return (prompt) => {
    const known = without.find(prompt)
    const from = known?.messages.length ?? 0
    if (prompt.slice(from).some(isLike)) return true
    if (from < prompt.length) without.keep({ messages: prompt, value: undefined }, known)
    return false
  }
}
