/**
 * Credentials in use, and how they are kept out of what is recorded. A provider may repeat the key it was sent, and a
 * command may print its environment. Neither may end up in an event.
 */
import type { ModelEvent } from "../port/model.ts"
import type { ModelConfig } from "./config.ts"
import { brokenForms, formsOf } from "./encoded-key.ts"
import { HIDDEN } from "./redact.ts"

/** The key, secret headers, and a password before the host in the URL. */
export const secretsOf = ({
  apiKey,
  headers = {},
  baseURL = "",
}: Pick<ModelConfig, "apiKey" | "headers" | "baseURL">): readonly string[] => {
  const password = /^\w+:\/\/[^/@:]*:([^/@]+)@/.exec(baseURL)?.[1]
  return [
    ...(apiKey === undefined ? [] : [apiKey]),
    ...Object.entries(headers)
      .filter(([name]) => SECRET_HEADER.test(name))
      .map(([, value]) => value),
    ...(password === undefined ? [] : [password]),
  ]
}

const SECRET_HEADER = /authorization|key|token|secret|cookie/i

/** Local servers get words such as `ollama` as a key. Those are not secret and appear in ordinary text. */
const SHORTEST_KEY = 16

export type Hide = (text: string) => string

/** Undefined when there is nothing to hide. */
export const openHide = (secrets: readonly string[]): Hide | undefined => {
  const keys = keysOf(secrets)
  return keys === undefined ? undefined : (text) => hideKeys(text, keys)
}

/** For one text that arrives in pieces. Text that could begin a key waits for the next piece or the end. */
export interface HidePieces {
  readonly push: (piece: string) => string
  readonly end: () => string
}

export const openHidePieces = (secrets: readonly string[]): (() => HidePieces) | undefined => {
  const keys = keysOf(secrets)
  return keys === undefined ? undefined : () => hidePieces(keys)
}

const hidePieces = (keys: Keys): HidePieces => {
  let held = ""
  return {
    push: (piece) => {
      const text = hideKeys(held + piece, keys)
      const kept = longestBeginning(text, keys.forms)
      held = kept === 0 ? "" : text.slice(-kept)
      return kept === 0 ? text : text.slice(0, -kept)
    },
    end: () => {
      const rest = held
      held = ""
      return rest
    },
  }
}

/** Filters the events of one answer. It may return more or fewer events than it got. */
export type HideEvents = (event: ModelEvent) => readonly ModelEvent[]

/** Makes a new filter per answer; undefined when there is nothing to hide. */
export const openHideEvents = (secrets: readonly string[]): (() => HideEvents) | undefined => {
  const keys = keysOf(secrets)
  return keys === undefined ? undefined : () => watchFor(keys)
}

const watchFor = (keys: Keys): HideEvents => {
  const blocks = new Map<string, HidePieces>()

  const blockOf = (id: string): HidePieces => {
    const known = blocks.get(id) ?? hidePieces(keys)
    blocks.set(id, known)
    return known
  }
  const release = (id: string): string => {
    const rest = blocks.get(id)?.end() ?? ""
    blocks.delete(id)
    return rest
  }
  return (event) => {
    switch (event.type) {
      case "text-delta":
      case "reasoning-delta":
      case "tool-input-delta": {
        const delta = blockOf(event.id).push(event.delta)
        return delta === "" && event.delta !== "" ? [] : [delta === event.delta ? event : { ...event, delta }]
      }
      case "text-end":
        return withRest("text-delta", release(event.id), hideWhole(event, keys))
      case "reasoning-end":
        return withRest("reasoning-delta", release(event.id), hideWhole(event, keys))
      case "tool-input-end":
        return withRest("tool-input-delta", release(event.id), event)
      case "tool-call":
      case "tool-result":
      case "finish":
      case "text-start":
      case "reasoning-start":
      case "tool-input-start":
        return [hideWhole(event, keys)]
    }
  }
}

const withRest = (
  type: "text-delta" | "reasoning-delta" | "tool-input-delta",
  delta: string,
  end: Extract<ModelEvent, { readonly id: string }>,
): readonly ModelEvent[] => (delta === "" ? [end] : [{ type, id: end.id, delta }, end])

interface Keys {
  readonly forms: readonly string[]
  readonly broken: (text: string) => RegExp | undefined
}

/** Undefined when there is nothing to hide. */
const keysOf = (secrets: readonly string[]): Keys | undefined => {
  const forms = [...new Set(secrets)].filter((secret) => secret.length >= SHORTEST_KEY).flatMap(formsOf)
  return forms.length === 0 ? undefined : { forms, broken: brokenForms(forms) }
}

const hideKeys = (text: string, { forms, broken }: Keys): string => {
  let rest = forms.reduce((left, key) => (left.includes(key) ? left.replaceAll(key, HIDDEN) : left), text)
  for (let found = broken(rest); found !== undefined; found = broken(rest)) rest = rest.replace(found, HIDDEN)
  return rest
}

/** Searches the JSON, because a key may be anywhere in native data. Nothing is rebuilt when none is found. */
const hideWhole = <Event extends ModelEvent>(event: Event, { forms }: Keys): Event => {
  const text = JSON.stringify(event)
  const found = forms.filter((key) => text.includes(asInJson(key)))
  if (found.length === 0) return event
  // eslint-disable-next-line eslint/no-restricted-properties, typescript/no-unsafe-type-assertion -- the event itself, one text replaced
  return JSON.parse(found.reduce((rest, key) => rest.replaceAll(asInJson(key), HIDDEN), text)) as Event
}

const asInJson = (key: string): string => JSON.stringify(key).slice(1, -1)

/** How many characters at the end of the text may begin a key. */
const longestBeginning = (text: string, keys: readonly string[]): number => {
  let longest = 0
  for (const key of keys) {
    const first = key.charAt(0)
    for (
      let at = text.indexOf(first, Math.max(0, text.length - key.length + 1));
      at !== -1 && text.length - at > longest;
      at = text.indexOf(first, at + 1)
    )
      if (key.startsWith(text.slice(at))) longest = text.length - at
  }
  return longest
}
