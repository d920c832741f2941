/**
 * `/undo`: what the last work did to files, and how each of them goes back. Pure. A call tells the text it replaced, so a file
 * goes back where the new text still stands there once, and a file that was made is removed while nobody has changed it.
 */
import { resolve } from "node:path"

import type { SessionEvent } from "@meridian/engine"
import { isJsonObject, type Json } from "@meridian/protocol"
import { patchDifferences } from "@meridian/server"

import { textAt } from "./describe.ts"

export interface Change {
  readonly callID: string
  /** Absolute. */
  readonly path: string
  /** Undefined: the file was not there before. */
  readonly before: string | undefined
  readonly after: string
  /** The call does not tell what was there. */
  readonly isLost: boolean
}

export interface LastWork {
  /** Newest first. */
  readonly changes: readonly Change[]
  /** Commands that ran beside: what they did is not known. */
  readonly commands: number
}

/** `undone`: calls that were taken back already. */
export const lastWork = (
  events: readonly SessionEvent[],
  { directory, undone }: { readonly directory: string; readonly undone: ReadonlySet<string> },
): LastWork => {
  const called = new Map<string, { readonly tool: string; readonly input: Json | undefined }>()
  let work: { changes: Change[]; commands: number } = { changes: [], commands: 0 }
  let last = work
  for (const event of events) {
    if (event.type === "session.next.prompt.promoted.1") work = { changes: [], commands: 0 }
    if (event.type === "session.next.tool.called.1")
      called.set(event.data.callID, { tool: event.data.tool, input: event.data.input })
    if (event.type !== "session.next.tool.success.1" || undone.has(event.data.callID)) continue
    const call = called.get(event.data.callID)
    if (call === undefined) continue
    const { callID, structured } = event.data
    work.changes.unshift(
      ...changesOf(call, structured)
        .map((change) => Object.assign(change, { callID, path: resolve(directory, change.path) }))
        .toReversed(),
    )
    if (call.tool === "bash") work.commands += 1
    if (work.changes.length > 0) last = work
  }
  return last
}

/** A file as it is now and as it becomes; undefined: it is not there. */
export type Files = ReadonlyMap<string, string | undefined>

export interface TakenBack {
  readonly files: Files
  /** Files that stay as they are. */
  readonly kept: readonly string[]
}

/** Each file goes back whole, or stays. */
export const takeBack = (changes: readonly Change[], now: Files): TakenBack => {
  const files = new Map<string, string | undefined>()
  const kept = new Set<string>()
  for (const change of changes) {
    const { path } = change
    const content = files.has(path) ? files.get(path) : now.get(path)
    const back = kept.has(path) ? undefined : goBack(change, content)
    if (back === undefined) {
      kept.add(path)
      files.delete(path)
    } else files.set(path, back.content)
  }
  return { files, kept: [...kept] }
}

const goBack = (
  { before, after, isLost }: Change,
  content: string | undefined,
): { readonly content: string | undefined } | undefined => {
  if (isLost || content === undefined) return undefined
  const toFile = (text: string): string => (content.includes("\r\n") ? text.replaceAll("\n", "\r\n") : text)
  if (before === undefined)
    return content === after || content === toFile(after) ? { content: undefined } : undefined
  const written = toFile(after)
  const at = content.indexOf(written)
  if (written === "" || at === -1 || content.includes(written, at + 1)) return undefined
  return { content: content.slice(0, at) + toFile(before) + content.slice(at + written.length) }
}

type Told = Omit<Change, "callID">

const changesOf = (
  { tool, input }: { readonly tool: string; readonly input: Json | undefined },
  structured: Json | undefined,
): readonly Told[] => {
  const first = (...names: readonly string[]): string | undefined =>
    names.map((name) => textAt(input, name)).find((text) => text !== undefined)
  if (tool === "apply_patch")
    return patchDifferences(first("patchText", "patch", "patch_text") ?? "").map(
      ({ path, from, before, after }) => ({
        path,
        before,
        after,
        // A deleted file's text is not in the patch, and a moved file would have to be moved back.
        isLost: (before === "" && after === "") || from !== undefined,
      }),
    )
  const path = first("path", "filePath", "file_path")
  if (path === undefined) return []
  if (tool === "write") {
    const isNew = isJsonObject(structured) && structured["outcome"] === "created"
    return [{ path, before: undefined, after: first("content", "contents", "text") ?? "", isLost: !isNew }]
  }
  if (tool !== "edit") return []
  const isEverywhere = isJsonObject(input) && (input["replaceAll"] === true || input["replace_all"] === true)
  return [
    {
      path,
      before: first("oldString", "old_string", "oldText") ?? "",
      after: first("newString", "new_string", "newText") ?? "",
      isLost: isEverywhere,
    },
  ]
}
