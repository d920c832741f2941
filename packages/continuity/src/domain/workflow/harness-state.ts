/**
 * The two JSON files of the harness. Their shape is not ours: only the few names that mean a status are read, and
 * everything else is ignored.
 */
import { asObject, isJsonList, isJsonObject, textAt } from "@meridian/protocol"

import { type Stage, BUG_STAGES } from "./stage.ts"

/** `JSON.parse` for values from outside; undefined when it is not JSON. */
const decodeJson = (text: string): unknown => {
  if (text === "") return undefined
  try {
    // oxlint-disable-next-line no-restricted-properties -- this is the decoder; every value is checked below
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export interface FeatureCount {
  readonly passing: number
  readonly total: number
}

/** feature_list.json: a list of features, bare or in an object, each with `passes`, `status` or `done`. */
export const readFeatureCount = (text: string): FeatureCount | undefined => {
  const value = decodeJson(text)
  const list = Array.isArray(value) ? value : listIn(value)
  if (list === undefined || list.length === 0) return undefined
  return { passing: list.filter(isPassing).length, total: list.length }
}

export interface BugState {
  readonly stage: Stage | undefined
  /** Its note on the work, as text. */
  readonly note: string | undefined
  /** Its status, often one word. */
  readonly status: string | undefined
}

/** bug_state.json: `stage` (a canonical name), a sentence in `summary`, `note` or `message`, and a `status`. */
export const readBugState = (text: string): BugState => {
  const value = decodeJson(text)
  const firstOf = (names: readonly string[]): string | undefined =>
    names.map((name) => textIn(value, name)).find((said) => said !== undefined)
  const stage = firstOf(["stage", "current_stage", "currentStage", "workflow_stage", "phase"])
  const status = firstOf(["status", "state"])
  const sentence = status?.includes(" ") === true ? status : undefined
  return {
    stage: BUG_STAGES.find((name) => name === stage),
    note: firstOf(["summary", "note", "notes", "message"]) ?? sentence,
    status,
  }
}

/** The first list of an object. */
const listIn = (value: unknown): readonly unknown[] | undefined =>
  isJsonObject(value) ? Object.values(value).find(isJsonList) : undefined

const textIn = (value: unknown, name: string): string | undefined => {
  const text = textAt(asObject(value), name)?.trim()
  return text === "" ? undefined : text
}

const isPassing = (feature: unknown): boolean => {
  if (!isJsonObject(feature)) return false
  if (feature["passes"] === true || feature["done"] === true || feature["completed"] === true) return true
  const status = textIn(feature, "status")
  return status !== undefined && /^(?:pass(?:ed|es|ing)?|done|completed?|verified)$/i.test(status)
}
