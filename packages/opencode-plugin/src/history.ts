/**
 * What OpenCode's messages say about a session: `{ info: { role, ... }, parts: [{ type: "tool", tool, state: { input } }, ...] }`.
 * A compaction leaves an assistant message with `summary: true`; what stood before it is the working set it started from.
 */
import { toolPaths, touchPaths, type Place, type WorkingSet } from "@meridian/continuity"

import { fieldOf, listField, textField } from "./field.ts"

export interface History {
  readonly paths: WorkingSet
  /** The working set at the last compaction; nothing when there was none. */
  readonly pathsAtCompaction: WorkingSet | undefined
  readonly prompt: string | undefined
  readonly agent: string | undefined
  readonly model: ModelName | undefined
}

export interface ModelName {
  readonly providerID: string
  readonly modelID: string
}

const PARTS_LIMIT = 200

export const readHistory = (messages: readonly unknown[], place: Place): History => {
  let paths: WorkingSet = []
  let pathsAtCompaction: WorkingSet | undefined
  let prompt: string | undefined
  let agent: string | undefined
  let model: ModelName | undefined
  for (const message of messages) {
    const info = fieldOf(message, "info")
    const parts = listField(message, "parts").slice(0, PARTS_LIMIT)
    paths = touchPaths(paths, parts.flatMap(pathsOfPart), place)
    if (isSummary(message)) pathsAtCompaction = paths
    if (textField(info, "role") !== "user") continue
    prompt = promptOf(parts) ?? prompt
    agent = textField(info, "agent") ?? agent
    model = modelOf(fieldOf(info, "model")) ?? model
  }
  return { paths, pathsAtCompaction, prompt, agent, model }
}

export const isSummary = (message: unknown): boolean => {
  const info = fieldOf(message, "info")
  return fieldOf(info, "summary") === true && textField(info, "role") !== "user"
}

/** What the person typed: text parts that no program wrote. Nothing when there is none. */
export const promptOf = (parts: readonly unknown[]): string | undefined => {
  const texts = parts.slice(0, PARTS_LIMIT).flatMap((part) => {
    const type = fieldOf(part, "type")
    const typed = (type === undefined || type === "text") && fieldOf(part, "synthetic") !== true
    return typed && fieldOf(part, "ignored") !== true ? (textField(part, "text") ?? []) : []
  })
  return texts.length === 0 ? undefined : texts.join(" ")
}

export const modelOf = (model: unknown): ModelName | undefined => {
  const providerID = textField(model, "providerID")
  const modelID = textField(model, "modelID") ?? textField(model, "id")
  return providerID === undefined || modelID === undefined ? undefined : { providerID, modelID }
}

/** Tool calls and files a person attached. */
const pathsOfPart = (part: unknown): readonly string[] => {
  switch (fieldOf(part, "type")) {
    case "tool":
      return toolPaths({
        tool: textField(part, "tool") ?? "",
        input: fieldOf(fieldOf(part, "state"), "input"),
      })
    case "file":
      return attachedFile(part)
    default:
      return []
  }
}

const attachedFile = (part: unknown): readonly string[] => {
  const path = textField(fieldOf(part, "source"), "path")
  if (path !== undefined) return [path]
  const url = textField(part, "url")
  if (url === undefined || !url.startsWith("file://") || url.length > 4096) return []
  try {
    return [decodeURIComponent(new URL(url).pathname)]
  } catch {
    return []
  }
}
