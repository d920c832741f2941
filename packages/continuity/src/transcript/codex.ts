/**
 * `$CODEX_HOME/sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`, as Codex 0.166 writes it: `{timestamp, type, payload}`.
 * `session_meta` names the thread, `turn_context` the model, `response_item` is what went to the model and came back,
 * `compacted` replaces everything before it (`replacement_history` names what stays). `event_msg` repeats the items for the
 * screen; only its token counts are read. Rollouts from before October 2025 contain the items without an envelope.
 *
 * Nothing marks the end of a model's answer. A new answer begins when output of the model follows a result, a prompt or a
 * token count.
 */
import { createHash } from "node:crypto"

import {
  asObject,
  countAt,
  listAt,
  objectAt,
  parseObject,
  textAt,
  wordAt,
  type Json,
  type JsonObject,
  type PromptFile,
  type RecordedContent,
} from "@meridian/protocol"

import { skillIn, stateInEvent } from "./codex-state.ts"
import { fileOfUrl, mediaOf, textContent } from "./content.ts"
import { blocksIn, dated, objectsIn, timeOf, type OpenReader } from "./conversation.ts"
import type { Piece } from "./piece.ts"
import { todoList } from "./todo-list.ts"

/** How much of the prompts older versions keep beside a summary. They do not record it. */
const KEPT_PROMPT_CHARACTERS = 80_000

export const openCodexReader: OpenReader = (losses) => {
  let about: { id?: string; directory?: string; began?: number; title?: string } = {}
  let model: string | undefined
  let turns = 0
  let turnIsOver = true
  let isCounted = false
  let promptsRead = 0
  /** Prompts that a summary may keep. */
  let prompts: SaidPrompt[] = []
  /** The lines of current prompts, and the ranges of lines that were taken back. */
  let surveyed = 0
  let places: number[] = []
  const takenBack: { readonly from: number; readonly to: number }[] = []
  let lines = 0
  let isTakenBack = false

  const survey = (line: JsonObject): void => {
    const { type, payload } = openEnvelope(line)
    surveyed += 1
    if (type === "response_item" && isPrompt(payload)) places.push(surveyed)
    if (type === "event_msg" && wordAt(payload, "type") === "thread_rolled_back") {
      isTakenBack = true
      const kept = Math.max(0, places.length - Math.floor(countAt(payload, "num_turns")))
      const from = places[kept]
      if (from !== undefined) {
        while ((takenBack.at(-1)?.from ?? -1) >= from) takenBack.pop()
        takenBack.push({ from, to: surveyed })
      }
      places = places.slice(0, kept)
    }
    // The first one belongs to this thread. A fork has copied those of its source after it.
    if (type === "session_meta" && about.id === undefined) {
      const id = textAt(payload, "id") ?? textAt(payload, "session_id")
      const directory = textAt(payload, "cwd")
      const began = timeOf(payload["timestamp"]) ?? timeOf(line["timestamp"])
      about = {
        ...(id === undefined ? {} : { id }),
        ...(directory === undefined ? {} : { directory }),
        ...(began === undefined ? {} : { began }),
      }
    }
    if (about.title === undefined && type === "response_item" && isPrompt(payload))
      about.title = textsOf(payload).join("\n")
  }

  const ofTurn = (line: JsonObject) => {
    if (turnIsOver) {
      turns += 1
      isCounted = false
    }
    turnIsOver = false
    const named = model === undefined ? {} : { model }
    return { turn: String(turns), ...dated(line["timestamp"]), agent: "codex", ...named }
  }

  const readMessage = (line: JsonObject, item: JsonObject): readonly Piece[] => {
    const role = wordAt(item, "role")
    if (role === "assistant") {
      const of = ofTurn(line)
      return [{ kind: "text", ...of, text: textsOf(item).join("\n\n") }]
    }
    if (role !== "user") {
      losses.add("notes")
      return []
    }
    turnIsOver = true
    if (!isPrompt(item)) {
      losses.add("notes")
      return textsOf(item).flatMap(skillIn)
    }
    const text = textsOf(item).join("\n\n")
    const files = listAt(item, "content").flatMap((part): readonly PromptFile[] => {
      const block = asObject(part)
      if (wordAt(block, "type") !== "input_image") return []
      const file = fileOfUrl(textAt(block, "image_url"), "image/unknown", losses)
      return file === undefined ? [] : [file]
    })
    promptsRead += 1
    const key = textAt(item, "id") ?? `prompt ${promptsRead}`
    prompts.push({ key, length: text.length, digest: digestOf(text) })
    const prompt = files.length === 0 ? { text } : { text, files }
    return [{ kind: "prompt", ...dated(line["timestamp"]), key, prompt }]
  }

  const readReasoning = (line: JsonObject, item: JsonObject): readonly Piece[] => {
    const texts = [...listAt(item, "summary"), ...listAt(item, "content")].flatMap(
      (part) => textAt(asObject(part), "text") ?? [],
    )
    losses.add(texts.length === 0 ? "encrypted" : "thinking")
    if (texts.length === 0) return []
    return [{ kind: "reasoning", ...ofTurn(line), text: texts.join("\n\n") }]
  }

  const readCall = (line: JsonObject, item: JsonObject): readonly Piece[] => {
    const call = { kind: "call", ...ofTurn(line), callID: callOf(item) } as const
    switch (wordAt(item, "type")) {
      case "custom_tool_call":
        return [{ ...call, tool: wordAt(item, "name"), input: { input: wordAt(item, "input") } }]
      case "local_shell_call":
        return [{ ...call, tool: "local_shell", input: objectAt(item, "action") ?? {} }]
      default: {
        const raw = wordAt(item, "arguments")
        const input = parseObject(raw)
        const tool = wordAt(item, "name")
        return [
          { ...call, tool, ...(input === undefined ? { raw } : { input }) },
          ...todoList(tool, input, dated(line["timestamp"])),
        ]
      }
    }
  }

  /** A search runs at the provider. The file has the query, not the result. */
  const readSearch = (line: JsonObject, item: JsonObject): readonly Piece[] => {
    const callID = textAt(item, "id") ?? `search ${turns}`
    const input = objectAt(item, "action") ?? {}
    return [
      { kind: "call", ...ofTurn(line), callID, tool: "web_search", input },
      { kind: "result", callID, content: textContent("[The provider searched; the file has no results.]") },
    ]
  }

  const readOutput = (line: JsonObject, item: JsonObject): readonly Piece[] => {
    turnIsOver = true
    const { content, failed } = outputOf(item["output"])
    return [{ kind: "result", ...dated(line["timestamp"]), callID: callOf(item), content, failed }]
  }

  const outputOf = (
    output: Json | undefined,
  ): { readonly content: readonly RecordedContent[]; readonly failed: boolean } => {
    if (typeof output === "string") {
      // Older versions wrap it: {"output":"...","metadata":{"exit_code":1}}
      const wrapped = output.startsWith("{") ? parseObject(output) : undefined
      const text = textAt(wrapped, "output")
      const code = objectAt(wrapped, "metadata")?.["exit_code"]
      if (text !== undefined) return { content: textContent(text), failed: code !== undefined && code !== 0 }
      return { content: textContent(output), failed: false }
    }
    const given = asObject(output)
    const parts = Array.isArray(output) ? output : listAt(given, "content")
    const content = parts.flatMap((part: Json): readonly RecordedContent[] => {
      const block = asObject(part)
      const text = textAt(block, "text")
      if (text !== undefined) return textContent(text)
      return mediaOf(fileOfUrl(textAt(block, "image_url"), "image/unknown", losses))
    })
    return { content, failed: given?.["success"] === false }
  }

  const readItem = (line: JsonObject, item: JsonObject): readonly Piece[] => {
    switch (wordAt(item, "type")) {
      case "message":
        return readMessage(line, item)
      case "reasoning":
        return readReasoning(line, item)
      case "function_call":
      case "custom_tool_call":
      case "local_shell_call":
        return readCall(line, item)
      case "web_search_call":
        return readSearch(line, item)
      case "function_call_output":
      case "custom_tool_call_output":
        return readOutput(line, item)
      case "ghost_snapshot":
        return []
      default:
        losses.add("unknown")
        return []
    }
  }

  const readCount = (payload: JsonObject): readonly Piece[] => {
    const last = objectAt(objectAt(payload, "info"), "last_token_usage")
    if (last === undefined || turns === 0) return []
    turnIsOver = true
    // The same count is repeated when a later turn begins.
    if (isCounted) return []
    isCounted = true
    const cacheRead = countAt(last, "cached_input_tokens")
    const cacheWrite = countAt(last, "cache_write_input_tokens")
    const reasoning = countAt(last, "reasoning_output_tokens")
    const usage = {
      input: Math.max(0, countAt(last, "input_tokens") - cacheRead - cacheWrite),
      output: Math.max(0, countAt(last, "output_tokens") - reasoning),
      reasoning,
      cacheRead,
      cacheWrite,
    }
    return [{ kind: "usage", turn: String(turns), usage }]
  }

  /** Found by id, or by text for items without ids; the newest of several equal ones. */
  const keptIn = (items: readonly JsonObject[], summary: string): readonly string[] => {
    const left = [...prompts]
    return items
      .filter((item) => isPrompt(item) && withoutLead(textsOf(item).join("\n\n")) !== summary)
      .toReversed()
      .flatMap((item) => {
        const id = textAt(item, "id")
        const digest = digestOf(textsOf(item).join("\n\n"))
        const named = left.findLastIndex(({ key }) => key === id)
        const at = named === -1 ? left.findLastIndex((prompt) => prompt.digest === digest) : named
        if (at === -1) losses.add("kept")
        return at === -1 ? [] : left.splice(at, 1).map(({ key }) => key)
      })
      .toReversed()
  }

  const readCompacted = (line: JsonObject, payload: JsonObject): readonly Piece[] => {
    turnIsOver = true
    const text = withoutLead(wordAt(payload, "message"))
    if (text === "") {
      losses.add("compactions")
      return []
    }
    const keep = Array.isArray(payload["replacement_history"])
      ? keptIn(objectsIn(payload["replacement_history"]), text)
      : newest(prompts, KEPT_PROMPT_CHARACTERS)
    const stays = new Set(keep)
    prompts = prompts.filter(({ key }) => stays.has(key))
    return [{ kind: "summary", ...dated(line["timestamp"]), text, keep }]
  }

  const readLine = (line: JsonObject): readonly Piece[] => {
    const { type, payload } = openEnvelope(line)
    switch (type) {
      case "response_item":
        return readItem(line, payload)
      case "turn_context":
        model = textAt(payload, "model") ?? model
        return []
      case "event_msg":
        return wordAt(payload, "type") === "token_count" ? readCount(payload) : stateInEvent(line, payload)
      case "compacted":
        return readCompacted(line, payload)
      default:
        return []
    }
  }

  return {
    survey,
    // A thread is a list: later entries follow earlier ones, unless turns were taken back.
    straight: (line) => {
      survey(line)
      return readLine(line)
    },
    isStraight: () => !isTakenBack,
    marks: () => [],
    about: () => (about.id === undefined ? undefined : { ...about, id: about.id }),
    read: (line) => {
      const { type, payload } = openEnvelope(line)
      lines += 1
      if ((takenBack[0]?.to ?? lines + 1) <= lines) takenBack.shift()
      if ((takenBack[0]?.from ?? lines + 1) <= lines) {
        if (type === "response_item" && wordAt(payload, "type") === "message") losses.add("reverted")
        turnIsOver = true
        return []
      }
      return readLine(line)
    },
  }
}

const ITEMS = new Set([
  "message",
  "reasoning",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
  "local_shell_call",
  "web_search_call",
])

/** Older rollouts have no envelope: a line is an item, the first one the thread. */
export const openEnvelope = (line: JsonObject): { readonly type: string; readonly payload: JsonObject } => {
  const type = wordAt(line, "type")
  const payload = objectAt(line, "payload")
  if (payload !== undefined) return { type, payload }
  if (ITEMS.has(type)) return { type: "response_item", payload: line }
  const isThread = type === "" && textAt(line, "id") !== undefined && textAt(line, "timestamp") !== undefined
  return { type: isThread ? "session_meta" : type, payload: line }
}

const callOf = (item: JsonObject): string => textAt(item, "call_id") ?? wordAt(item, "id")

const textsOf = (item: JsonObject): readonly string[] =>
  blocksIn(item["content"]).flatMap((block) =>
    wordAt(block, "type").endsWith("image") ? [] : (textAt(block, "text") ?? []),
  )

interface SaidPrompt {
  readonly key: string
  readonly length: number
  /** A digest of its text, because a long conversation is not held in memory. */
  readonly digest: string
}

const digestOf = (text: string): string => createHash("sha256").update(text).digest("base64")

/** Texts of the harness in the user's name start with one of these. */
const CONTEXT =
  /^\s*(?:<(?:environment_context|user_instructions|turn_aborted|skill|subagent_notification|permissions|hook_prompt|user_shell_command|INSTRUCTIONS|model_switch|collaboration_mode|personality)|# AGENTS\.md instructions|Another language model started to solve this problem)/

const isPrompt = (item: JsonObject): boolean => {
  if (wordAt(item, "type") !== "message" || wordAt(item, "role") !== "user") return false
  const kinds = listAt(objectAt(item, "internal_chat_message_metadata_passthrough"), "content_item_kinds")
  if (kinds.length > 0) return kinds.some((kind) => typeof kind === "string" && kind.startsWith("user."))
  const [first] = textsOf(item)
  return first === undefined || !CONTEXT.test(first)
}

const LEAD = /^Another language model started to solve this problem[^\n]*:\n/

const withoutLead = (text: string): string => text.replace(LEAD, "").trim()

const newest = (
  prompts: readonly Pick<SaidPrompt, "key" | "length">[],
  characters: number,
): readonly string[] => {
  let room = characters
  const kept: string[] = []
  for (const { key, length } of prompts.toReversed()) {
    room -= length
    if (room < 0) break
    kept.unshift(key)
  }
  return kept
}
