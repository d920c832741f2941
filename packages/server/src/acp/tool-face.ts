/**
 * A tool call as an editor shows it: its kind, a title, the places it touches and the change it makes. Pure. Derived only
 * from the call's input, so that a replay shows the same as live output.
 */
import { resolve } from "node:path"

import type { ToolCallContent, ToolCallLocation, ToolKind as ShownKind } from "@agentclientprotocol/sdk"
import {
  aboutCall,
  asObject,
  changeInCall,
  numberAt,
  oneLine,
  type Json,
  type RecordedContent,
  type ToolKind,
} from "@meridian/protocol"

import { ACP_LIMITS } from "./limits.ts"
import { patchDifferences } from "./patch-differences.ts"

export interface ToolFace {
  readonly kind: ShownKind
  readonly title: string
  readonly locations: ToolCallLocation[]
  /** The change it is about to make. */
  readonly content: ToolCallContent[]
}

export interface ShownCall {
  readonly tool: string
  readonly input?: Json | undefined
  readonly kind?: ToolKind | undefined
}

/** `directory`: the base of relative paths in the call. */
export const toolFace = ({ tool, input, kind }: ShownCall, directory: string): ToolFace => {
  const content = differencesOf({ tool, input, kind }, directory)
  const { path } = changeInCall(input)
  const touched = new Set(content.flatMap((part) => (part.type === "diff" ? [part.path] : [])))
  if (path !== undefined && kind !== "execute") touched.add(resolve(directory, path))
  const line = kind === "read" ? numberAt(asObject(input), "offset") : undefined
  return {
    kind: kind ?? "other",
    title: titleOf({ tool, input, kind }),
    locations: [...touched].map((place) => (line === undefined ? { path: place } : { path: place, line })),
    content,
  }
}

/** Whether the diff says more than the result's text. */
export const showsDifference = (kind: ToolKind | undefined): boolean => kind === "edit"

/** The answer of a call. The output of our own tools is not Markdown, so it goes into a code fence. */
export const resultContent = (
  kind: ToolKind | undefined,
  content: readonly RecordedContent[],
): ToolCallContent[] =>
  content.map((part): ToolCallContent => {
    if (part.type === "text") {
      const text = cut(part.text)
      return { type: "content", content: { type: "text", text: kind === undefined ? text : fenced(text) } }
    }
    return part.mediaType.startsWith("image/")
      ? { type: "content", content: { type: "image", mimeType: part.mediaType, data: part.base64 } }
      : { type: "content", content: { type: "text", text: `[${part.mediaType}]` } }
  })

/** The title of a session. */
export const shownTitle = (title: string): string => oneLine(title, ACP_LIMITS.titleCharacters)

const titleOf = ({ tool, input, kind }: ShownCall): string => {
  const about = aboutCall(input)
  const title = kind === "execute" ? (about ?? tool) : `${tool}${about === undefined ? "" : ` ${about}`}`
  return oneLine(title, ACP_LIMITS.titleCharacters)
}

const differencesOf = ({ input, kind }: ShownCall, directory: string): ToolCallContent[] => {
  if (!showsDifference(kind)) return []
  const difference = (path: string, before: string | undefined, after: string): ToolCallContent => ({
    type: "diff",
    path: resolve(directory, path),
    oldText: before === undefined ? null : cut(before),
    newText: cut(after),
  })
  const change = changeInCall(input)
  if (change.patch !== undefined)
    return patchDifferences(change.patch)
      .slice(0, ACP_LIMITS.differences)
      .map(({ path, before, after }) => difference(path, before, after))
  return change.path === undefined
    ? []
    : [difference(change.path, change.before, change.after ?? change.content ?? "")]
}

const cut = (text: string): string => {
  const more = text.length - ACP_LIMITS.contentCharacters
  return more <= 0 ? text : `${text.slice(0, ACP_LIMITS.contentCharacters)}\n[${more} characters more]`
}

/** A fence that is longer than any fence inside the text. */
const fenced = (text: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length))
  const fence = "`".repeat(longest + 1)
  return `${fence}\n${text.replace(/\n$/, "")}\n${fence}`
}
