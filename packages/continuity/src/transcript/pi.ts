/**
 * `~/.pi/agent/sessions/--<directory>--/<time>_<id>.jsonl`, following pi's own description of format version 3: a header
 * `{type: "session", version, id, timestamp, cwd}`, then entries with `id` and `parentId` that form a tree; the last entry
 * is the tip of the current branch. Version 1 has neither field: its entries are the conversation in order. `compaction`
 * replaces everything before `firstKeptEntryId`.
 */
import {
  countAt,
  numberAt,
  objectAt,
  textAt,
  wordAt,
  type Json,
  type JsonObject,
  type PromptFile,
  type RecordedContent,
} from "@meridian/protocol"

import { fileOf, mediaOf, textContent } from "./content.ts"
import { blocksIn, dated, timeOf, type About, type OpenReader } from "./conversation.ts"
import type { Piece } from "./piece.ts"

interface Entry {
  readonly parent: string | undefined
  readonly before: string | undefined
  readonly isMessage: boolean
}

interface Step {
  readonly id: string
  readonly isMessage: boolean
}

export const openPiReader: OpenReader = (losses) => {
  const entries = new Map<string, Entry>()
  let header: About | undefined
  let title: string | undefined
  let firstPrompt: string | undefined
  let tip: string | undefined
  let chosen: Set<string> | undefined
  /** The entries read so far, in order. A compaction keeps a tail of them. */
  let path: Step[] = []
  let turns = 0

  const survey = (entry: JsonObject): void => {
    const type = wordAt(entry, "type")
    const id = textAt(entry, "id")
    if (type === "session") {
      if (header !== undefined || id === undefined) return
      const directory = textAt(entry, "cwd")
      const began = timeOf(entry["timestamp"])
      header = {
        id,
        ...(directory === undefined ? {} : { directory }),
        ...(began === undefined ? {} : { began }),
      }
      return
    }
    if (type === "session_info") title = textAt(entry, "name") ?? title
    const message = objectAt(entry, "message")
    if (wordAt(message, "role") === "user") firstPrompt ??= textsOf(message?.["content"]).join("\n")
    if (id === undefined || entries.has(id)) return
    entries.set(id, { parent: textAt(entry, "parentId"), before: tip, isMessage: type === "message" })
    tip = id
  }

  const choose = (): Set<string> => {
    const branch = new Set<string>()
    for (let id = tip; id !== undefined && !branch.has(id);) {
      const entry: Entry | undefined = entries.get(id)
      if (entry === undefined) break
      branch.add(id)
      id = entry.parent === undefined || entries.has(entry.parent) ? entry.parent : entry.before
    }
    const left = [...entries].filter(([id, { isMessage }]) => isMessage && !branch.has(id))
    losses.add("branchMessages", left.length)
    losses.add("branches", left.filter(([, { parent }]) => parent === undefined || branch.has(parent)).length)
    return branch
  }

  const filesOf = (content: Json | undefined): readonly PromptFile[] =>
    blocksIn(content).flatMap((block): readonly PromptFile[] => {
      if (wordAt(block, "type") !== "image") return []
      const file = fileOf(textAt(block, "mimeType"), textAt(block, "data"), losses)
      return file === undefined ? [] : [file]
    })

  const readAssistant = (
    message: JsonObject,
    about: { readonly key?: string; readonly time?: number },
  ): readonly Piece[] => {
    turns += 1
    const turn = String(turns)
    const model = textAt(message, "model")
    const provider = textAt(message, "provider")
    const name = model === undefined || provider === undefined ? model : `${provider}/${model}`
    const of = { turn, agent: "pi", ...about, ...(name === undefined ? {} : { model: name }) }
    const pieces = blocksIn(message["content"]).flatMap((block): readonly Piece[] => {
      switch (wordAt(block, "type")) {
        case "text":
          return [{ kind: "text", ...of, text: wordAt(block, "text") }]
        case "thinking": {
          const text = wordAt(block, "thinking")
          losses.add(text === "" ? "encrypted" : "thinking")
          return [{ kind: "reasoning", ...of, text }]
        }
        case "toolCall": {
          const input = objectAt(block, "arguments") ?? {}
          return [{ kind: "call", ...of, callID: wordAt(block, "id"), tool: wordAt(block, "name"), input }]
        }
        default:
          losses.add("unknown")
          return []
      }
    })
    const usage = objectAt(message, "usage")
    const cost = numberAt(objectAt(usage, "cost"), "total")
    const spent: readonly Piece[] =
      usage === undefined
        ? []
        : [{ kind: "usage", turn, usage: usageOf(usage), ...(cost === undefined ? {} : { cost }) }]
    const reason = wordAt(message, "stopReason")
    if (reason !== "error" && reason !== "aborted") return [...pieces, ...spent]
    const why = textAt(message, "errorMessage") ?? (reason === "aborted" ? "Aborted." : "The turn failed.")
    return [...pieces, ...spent, { kind: "failed", ...of, message: why }]
  }

  const readMessage = (entry: JsonObject, message: JsonObject): readonly Piece[] => {
    const key = textAt(entry, "id")
    const time = timeOf(message["timestamp"]) ?? timeOf(entry["timestamp"])
    const about = { ...(key === undefined ? {} : { key }), ...(time === undefined ? {} : { time }) }
    const { content } = message
    switch (wordAt(message, "role")) {
      case "user": {
        const text = textsOf(content).join("\n\n")
        const files = filesOf(content)
        return [{ kind: "prompt", ...about, prompt: files.length === 0 ? { text } : { text, files } }]
      }
      case "assistant":
        return readAssistant(message, about)
      case "toolResult": {
        const result: readonly RecordedContent[] = [
          ...textsOf(content).flatMap(textContent),
          ...filesOf(content).flatMap(mediaOf),
        ]
        const callID = wordAt(message, "toolCallId")
        return [{ kind: "result", ...about, callID, content: result, failed: message["isError"] === true }]
      }
      case "bashExecution": {
        if (message["excludeFromContext"] === true) {
          losses.add("hidden")
          return []
        }
        const text = `! ${wordAt(message, "command")}\n${wordAt(message, "output")}`.trim()
        return [{ kind: "prompt", ...about, prompt: { text } }]
      }
      case "compactionSummary":
        return readSummary(message, [])
      case "branchSummary":
        losses.add("summaries")
        return []
      case "custom":
      case "hookMessage":
        losses.add("notes")
        return []
      default:
        losses.add("unknown")
        return []
    }
  }

  /** The messages from an entry on, whatever kind of entry it is. */
  const keptFrom = (first: string | undefined): readonly Step[] => {
    if (first === undefined) return []
    const start = path.findIndex(({ id }) => id === first)
    if (start === -1) losses.add("kept")
    return start === -1 ? [] : path.slice(start)
  }

  const readSummary = (entry: JsonObject, kept: readonly Step[]): readonly Piece[] => {
    const text = wordAt(entry, "summary")
    if (text === "") {
      losses.add("compactions")
      return []
    }
    path = [...kept]
    const keep = kept.flatMap(({ id, isMessage }) => (isMessage ? [id] : []))
    const tokens = { before: countAt(entry, "tokensBefore"), after: 0 }
    return [{ kind: "summary", ...dated(entry["timestamp"]), text, keep, tokens }]
  }

  const readEntry = (entry: JsonObject): readonly Piece[] => {
    const id = textAt(entry, "id")
    const type = wordAt(entry, "type")
    if (id !== undefined) path.push({ id, isMessage: type === "message" })
    switch (type) {
      case "message": {
        const message = objectAt(entry, "message")
        return message === undefined ? [] : readMessage(entry, message)
      }
      case "compaction":
        return readSummary(entry, keptFrom(textAt(entry, "firstKeptEntryId")))
      case "branch_summary":
        losses.add("summaries")
        return []
      case "custom_message":
        losses.add("notes")
        return []
      case "session":
      case "model_change":
      case "thinking_level_change":
      case "custom":
      case "label":
      case "session_info":
      case "usage":
        return []
      default:
        losses.add("unknown")
        return []
    }
  }

  return {
    survey,
    straight: (entry) => {
      survey(entry)
      return readEntry(entry)
    },
    // The tree is only examined in a complete read.
    isStraight: () => false,
    marks: () => [],
    about: () => {
      if (header === undefined) return undefined
      const name = title ?? firstPrompt
      return { ...header, ...(name === undefined ? {} : { title: name }) }
    },
    read: (entry) => {
      chosen ??= choose()
      const id = textAt(entry, "id")
      const isLeftOut = wordAt(entry, "type") === "session" || (id !== undefined && !chosen.delete(id))
      return isLeftOut ? [] : readEntry(entry)
    },
  }
}

const textsOf = (content: Json | undefined): readonly string[] =>
  blocksIn(content).flatMap((block) =>
    wordAt(block, "type") === "text" ? (textAt(block, "text") ?? []) : [],
  )

const usageOf = (usage: JsonObject) => ({
  input: countAt(usage, "input"),
  output: countAt(usage, "output"),
  reasoning: 0,
  cacheRead: countAt(usage, "cacheRead"),
  cacheWrite: countAt(usage, "cacheWrite"),
})
