/**
 * What the model is told besides the conversation, as an algebra of independent sources. Each source is observed, compared
 * with what the model was last told, and mentioned only when it changed. Pure: these functions decide, the runner acts.
 *
 *   epoch = one immutable baseline + a hidden snapshot of what each source last said
 */
import type { ContextSnapshot, Json } from "@meridian/protocol"

import { sameJson } from "./same-json.ts"

export interface SourceTexts {
  readonly key: string
  /** The first, complete text. */
  readonly baseline: (value: Json) => string
  /** The text for a change from one value to another. */
  readonly update: (previous: Json, value: Json) => string
  /** The text for the source's removal. Rendered together with the value, because the source may be gone by then. */
  readonly removal: (value: Json) => string
}

export type Observed =
  | { readonly kind: "value"; readonly value: Json }
  /** Cannot be read now: the last text stays in force. */
  | { readonly kind: "unavailable" }
  /** Known to be absent. */
  | { readonly kind: "absent" }
  /** Deliberately not observed now: the last text stays in force, and nothing waits for it. */
  | { readonly kind: "unobserved" }

/** In the order in which the model is told. */
export type Observation = readonly { readonly source: SourceTexts; readonly observed: Observed }[]

export type Initialization =
  | { readonly kind: "baseline"; readonly baseline: string; readonly snapshot: ContextSnapshot }
  | { readonly kind: "blocked"; readonly keys: readonly string[] }

/** The first observation must be complete: a prompt never becomes visible with half a context. */
export const initialize = (observation: Observation): Initialization => {
  const blocked = observation.flatMap(({ source, observed }) =>
    observed.kind === "unavailable" ? [source.key] : [],
  )
  return blocked.length > 0 ? { kind: "blocked", keys: blocked } : render(observation)
}

export type Reconciliation =
  | { readonly kind: "unchanged" }
  | {
      readonly kind: "updated"
      readonly text: string
      readonly changed: ContextSnapshot
      readonly removed: readonly string[]
    }

export const reconcile = (snapshot: ContextSnapshot, observation: Observation): Reconciliation => {
  const texts: string[] = []
  const changed: Record<string, ContextSnapshot[string]> = {}
  const removed: string[] = []
  const seen = new Set<string>()
  for (const { source, observed } of observation) {
    seen.add(source.key)
    const previous = snapshot[source.key]
    if (observed.kind === "unavailable" || observed.kind === "unobserved") continue
    if (observed.kind === "absent") {
      if (previous === undefined) continue
      removed.push(source.key)
      texts.push(previous.removal)
      continue
    }
    const { value } = observed
    if (previous !== undefined && sameJson(previous.value, value)) continue
    changed[source.key] = { value, removal: source.removal(value) }
    texts.push(previous === undefined ? source.baseline(value) : source.update(previous.value, value))
  }
  // A source that is no longer observed has left the scope. The model is told that it is gone.
  for (const [key, previous] of Object.entries(snapshot))
    if (!seen.has(key)) {
      removed.push(key)
      texts.push(previous.removal)
    }
  if (Object.keys(changed).length === 0 && removed.length === 0) return { kind: "unchanged" }
  return { kind: "updated", text: joinTexts(texts), changed, removed }
}

/** After a compaction: a fresh baseline, or the old one while a source that was told before is unavailable. */
export const rebaseline = (snapshot: ContextSnapshot, observation: Observation): Initialization => {
  const blocked = observation.flatMap(({ source, observed }) =>
    observed.kind === "unavailable" && snapshot[source.key] !== undefined ? [source.key] : [],
  )
  return blocked.length > 0 ? { kind: "blocked", keys: blocked } : render(observation)
}

/** The snapshot after an update. Tests check the law that it equals the fold of all updates. */
export const advance = (
  snapshot: ContextSnapshot,
  update: { readonly changed: ContextSnapshot; readonly removed: readonly string[] },
): ContextSnapshot => {
  const gone = new Set(update.removed)
  const kept = Object.entries(snapshot).filter(([key]) => !gone.has(key))
  return { ...Object.fromEntries(kept), ...update.changed }
}

const render = (observation: Observation): Initialization => {
  const snapshot: Record<string, ContextSnapshot[string]> = {}
  const texts: string[] = []
  for (const { source, observed } of observation) {
    if (observed.kind !== "value") continue
    snapshot[source.key] = { value: observed.value, removal: source.removal(observed.value) }
    texts.push(source.baseline(observed.value))
  }
  return { kind: "baseline", baseline: joinTexts(texts), snapshot }
}

const joinTexts = (texts: readonly string[]): string => texts.filter((text) => text !== "").join("\n\n")
