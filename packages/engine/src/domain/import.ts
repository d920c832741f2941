/**
 * Turns a foreign conversation into ordinary events: the reader's pieces are assembled into turns, in their order. Whatever
 * the pieces are, the resulting log keeps the laws: one step at a time, each ended once, every call with exactly one
 * outcome. What does not fit is counted, never guessed.
 */
import {
  messageId,
  type Json,
  type MessageId,
  type PromptFile,
  type RecordedContent,
  type RecordedUsage,
} from "@meridian/protocol"

import { assert } from "./assert.ts"
import type { DatedEvent } from "./fork.ts"
import type { ImportPiece, OfTurn } from "./import-piece.ts"
import {
  cutText,
  freeId,
  givenInput,
  shortName,
  toolName,
  validCount,
  validTime,
  validUsage,
} from "./import-values.ts"
import { LIMITS } from "./limits.ts"
import { wellFormed } from "./well-formed.ts"

export interface ImportCounts {
  readonly prompts: number
  readonly turns: number
  readonly tools: number
  readonly compactions: number
  /** 1 when the source begins with an answer. A note replaces the missing prompt. */
  readonly missingStart: number
  /** Calls without a result in the source, recorded as interrupted. */
  readonly unanswered: number
  /** Results of calls that the source lacks, or that already have a result. */
  readonly strayResults: number
  /** Texts longer than a session keeps. */
  readonly cutTexts: number
  /** Texts with half a character, now replaced by U+FFFD. */
  readonly mendedTexts: number
  /** Files in prompts and results that a session does not accept: too large or too many. */
  readonly droppedFiles: number
  /** Pictures and files in results of failed calls, where only text is possible. */
  readonly failedFiles: number
  /** Call inputs that were nested too deep, kept as text. */
  readonly deepInputs: number
}

export interface Assembler {
  readonly take: (piece: ImportPiece) => readonly DatedEvent[]
  /** Settles everything open. */
  readonly end: () => readonly DatedEvent[]
  readonly counts: () => ImportCounts
}

type PromptPiece = Extract<ImportPiece, { readonly kind: "prompt" }>

interface OpenTurn {
  readonly turn: string
  readonly id: MessageId
  calls: number
  usage: RecordedUsage
  cost: number
  error: string | undefined
}

const NO_USAGE: RecordedUsage = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 }

export const createAssembler = (options: {
  /** The n-th id of this session. */
  readonly id: (prefix: string, n: number) => string
  /** The time of pieces before the first one with a time. */
  readonly time: number
}): Assembler => {
  const counts = {
    prompts: 0,
    turns: 0,
    tools: 0,
    compactions: 0,
    missingStart: 0,
    unanswered: 0,
    strayResults: 0,
    cutTexts: 0,
    mendedTexts: 0,
    droppedFiles: 0,
    failedFiles: 0,
    deepInputs: 0,
  }
  let { time } = options
  /** The time of the last event. */
  let latest = time
  let seq = 1
  let ids = 0
  let turn: OpenTurn | undefined
  /** Messages that the next summary covers. */
  let visible = 0
  /** Ids of calls. No id is used twice within our session. */
  const taken = new Set<string>()
  /** Calls without an outcome, by the source's id, oldest first. */
  const open = new Map<string, { readonly messageID: MessageId; readonly callID: string }[]>()
  /** Messages since the last summary, which the next one may keep, by the source's name. */
  const keys = new Map<string, string>()
  /** A prompt that came while calls were open. As in the source, it waits until the answer is over. */
  let waiting: { readonly piece: PromptPiece; readonly time: number } | undefined
  let events: DatedEvent[] = []

  const nextId = (prefix: string): string => options.id(prefix, ++ids)

  const emit = (event: DatedEvent): void => {
    events.push(event)
    seq += 1
    latest = event.time
  }

  const settleCalls = (): void => {
    for (const calls of open.values())
      for (const { messageID, callID } of calls) {
        counts.unanswered += 1
        const error = { code: "interrupted", message: NO_RESULT }
        emit({
          type: "session.next.tool.failed.1",
          time,
          data: { assistantMessageID: messageID, callID, error },
        })
      }
    open.clear()
  }

  const endTurn = (): void => {
    if (turn === undefined) return
    const { id, usage, cost, error, calls } = turn
    turn = undefined
    if (error === undefined)
      emit({
        type: "session.next.step.ended.2",
        time,
        data: { assistantMessageID: id, finish: calls > 0 ? "tool-calls" : "stop", usage, cost },
      })
    else
      emit({
        type: "session.next.step.failed.2",
        time,
        data: { assistantMessageID: id, error: { code: "IMPORTED", message: error } },
      })
  }

  const settle = (): void => {
    const said = waiting
    waiting = undefined
    const now = time
    if (said !== undefined) time = Math.max(said.time, latest)
    endTurn()
    settleCalls()
    if (said !== undefined) recordPrompt(said.piece)
    time = now
  }

  const enterTurn = (piece: OfTurn): OpenTurn => {
    if (turn?.turn !== piece.turn) {
      settle()
      if (seq === 1) noteMissingStart()
      const id = messageId(nextId("msg_"))
      turn = { turn: piece.turn, id, calls: 0, usage: NO_USAGE, cost: 0, error: undefined }
      counts.turns += 1
      visible += 1
      const { agent = "imported", model = "unknown" } = piece
      emit({
        type: "session.next.step.started.1",
        time,
        data: { assistantMessageID: id, agent: shortName(agent), model: shortName(model) },
      })
    }
    if (piece.key !== undefined) keys.set(piece.key, turn.id)
    return turn
  }

  /** Providers refuse a conversation without an opening prompt. */
  const noteMissingStart = (): void => {
    counts.missingStart = 1
    visible += 1
    const data = { messageID: messageId(nextId("msg_")), prompt: { text: MISSING_START } }
    emit({ type: "session.next.prompted.1", time, data })
  }

  const shorten = (text: string, most: number): string => {
    if (!text.isWellFormed()) counts.mendedTexts += 1
    const kept = cutText(text, most)
    if (text.length <= most) return kept
    counts.cutTexts += 1
    return `${kept}\n[cut: the import keeps ${most} characters]`
  }

  const takePrompt = (piece: PromptPiece): void => {
    if (piece.prompt.text === "" && (piece.prompt.files ?? []).length === 0) return
    if (open.size > 0 && waiting === undefined) {
      waiting = { piece, time }
      return
    }
    settle()
    recordPrompt(piece)
  }

  const recordPrompt = (piece: PromptPiece): void => {
    const text = shorten(piece.prompt.text, LIMITS.importedPromptCharacters)
    let room = LIMITS.promptBytes
    const files = (piece.prompt.files ?? []).flatMap((file, at): readonly PromptFile[] => {
      room -= file.base64.length
      if (room < 0 || at >= LIMITS.promptFiles) return []
      return [file.name === undefined ? file : { ...file, name: shortName(file.name) }]
    })
    counts.droppedFiles += (piece.prompt.files?.length ?? 0) - files.length
    if (text === "" && files.length === 0) return
    counts.prompts += 1
    visible += 1
    const id = messageId(nextId("msg_"))
    if (piece.key !== undefined) keys.set(piece.key, id)
    emit({
      type: "session.next.prompted.1",
      time,
      data: { messageID: id, prompt: files.length === 0 ? { text } : { text, files } },
    })
  }

  const takeCall = (piece: Extract<ImportPiece, { readonly kind: "call" }>): void => {
    const entered = enterTurn(piece)
    const { id } = entered
    entered.calls += 1
    counts.tools += 1
    const callID = freeId(piece.callID, taken)
    taken.add(callID)
    open.set(piece.callID, [...(open.get(piece.callID) ?? []), { messageID: id, callID }])
    const given = takeInput(piece)
    emit({
      type: "session.next.tool.called.1",
      time,
      data: { assistantMessageID: id, callID, tool: toolName(piece.tool), ...given },
    })
  }

  const takeInput = (
    piece: Extract<ImportPiece, { readonly kind: "call" }>,
  ): { readonly input: Json } | { readonly raw: string } => {
    const given = givenInput(piece)
    if (given.kind === "object") {
      if (given.input !== piece.input && piece.input !== undefined) counts.mendedTexts += 1
      return { input: given.input }
    }
    if (given.isDeep) counts.deepInputs += 1
    return { raw: shorten(given.text, LIMITS.importedTextCharacters) }
  }

  const takeResult = (piece: Extract<ImportPiece, { readonly kind: "result" }>): void => {
    const [call, ...rest] = open.get(piece.callID) ?? []
    if (call === undefined) {
      counts.strayResults += 1
      return
    }
    if (rest.length === 0) open.delete(piece.callID)
    else open.set(piece.callID, rest)
    const content = boundContent(piece.content)
    const about = { assistantMessageID: call.messageID, callID: call.callID }
    if (piece.failed !== true)
      return emit({ type: "session.next.tool.success.1", time, data: { ...about, content } })
    const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []))
    counts.failedFiles += content.length - texts.length
    const message = texts.join("\n")
    const error = { code: "failed", message: message === "" ? "The tool failed." : message }
    emit({ type: "session.next.tool.failed.1", time, data: { ...about, error } })
  }

  const boundContent = (content: readonly RecordedContent[]): readonly RecordedContent[] => {
    let characters = LIMITS.importedResultCharacters
    let bytes = LIMITS.promptBytes
    return content.flatMap((part): readonly RecordedContent[] => {
      if (part.type === "media") {
        bytes -= part.base64.length
        if (bytes >= 0) return [part]
        counts.droppedFiles += 1
        return []
      }
      const text = shorten(part.text, Math.max(0, characters))
      characters -= part.text.length
      return [{ type: "text", text }]
    })
  }

  const takeSummary = (piece: Extract<ImportPiece, { readonly kind: "summary" }>): void => {
    settle()
    counts.compactions += 1
    const compactionID = nextId("cmp_")
    const kept = [...new Set((piece.keep ?? []).flatMap((key) => keys.get(key) ?? []))]
    const reason = piece.manual === true ? "manual" : "auto"
    const tokens = piece.tokens ?? { before: 0, after: 0 }
    const through = seq
    const messages = Math.max(0, visible - kept.length)
    visible = kept.length
    emit({
      type: "session.next.compaction.started.1",
      time,
      data: { compactionID, reason, model: "unknown", tokens: tokens.before },
    })
    emit({
      type: "session.next.compaction.ended.2",
      time,
      data: {
        compactionID,
        reason,
        method: "model",
        summary: shorten(piece.text, LIMITS.importedTextCharacters),
        recent: "",
        range: { from: 1, through },
        kept,
        messages,
        tokens,
        usage: validUsage(piece.usage ?? NO_USAGE),
        cost: validCount(piece.cost ?? 0),
        removedQuotes: [],
      },
    })
    const stays = new Set(kept)
    for (const [key, id] of keys) if (!stays.has(id)) keys.delete(key)
  }

  const take: Assembler["take"] = (piece) => {
    if ("time" in piece) time = validTime(piece.time) ?? time
    switch (piece.kind) {
      case "prompt":
        takePrompt(piece)
        break
      case "text":
      case "reasoning": {
        const text = shorten(piece.text, LIMITS.importedTextCharacters)
        if (text === "") break
        const { id } = enterTurn(piece)
        const data = { assistantMessageID: id, text }
        if (piece.kind === "text") emit({ type: "session.next.text.ended.1", time, data })
        else emit({ type: "session.next.reasoning.ended.1", time, data })
        break
      }
      case "call":
        takeCall(piece)
        break
      case "result":
        takeResult(piece)
        break
      case "todo":
        emit({ type: "session.next.todo.updated.1", time, data: { items: wellFormed(piece.items) } })
        break
      case "usage":
        if (turn?.turn !== piece.turn) break
        turn.usage = validUsage(piece.usage)
        turn.cost = validCount(piece.cost ?? 0)
        break
      case "failed":
        enterTurn(piece).error = shorten(piece.message, LIMITS.recordedErrorCharacters)
        break
      case "summary":
        takeSummary(piece)
        break
    }
    return made()
  }

  const made = (): readonly DatedEvent[] => {
    const list = events
    events = []
    return list
  }

  return {
    take,
    end: () => {
      settle()
      assert(open.size === 0 && turn === undefined, "an import ends settled")
      return made()
    },
    counts: () => ({ ...counts }),
  }
}

const MISSING_START = "[The beginning of this conversation is missing: it was not in the imported file.]"
const NO_RESULT = "The imported conversation has no result of this call."
