/**
 * What OpenCode's messages say about a session: `{ info: { role, ... }, parts: [{ type: "tool", tool, state: { input } },
 * ...] }`. A compaction leaves an assistant message with `summary: true`; the messages before it give the working set at
 * that time.
 */
import { toolPaths, touchPaths, type Place, type WorkingSet } from "@meridian/continuity"

import { fieldOf, listField, textField } from "./field.ts"

export interface History {
  readonly paths: WorkingSet
  /** The working set at the last compaction; undefined when there was none. */
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
/** Calls repeat the same paths, so this many names contain enough different ones. */
const TOUCHED_LIMIT = 1000

export const readHistory = (messages: readonly unknown[], place: Place): History => {
  const lastSummary = messages.findLastIndex(isSummary)
  const users = messages
    .filter((message) => textField(fieldOf(message, "info"), "role") === "user")
    .toReversed()
  const latest = <Value>(read: (message: unknown) => Value | undefined): Value | undefined => {
    for (const message of users) {
      const value = read(message)
      if (value !== undefined) return value
    }
    return undefined
  }
  return {
    paths: pathsOf(messages, place),
    pathsAtCompaction: lastSummary === -1 ? undefined : pathsOf(messages.slice(0, lastSummary + 1), place),
    prompt: latest((message) => promptOf(listField(message, "parts"))),
    agent: latest((message) => textField(fieldOf(message, "info"), "agent")),
    model: latest((message) => modelOf(fieldOf(fieldOf(message, "info"), "model"))),
  }
}

/** From the newest call backwards, until a working set is full. */
const pathsOf = (messages: readonly unknown[], place: Place): WorkingSet => {
  const touched: string[] = []
  for (const message of messages.toReversed())
    for (const part of listField(message, "parts").slice(-PARTS_LIMIT).toReversed()) {
      touched.push(...pathsOfPart(part).toReversed())
      if (touched.length >= TOUCHED_LIMIT) return touchAll(touched, place)
    }
  return touchAll(touched, place)
}

const touchAll = (newestFirst: readonly string[], place: Place): WorkingSet =>
  touchPaths([], newestFirst.toReversed(), place)

export const isSummary = (message: unknown): boolean => {
  const info = fieldOf(message, "info")
  return fieldOf(info, "summary") === true && textField(info, "role") !== "user"
}

/** What the user typed: text parts not written by a program. Undefined when there are none. */
export const promptOf = (parts: readonly unknown[]): string | undefined => {
  const texts = parts.slice(0, PARTS_LIMIT).flatMap((part) => {
    const type = fieldOf(part, "type")
    const typed = (type === undefined || type === "text") && fieldOf(part, "synthetic") !== true
    const text = typed && fieldOf(part, "ignored") !== true ? textField(part, "text")?.trim() : undefined
    return text === undefined || text === "" ? [] : [text]
  })
  return texts.length === 0 ? undefined : texts.join(" ")
}

/** A slash and the name of a command. `//` is a path or a comment. */
export const commandIn = (prompt: string): string | undefined => /^\/([^/\s]\S*)/.exec(prompt)?.[1]

/** Paths that these messages name, in order. */
export const pathsIn = (messages: readonly unknown[]): readonly string[] =>
  messages.flatMap((message) => listField(message, "parts").slice(-PARTS_LIMIT).flatMap(pathsOfPart))

export const modelOf = (model: unknown): ModelName | undefined => {
  const providerID = textField(model, "providerID")
  const modelID = textField(model, "modelID") ?? textField(model, "id")
  return providerID === undefined || modelID === undefined ? undefined : { providerID, modelID }
}

/** Paths of tool calls and of files that the user attached. */
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
