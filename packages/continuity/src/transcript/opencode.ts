/**
 * The output of `opencode export <session>`, as OpenCode 1.18 writes it: one JSON document `{info, messages: [{info,
 * parts}]}`. Here its entries are `info` first, then each message. A compaction is a user message with a `compaction` part
 * (which may name the first message it keeps, `tail_start_id`), followed by the assistant message with `summary: true`.
 * Messages from `info.revert.messageID` on were taken back; with a `partID`, the parts of that message from that one on.
 */
import {
  countAt,
  numberAt,
  objectAt,
  textAt,
  wordAt,
  type JsonObject,
  type PromptFile,
  type RecordedContent,
} from "@meridian/protocol"

import { fileOfUrl, mediaOf, textContent } from "./content.ts"
import { dated, objectsIn, timeOf, type About, type OpenReader } from "./conversation.ts"
import type { Piece } from "./piece.ts"
import { todoList } from "./todo-list.ts"

export const openOpencodeReader: OpenReader = (losses) => {
  let about: About | undefined
  let revertedFrom: string | undefined
  let revertedPart: string | undefined
  let isReverted = false
  const order: string[] = []
  let compaction: JsonObject | undefined
  let agentNow: string | undefined

  const survey = (entry: JsonObject): void => {
    const message = objectAt(entry, "info")
    if (message !== undefined) {
      order.push(wordAt(message, "id"))
      return
    }
    const id = textAt(entry, "id")
    if (id === undefined || about !== undefined) return
    const directory = textAt(entry, "directory")
    const title = textAt(entry, "title")
    const began = timeOf(objectAt(entry, "time")?.["created"])
    const revert = objectAt(entry, "revert")
    revertedFrom = textAt(revert, "messageID")
    revertedPart = textAt(revert, "partID")
    about = {
      id,
      ...(directory === undefined ? {} : { directory }),
      ...(title === undefined ? {} : { title }),
      ...(began === undefined ? {} : { began }),
    }
  }

  const readUser = (info: JsonObject, parts: readonly JsonObject[]): readonly Piece[] => {
    compaction = parts.find((part) => wordAt(part, "type") === "compaction") ?? compaction
    const texts: string[] = []
    const files: PromptFile[] = []
    for (const part of parts)
      switch (wordAt(part, "type")) {
        case "text":
          if (part["synthetic"] === true || part["ignored"] === true) losses.add("notes")
          else texts.push(wordAt(part, "text"))
          break
        case "file": {
          const file = fileOfUrl(textAt(part, "url"), wordAt(part, "mime") || "file", losses)
          const name = textAt(part, "filename")
          if (file !== undefined) files.push(name === undefined ? file : { ...file, name })
          break
        }
        case "agent":
          // The text contains the mention as well.
          break
        case "subtask":
          texts.push(wordAt(part, "prompt"))
          break
        case "compaction":
          break
        default:
          losses.add("unknown")
      }
    const text = texts.filter((said) => said !== "").join("\n\n")
    const state = stateOf(info, parts)
    if (text === "" && files.length === 0) return state
    const prompt = files.length === 0 ? { text } : { text, files }
    return [...state, { kind: "prompt", ...timeIn(info), key: wordAt(info, "id"), prompt }]
  }

  /** The agent that the user chose, and files attached by name. */
  const stateOf = (info: JsonObject, parts: readonly JsonObject[]): readonly Piece[] => {
    const chosen = textAt(info, "agent")
    const isNews = chosen !== undefined && chosen !== agentNow
    agentNow = chosen ?? agentNow
    const paths = parts.flatMap(attachedPath)
    return [
      ...(isNews ? [{ kind: "agent", name: chosen } as const] : []),
      ...(paths.length === 0 ? [] : [{ kind: "files", ...timeIn(info), paths } as const]),
    ]
  }

  const readTool = (
    part: JsonObject,
    of: { readonly turn: string; readonly time?: number },
  ): readonly Piece[] => {
    const state = objectAt(part, "state")
    const callID = wordAt(part, "callID")
    const times = objectAt(state, "time")
    const began = dated(times?.["start"])
    const tool = wordAt(part, "tool")
    const input = objectAt(state, "input") ?? {}
    const call: readonly Piece[] = [
      { kind: "call", ...of, ...began, callID, tool, input },
      ...todoList(tool, input, began),
    ]
    const ended = dated(times?.["end"])
    const status = wordAt(state, "status")
    if (status === "error")
      return [
        ...call,
        { kind: "result", ...ended, callID, content: textContent(wordAt(state, "error")), failed: true },
      ]
    if (status !== "completed") return call
    const content: readonly RecordedContent[] = [
      ...textContent(wordAt(state, "output")),
      ...objectsIn(state?.["attachments"]).flatMap((file) =>
        mediaOf(fileOfUrl(textAt(file, "url"), wordAt(file, "mime") || "file", losses)),
      ),
    ]
    return [...call, { kind: "result", ...ended, callID, content }]
  }

  const readAssistant = (info: JsonObject, parts: readonly JsonObject[]): readonly Piece[] => {
    if (info["summary"] === true) return readSummary(info, parts)
    const turn = wordAt(info, "id")
    const model = modelOf(info)
    const agent = textAt(info, "agent") ?? textAt(info, "mode")
    const of = {
      turn,
      key: turn,
      ...timeIn(info),
      ...(agent === undefined ? {} : { agent }),
      ...(model === undefined ? {} : { model }),
    }
    const pieces = parts.flatMap((part): readonly Piece[] => {
      switch (wordAt(part, "type")) {
        case "text":
          return [{ kind: "text", ...of, ...partTime(part), text: wordAt(part, "text") }]
        case "reasoning":
          losses.add(wordAt(part, "text") === "" ? "encrypted" : "thinking")
          return [{ kind: "reasoning", ...of, ...partTime(part), text: wordAt(part, "text") }]
        case "tool":
          return readTool(part, of)
        case "step-start":
        case "step-finish":
        case "snapshot":
        case "patch":
        case "retry":
          return []
        default:
          losses.add("unknown")
          return []
      }
    })
    const cost = numberAt(info, "cost")
    const usage: Piece = {
      kind: "usage",
      turn,
      usage: usageOf(objectAt(info, "tokens")),
      ...(cost === undefined ? {} : { cost }),
    }
    const error = objectAt(info, "error")
    if (error === undefined) return [...pieces, usage]
    const message =
      textAt(objectAt(error, "data"), "message") ?? (wordAt(error, "name") || "The turn failed.")
    return [...pieces, usage, { kind: "failed", ...of, message }]
  }

  const readSummary = (info: JsonObject, parts: readonly JsonObject[]): readonly Piece[] => {
    const text = parts
      .flatMap((part) => (wordAt(part, "type") === "text" ? (textAt(part, "text") ?? []) : []))
      .join("\n")
    const from = textAt(compaction, "tail_start_id")
    const manual = compaction?.["auto"] === false
    compaction = undefined
    if (text === "") {
      losses.add("compactions")
      return []
    }
    const start = from === undefined ? -1 : order.indexOf(from)
    const keep = start === -1 ? [] : order.slice(start)
    const tokens = objectAt(info, "tokens")
    const before = countAt(tokens, "input") + countAt(objectAt(tokens, "cache"), "read")
    const after = countAt(tokens, "output")
    const spent = { usage: usageOf(tokens), cost: numberAt(info, "cost") ?? 0 }
    return [{ kind: "summary", ...timeIn(info), text, keep, manual, tokens: { before, after }, ...spent }]
  }

  /** OpenCode takes back the named part and everything after it. */
  const partsLeft = (parts: readonly JsonObject[]): readonly JsonObject[] => {
    const start = parts.findIndex((part) => textAt(part, "id") === revertedPart)
    if (start === -1) return parts
    const gone = parts.slice(start).filter((part) => SAID.has(wordAt(part, "type")))
    losses.add("revertedParts", gone.length)
    return parts.slice(0, start)
  }

  const readMessage = (info: JsonObject, parts: readonly JsonObject[]): readonly Piece[] => {
    if (wordAt(info, "role") === "user") return readUser(info, parts)
    if (wordAt(info, "role") === "assistant") return readAssistant(info, parts)
    losses.add("unknown")
    return []
  }

  return {
    survey,
    straight: (entry) => {
      survey(entry)
      const info = objectAt(entry, "info")
      return info === undefined ? [] : readMessage(info, objectsIn(entry["parts"]))
    },
    // Only a complete read shows what was taken back.
    isStraight: () => false,
    marks: () => [],
    about: () => about,
    read: (entry) => {
      const info = objectAt(entry, "info")
      if (info === undefined) return []
      const isBoundary = revertedFrom !== undefined && wordAt(info, "id") === revertedFrom
      if (isReverted || (isBoundary && revertedPart === undefined)) {
        isReverted = true
        losses.add("reverted")
        return []
      }
      isReverted = isBoundary
      const parts = isBoundary ? partsLeft(objectsIn(entry["parts"])) : objectsIn(entry["parts"])
      return readMessage(info, parts)
    },
  }
}

/** The path of a file that the user attached: `source.path`, or a `file:` URL. */
export const attachedPath = (part: JsonObject): readonly string[] => {
  if (wordAt(part, "type") !== "file") return []
  const path = textAt(objectAt(part, "source"), "path")
  if (path !== undefined) return [path]
  const url = wordAt(part, "url")
  if (!url.startsWith("file://") || url.length > 4096) return []
  try {
    return [decodeURIComponent(new URL(url).pathname)]
  } catch {
    return []
  }
}

/** All other types are bookkeeping. */
const SAID = new Set(["text", "reasoning", "tool", "file", "subtask"])

const timeIn = (info: JsonObject) => dated(objectAt(info, "time")?.["created"])
const partTime = (part: JsonObject) => dated(objectAt(part, "time")?.["start"])

const modelOf = (info: JsonObject): string | undefined => {
  const model = textAt(info, "modelID")
  const provider = textAt(info, "providerID")
  return model === undefined || provider === undefined ? model : `${provider}/${model}`
}

const usageOf = (tokens: JsonObject | undefined) => {
  const cache = objectAt(tokens, "cache")
  return {
    input: countAt(tokens, "input"),
    output: countAt(tokens, "output"),
    reasoning: countAt(tokens, "reasoning"),
    cacheRead: countAt(cache, "read"),
    cacheWrite: countAt(cache, "write"),
  }
}
