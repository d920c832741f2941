/** A context source as an embedding program writes it. */
import type { Json } from "@meridian/protocol"

import type { ContextSource } from "../port/context-source.ts"
import type { Sleep } from "../port/time.ts"

export interface EmbedderSource {
  readonly key: string
  /** The value; null when there is no value any more; undefined when it cannot be read now. */
  readonly observe: () => unknown
  readonly baseline: string | ((value: never) => string)
  readonly update?: string | ((previous: never, value: never) => string)
  readonly removed?: string | ((previous: never) => string)
}

export const embedderSource = (source: EmbedderSource, sleep: Sleep): ContextSource => ({
  key: source.key,
  observe: async () => {
    const value = await within(OBSERVATION_MS, sleep, async () => source.observe())
    if (value === undefined) return { kind: "unavailable" }
    if (value === null) return { kind: "absent" }
    return { kind: "value", value: toJson(value) }
  },
  baseline: (value) => say(source, source.baseline, value),
  update: (previous, value) =>
    source.update === undefined
      ? say(source, source.baseline, value)
      : say(source, source.update, previous, value),
  removal: (value) =>
    source.removed === undefined ? `${source.key} no longer applies.` : say(source, source.removed, value),
})

/** A source that takes longer counts as unavailable. */
const OBSERVATION_MS = 10_000

const within = async (ms: number, sleep: Sleep, look: () => Promise<unknown>): Promise<unknown> => {
  const done = new AbortController()
  const late = sleep(ms, done.signal).catch(() => undefined)
  try {
    return await Promise.race([look(), late])
  } finally {
    done.abort()
  }
}

/** If a text cannot be made, the model gets the value itself. That is no reason to stop a session. */
const say = (
  { key }: EmbedderSource,
  text: string | ((...values: never[]) => string),
  ...values: readonly Json[]
): string => {
  if (typeof text === "string") return text
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the embedder's own value comes back to it
    return String((text as (...told: readonly Json[]) => unknown)(...values))
  } catch {
    return `${key}: ${JSON.stringify(values.at(-1))}`
  }
}

/** The part of a value that survives storage in the log. */
const toJson = (value: unknown): Json => {
  const text = JSON.stringify(value)
  // oxlint-disable-next-line eslint/no-restricted-properties, typescript/no-unsafe-type-assertion -- the codec of foreign values
  return text === undefined ? String(value) : (JSON.parse(text) as Json)
}
