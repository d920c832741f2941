/**
 * The two JSON files of the harness. Their shape is not ours: whatever is there is looked at for the few names that mean
 * a status, and what is not understood says nothing.
 */
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

/** feature_list.json: a list of features, bare or under `features`/`tasks`, each with `passes`, `status` or `done`. */
export const readFeatureCount = (text: string): FeatureCount | undefined => {
  const value = decodeJson(text)
  const list = Array.isArray(value) ? value : (listIn(value, "features") ?? listIn(value, "tasks"))
  if (list === undefined || list.length === 0) return undefined
  return { passing: list.filter(isPassing).length, total: list.length }
}

export interface BugState {
  readonly stage: Stage | undefined
  readonly status: string | undefined
}

/** bug_state.json: `stage` (a canonical name) and a sentence under `status`, `note`, `summary` or `message`. */
export const readBugState = (text: string): BugState => {
  const value = decodeJson(text)
  const names = ["stage", "current_stage", "currentStage", "workflow_stage", "phase"]
  const stage = names.map((name) => textIn(value, name)).find((name) => name !== undefined)
  const said = ["summary", "note", "notes", "message", "status", "state"]
    .map((name) => textIn(value, name))
    .find((sentence) => sentence !== undefined)
  return { stage: BUG_STAGES.find((name) => name === stage), status: said }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const listIn = (value: unknown, name: string): readonly unknown[] | undefined => {
  const list = isRecord(value) ? value[name] : undefined
  return Array.isArray(list) ? list : undefined
}

const textIn = (value: unknown, name: string): string | undefined => {
  const text = isRecord(value) ? value[name] : undefined
  return typeof text === "string" && text.trim() !== "" ? text.trim() : undefined
}

const isPassing = (feature: unknown): boolean => {
  if (!isRecord(feature)) return false
  if (feature["passes"] === true || feature["done"] === true || feature["completed"] === true) return true
  const status = textIn(feature, "status")
  return status !== undefined && /^(?:pass(?:ed|es|ing)?|done|completed?|verified)$/i.test(status)
}
