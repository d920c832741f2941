/**
 * `~/.claude/projects/<directory>/<session>.jsonl`, as Claude Code 2.1 writes it. Lines of a conversation have a `uuid` and
 * a `parentUuid` and form a tree: going back and asking again starts a branch, and the newest line is the tip of the
 * current one. One answer is several lines with the same `message.id`, one per block. The results of parallel calls are
 * attached to the lines of their calls, beside the path. `compact_boundary` starts anew (its `logicalParentUuid` names what
 * came before); the summary is the next user line with `isCompactSummary`. Other kinds of lines are bookkeeping.
 */
import {
  asObject,
  countAt,
  listAt,
  numberAt,
  objectAt,
  textAt,
  wordAt,
  type JsonObject,
  type PromptFile,
  type RecordedContent,
} from "@meridian/protocol"

import { openTree, type TreeEntry } from "./claude-tree.ts"
import { fileOf, mediaOf, textContent } from "./content.ts"
import { blocksIn, dated, objectsIn, timeOf, type OpenReader } from "./conversation.ts"
import type { Piece } from "./piece.ts"
import { todoList } from "./todo-list.ts"

export const openClaudeReader: OpenReader = (losses) => {
  const tree = openTree()
  let sessionID: string | undefined
  let directory: string | undefined
  let title: string | undefined
  let firstPrompt: string | undefined
  let began: number | undefined
  let chosen: ReadonlySet<string> | undefined
  const told = new Set<string>()
  let boundary: JsonObject | undefined
  let commandIsLocal = false
  let mode: string | undefined

  /** Whether it is a new line of the conversation. */
  const survey = (line: JsonObject): boolean => {
    sessionID = textAt(line, "sessionId") ?? sessionID
    const summary = wordAt(line, "type") === "summary" ? textAt(line, "summary") : undefined
    title = textAt(line, "customTitle") ?? textAt(line, "aiTitle") ?? summary ?? title
    const uuid = textAt(line, "uuid")
    if (uuid === undefined) return false
    directory ??= textAt(line, "cwd")
    began ??= timeOf(line["timestamp"])
    const isNew = tree.note(uuid, line["isSidechain"] === true ? "side" : "main", entryOf(line))
    if (firstPrompt === undefined && kindOf(line) === "user" && !isNote(line)) {
      const text = textsOf(objectAt(line, "message")).find((candidate) => !isHarnessText(candidate))
      if (text !== undefined && text.trim() !== "") firstPrompt = text
    }
    return isNew
  }

  /** The current conversation. Everything else is reported as lost. */
  const choose = (): ReadonlySet<string> => {
    const choice = tree.choose()
    for (const kind of ["branchMessages", "branches", "sidechainMessages", "sidechains"] as const)
      losses.add(kind, choice[kind])
    return choice.path
  }

  const readAssistant = (line: JsonObject): readonly Piece[] => {
    const message = objectAt(line, "message")
    const model = textAt(message, "model")
    const turn = answerOf(line)
    const time = dated(line["timestamp"])
    const about = {
      turn,
      ...time,
      agent: "claude",
      ...keyOf(line),
      ...(model === undefined ? {} : { model }),
    }
    if (line["isApiErrorMessage"] === true)
      return [{ kind: "failed", ...about, message: textsOf(message).join("\n") || "The request failed." }]
    if (model === "<synthetic>") {
      losses.add("notes")
      return []
    }
    const pieces = blocksOf(message).flatMap((block): readonly Piece[] => {
      switch (wordAt(block, "type")) {
        case "text":
          return [{ kind: "text", ...about, text: wordAt(block, "text") }]
        case "thinking": {
          const text = wordAt(block, "thinking")
          losses.add(text === "" ? "encrypted" : "thinking")
          return [{ kind: "reasoning", ...about, text }]
        }
        case "redacted_thinking":
          losses.add("encrypted")
          return []
        case "tool_use":
        case "server_tool_use":
        case "mcp_tool_use": {
          const input = objectAt(block, "input") ?? {}
          const tool = wordAt(block, "name")
          const call: readonly Piece[] = [
            { kind: "call", ...about, callID: wordAt(block, "id"), tool, input },
          ]
          return call.concat(todoList(tool, input, time))
        }
        default:
          if (textAt(block, "tool_use_id") !== undefined) return [readResult(block, time)]
          losses.add("unknown")
          return []
      }
    })
    const usage = objectAt(message, "usage")
    if (usage === undefined) return pieces
    const cost = numberAt(line, "costUSD")
    return [
      ...pieces,
      { kind: "usage", turn, usage: usageOf(usage), ...(cost === undefined ? {} : { cost }) },
    ]
  }

  const readResult = (block: JsonObject, time: { readonly time?: number }): Piece => ({
    kind: "result",
    ...time,
    callID: wordAt(block, "tool_use_id"),
    content: contentOf(block["content"]),
    failed: block["is_error"] === true,
  })

  const contentOf = (content: unknown): readonly RecordedContent[] => {
    if (typeof content === "string") return textContent(content)
    if (!Array.isArray(content)) return content === undefined ? [] : textContent(JSON.stringify(content))
    return content.flatMap((entry: unknown): readonly RecordedContent[] => {
      const block = asObject(entry)
      if (wordAt(block, "type") === "text") return textContent(wordAt(block, "text"))
      if (wordAt(block, "type") === "image") return mediaOf(imageOf(block))
      return textContent(JSON.stringify(entry))
    })
  }

  const imageOf = (block: JsonObject | undefined): PromptFile | undefined => {
    const source = objectAt(block, "source")
    return fileOf(textAt(source, "media_type"), textAt(source, "data"), losses)
  }

  const readUser = (line: JsonObject): readonly Piece[] => {
    const message = objectAt(line, "message")
    const time = dated(line["timestamp"])
    if (line["isCompactSummary"] === true) return readSummary(line)
    const blocks = blocksOf(message)
    const results = blocks
      .filter((block) => wordAt(block, "type") === "tool_result")
      .map((block) => readResult(block, time))
    if (isNote(line)) {
      const texts = textsOf(message)
      commandIsLocal = texts.some((text) => text.startsWith("<local-command-caveat>"))
      losses.add("notes", results.length === 0 ? 1 : texts.length)
      return [...results, ...texts.flatMap(skillOf)]
    }
    return [...results, ...readPrompt(line, blocks)]
  }

  /** Text beside the results of calls was typed while they ran. */
  const readPrompt = (line: JsonObject, blocks: readonly JsonObject[]): readonly Piece[] => {
    const texts = textsIn(blocks).flatMap(personal)
    const files = blocks.flatMap((block) => {
      const type = wordAt(block, "type")
      return type === "image" || type === "document" ? (imageOf(block) ?? []) : []
    })
    if (texts.length === 0 && files.length === 0) return []
    const prompt = promptOf(texts.join("\n\n"), files)
    return [{ kind: "prompt", ...dated(line["timestamp"]), ...keyOf(line), prompt }]
  }

  /** The user's words: without what the harness added, and a command as it was typed. */
  const personal = (text: string): readonly string[] => {
    const command = COMMAND.exec(text)
    if (command !== null && !commandIsLocal)
      return [`${command[1] ?? ""} ${ARGUMENTS.exec(text)?.[1] ?? ""}`.trim()]
    commandIsLocal = false
    const typed = SHELL.exec(text)
    if (typed !== null) return [`! ${typed[1] ?? ""}`]
    if (command === null && !isHarnessText(text)) return [text]
    losses.add("notes")
    return []
  }

  const readSummary = (line: JsonObject): readonly Piece[] => {
    const metadata = objectAt(boundary, "compactMetadata")
    boundary = undefined
    const text = textsOf(objectAt(line, "message")).join("\n")
    if (text === "") {
      losses.add("compactions")
      return []
    }
    const preserved = objectAt(metadata, "preservedMessages")
    const names = listAt(preserved, preserved?.["allUuids"] === undefined ? "uuids" : "allUuids")
    const keep = names.filter((name) => typeof name === "string")
    const tokens = { before: countAt(metadata, "preTokens"), after: countAt(metadata, "postTokens") }
    const manual = wordAt(metadata, "trigger") === "manual"
    return [{ kind: "summary", ...dated(line["timestamp"]), text, keep, tokens, manual }]
  }

  /** Agent and permission mode: on separate lines, and the mode also with every prompt. */
  const readSetting = (line: JsonObject): readonly Piece[] => {
    const agent = textAt(line, "agentSetting")
    const now = textAt(line, "permissionMode")
    const isNews = now !== undefined && now !== mode
    mode = now ?? mode
    return [
      ...(agent === undefined ? [] : [{ kind: "agent", name: agent } as const]),
      ...(isNews ? [{ kind: "mode", name: now } as const] : []),
    ]
  }

  const readAttachment = (line: JsonObject): readonly Piece[] => {
    const attachment = objectAt(line, "attachment")
    if (isQueuedPrompt(line)) return readPrompt(line, blocksIn(attachment?.["prompt"]))
    if (wordAt(attachment, "type") === "invoked_skills")
      return objectsIn(attachment?.["skills"]).flatMap((skill) => skillOf(wordAt(skill, "content")))
    // The full system prompt, kept for debugging. Nobody said it.
    if (wordAt(attachment, "type") !== "prompt_snapshot") losses.add("notes")
    return []
  }

  const readLine = (line: JsonObject): readonly Piece[] => {
    switch (wordAt(line, "type")) {
      case "assistant":
        return readAssistant(line)
      case "user":
        return readSetting(line).concat(readUser(line))
      case "attachment":
        return readAttachment(line)
      case "system":
        if (wordAt(line, "subtype") === "compact_boundary") boundary = line
        return []
      default:
        return []
    }
  }

  return {
    survey,
    straight: (line) => {
      const isNew = survey(line)
      if (textAt(line, "uuid") === undefined) return readSetting(line)
      return isNew && line["isSidechain"] !== true ? readLine(line) : []
    },
    isStraight: tree.isStraight,
    marks: tree.marks,
    about: () => {
      if (sessionID === undefined) return undefined
      const name = title ?? firstPrompt
      return {
        id: sessionID,
        ...(directory === undefined ? {} : { directory }),
        ...(began === undefined ? {} : { began }),
        ...(name === undefined ? {} : { title: name }),
      }
    },
    read: (line) => {
      const uuid = textAt(line, "uuid")
      if (uuid === undefined) return readSetting(line)
      chosen ??= choose()
      // Only once: a resumed session may repeat its lines.
      if (!chosen.has(uuid) || told.has(uuid)) return []
      told.add(uuid)
      return readLine(line)
    },
  }
}

/** What the harness tells its model when a skill is loaded: the folder, a blank line, the body. */
const SKILL = /^Base directory for this skill: (\S[^\n]{0,4000})\n+/

const skillOf = (text: string): readonly Piece[] => {
  const match = SKILL.exec(text)
  const name = match?.[1]?.trim().split(/[\\/]/).at(-1)
  return match === null || name === undefined || name === ""
    ? []
    : [{ kind: "skill", name, body: text.slice(match[0].length) }]
}

const entryOf = (line: JsonObject): TreeEntry => {
  const kind = kindOf(line)
  return {
    parent: textAt(line, "parentUuid") ?? textAt(line, "logicalParentUuid"),
    // A line without a parent field follows the line before it; null begins anew.
    followsBefore: line["isCompactSummary"] === true || !("parentUuid" in line),
    kind,
    source: textAt(line, "sourceToolAssistantUUID"),
    answer: kind === "assistant" ? answerOf(line) : undefined,
  }
}

const kindOf = (line: JsonObject): TreeEntry["kind"] => {
  const type = wordAt(line, "type")
  if (type === "assistant") return "assistant"
  if (isQueuedPrompt(line)) return "user"
  if (type !== "user") return "other"
  return blocksOf(objectAt(line, "message")).some((block) => wordAt(block, "type") === "tool_result")
    ? "result"
    : "user"
}

const answerOf = (line: JsonObject): string => {
  const id = textAt(objectAt(line, "message"), "id")
  const request = textAt(line, "requestId") ?? textAt(line, "requestRef") ?? ""
  return id === undefined ? wordAt(line, "uuid") : `${id} ${request}`
}

const keyOf = (line: JsonObject): { readonly key?: string } => {
  const key = textAt(line, "uuid")
  return key === undefined ? {} : { key }
}

const isNote = (line: JsonObject): boolean =>
  line["isMeta"] === true || line["isVisibleInTranscriptOnly"] === true

/** Typed while the model was working. The harness queues its own messages the same way. */
const isQueuedPrompt = (line: JsonObject): boolean => {
  const attachment = wordAt(line, "type") === "attachment" ? objectAt(line, "attachment") : undefined
  return (
    wordAt(attachment, "type") === "queued_command" &&
    wordAt(attachment, "commandMode") !== "task-notification" &&
    attachment?.["isMeta"] !== true &&
    !isNote(line) &&
    blocksIn(attachment?.["prompt"]).length > 0
  )
}

const blocksOf = (message: JsonObject | undefined): readonly JsonObject[] => blocksIn(message?.["content"])

const textsOf = (message: JsonObject | undefined): readonly string[] => textsIn(blocksOf(message))

const textsIn = (blocks: readonly JsonObject[]): readonly string[] =>
  blocks.flatMap((block) => (wordAt(block, "type") === "text" ? (textAt(block, "text") ?? []) : []))

const COMMAND = /<command-name>([^<]{1,200})<\/command-name>/
const ARGUMENTS = /<command-args>([^]*?)<\/command-args>/
const SHELL = /^<bash-input>([^]*?)<\/bash-input>/

const isHarnessText = (text: string): boolean =>
  /^\s*(?:<(?:system-reminder|local-command-|command-|bash-|user-prompt-submit-hook|task-notification|ide_)|\[Request interrupted by user)/.test(
    text,
  )

const promptOf = (text: string, files: readonly PromptFile[]) =>
  files.length === 0 ? { text } : { text, files }

const usageOf = (usage: JsonObject) => {
  const reasoning = countAt(objectAt(usage, "output_tokens_details"), "thinking_tokens")
  return {
    input: countAt(usage, "input_tokens"),
    output: Math.max(0, countAt(usage, "output_tokens") - reasoning),
    reasoning,
    cacheRead: countAt(usage, "cache_read_input_tokens"),
    cacheWrite: countAt(usage, "cache_creation_input_tokens"),
  }
}
