/** Anthropic Messages. A block of thinking is signed by a delta at its end; server tools are a pair of blocks. */
import {
  faultOf,
  fullText,
  pieces,
  toolArguments,
  type Fault,
  type ReplyPart,
  type ScriptHosted,
} from "@meridian/engine/script"

import { named, numbered, partId, type Answer, type WireFormat } from "./format.ts"

const STOP = {
  stop: "end_turn",
  length: "max_tokens",
  "content-filter": "refusal",
  "tool-calls": "tool_use",
} as const

const UNSIGNED = "fake"

const usageOf = ({ usage }: Answer) => ({
  input_tokens: usage.input,
  cache_creation_input_tokens: usage.cacheWrite,
  cache_read_input_tokens: usage.cacheRead,
  output_tokens: usage.output,
})

const headOf = (answer: Answer) => ({
  id: `msg_${answer.id}`,
  type: "message",
  role: "assistant",
  model: answer.model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
})

interface Block {
  /** The block as it opens. */
  readonly open: Readonly<Record<string, unknown>>
  readonly deltas: () => Iterable<unknown>
  readonly whole: Readonly<Record<string, unknown>>
}

const searchResult = (id: string, hosted: ScriptHosted) => ({
  type: "web_search_tool_result",
  tool_use_id: id,
  content:
    hosted.error === undefined
      ? (hosted.results ?? []).map(({ url, title }) => ({
          type: "web_search_result",
          url,
          title: title ?? url,
          encrypted_content: `encrypted:${url}`,
          page_age: null,
        }))
      : { type: "web_search_tool_result_error", error_code: hosted.error },
})

const inputDeltas = function* (text: string): Generator {
  for (const partial_json of pieces(text)) yield { type: "input_json_delta", partial_json }
}

const blocksOf = (answer: Answer, part: ReplyPart, index: number): readonly Block[] => {
  switch (part.type) {
    case "text": {
      const text = fullText(part)
      return [
        {
          open: { type: "text", text: "" },
          deltas: function* () {
            for (const piece of pieces(text, part.chunks)) yield { type: "text_delta", text: piece }
          },
          whole: { type: "text", text },
        },
      ]
    }
    case "reasoning": {
      if (part.redacted !== undefined) {
        const block = { type: "redacted_thinking", data: part.redacted }
        return [{ open: block, deltas: () => [], whole: block }]
      }
      const signature = part.signature ?? UNSIGNED
      return [
        {
          open: { type: "thinking", thinking: "", signature: "" },
          deltas: function* () {
            for (const thinking of pieces(part.text)) yield { type: "thinking_delta", thinking }
            yield { type: "signature_delta", signature }
          },
          whole: { type: "thinking", thinking: part.text, signature },
        },
      ]
    }
    case "tool": {
      const block = { type: "tool_use", id: part.id ?? `toolu_${answer.n}_${index}`, name: part.name }
      return [
        {
          open: { ...block, input: {} },
          deltas: () => inputDeltas(toolArguments(part)),
          whole: { ...block, input: part.input ?? {} },
        },
      ]
    }
    case "hosted": {
      const id = part.id ?? partId("srvtoolu_", answer, index)
      const call = { type: "server_tool_use", id, name: "web_search" }
      const result = searchResult(id, part)
      return [
        {
          open: { ...call, input: {} },
          deltas: () => inputDeltas(JSON.stringify({ query: part.query })),
          whole: { ...call, input: { query: part.query } },
        },
        { open: result, deltas: () => [], whole: result },
      ]
    }
    case "error":
      return []
  }
}

const errorOf = (fault: Fault) => ({
  type: "error",
  error: { type: fault.type ?? "invalid_request_error", message: fault.message ?? "fake error" },
})

function* events(answer: Answer): Generator<string> {
  yield named("message_start", {
    type: "message_start",
    message: { ...headOf(answer), usage: { ...usageOf(answer), output_tokens: 1 } },
  })
  let at = 0
  for (const { part, index } of numbered(answer.parts)) {
    if (part.type === "error") {
      yield named("error", errorOf(faultOf(part.error, "anthropic")))
      return
    }
    for (const block of blocksOf(answer, part, index)) {
      const place = { index: at++ }
      yield named("content_block_start", { type: "content_block_start", ...place, content_block: block.open })
      for (const delta of block.deltas())
        yield named("content_block_delta", { type: "content_block_delta", ...place, delta })
      yield named("content_block_stop", { type: "content_block_stop", ...place })
    }
  }
  if (answer.unfinished) return
  yield named("message_delta", {
    type: "message_delta",
    delta: { stop_reason: STOP[answer.finish], stop_sequence: null },
    usage: { output_tokens: answer.usage.output },
  })
  yield named("message_stop", { type: "message_stop" })
}

export const messages: WireFormat = {
  family: "anthropic",
  whole: (answer) => ({
    ...headOf(answer),
    content: [...numbered(answer.parts)].flatMap(({ part, index }) =>
      blocksOf(answer, part, index).map((block) => block.whole),
    ),
    stop_reason: STOP[answer.finish],
    usage: usageOf(answer),
  }),
  events,
  errorBody: (fault) => fault.body ?? { ...errorOf(fault), request_id: "req_fake" },
}
