/** OpenAI Responses. Every event has its sequence number; items carry ids that come back in the next request. */
import { faultOf, fullText, pieces, toolArguments, type Fault, type ReplyPart } from "@meridian/engine/script"

import { named, numbered, partId, type Answer, type WireFormat } from "./format.ts"

type Item = Readonly<Record<string, unknown>> & { readonly id: string }

const usageOf = ({ usage }: Answer) => {
  const input = usage.input + usage.cacheRead
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + usage.output,
  }
}

const responseOf = (answer: Answer, status: string, output: readonly unknown[]) => ({
  id: `resp_${answer.id}`,
  object: "response",
  created_at: 0,
  status,
  model: answer.model,
  output,
  usage: status === "in_progress" ? null : usageOf(answer),
  error: null,
  incomplete_details: status === "incomplete" ? { reason: INCOMPLETE[answer.finish] } : null,
  parallel_tool_calls: true,
  tools: [],
  tool_choice: "auto",
})

const INCOMPLETE: Readonly<Record<Answer["finish"], string | undefined>> = {
  stop: undefined,
  "tool-calls": undefined,
  length: "max_output_tokens",
  "content-filter": "content_filter",
}

const itemOf = (answer: Answer, part: ReplyPart, index: number): Item | undefined => {
  switch (part.type) {
    case "text":
      return {
        id: partId("msg_", answer, index),
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: fullText(part), annotations: [] }],
      }
    case "reasoning":
      return {
        id: part.id ?? partId("rs_", answer, index),
        type: "reasoning",
        summary: part.text === "" ? [] : [{ type: "summary_text", text: part.text }],
        encrypted_content: part.encrypted ?? null,
      }
    case "tool": {
      const id = part.id ?? `call_${answer.n}_${index}`
      return {
        id: `fc_${id}`,
        type: "function_call",
        status: "completed",
        call_id: id,
        ...(part.namespace === undefined ? {} : { namespace: part.namespace }),
        name: part.name,
        arguments: toolArguments(part),
      }
    }
    case "hosted":
      return {
        id: part.id ?? partId("ws_", answer, index),
        type: "web_search_call",
        status: part.error === undefined ? "completed" : "failed",
        action: {
          type: "search",
          query: part.query,
          sources: (part.results ?? []).map(({ url }) => ({ type: "url", url })),
        },
      }
    case "error":
      return undefined
  }
}

const itemsOf = (answer: Answer): readonly Item[] =>
  [...numbered(answer.parts)].flatMap(({ part, index }) => itemOf(answer, part, index) ?? [])

const errorOf = (fault: Fault) => ({
  message: fault.message ?? "fake error",
  type: fault.type ?? "invalid_request_error",
  param: null,
  code: fault.code ?? null,
})

const failedResponse = (fault: Fault, answer: Answer) => ({
  ...responseOf(answer, "failed", []),
  usage: null,
  error: { code: fault.code ?? null, message: fault.message ?? "fake error" },
})

/** The events of one item between its `added` and its `done`. */
function* inner(part: ReplyPart, item: Item, at: object): Generator<readonly [type: string, fields: object]> {
  switch (part.type) {
    case "text": {
      const text = fullText(part)
      const place = { ...at, content_index: 0 }
      const empty = { type: "output_text", text: "", annotations: [] }
      yield ["response.content_part.added", { ...place, part: empty }]
      for (const delta of pieces(text, part.chunks)) yield ["response.output_text.delta", { ...place, delta }]
      yield ["response.output_text.done", { ...place, text }]
      yield ["response.content_part.done", { ...place, part: { ...empty, text } }]
      return
    }
    case "reasoning": {
      if (part.text === "") return
      const place = { ...at, summary_index: 0 }
      const summary = { type: "summary_text", text: part.text }
      yield ["response.reasoning_summary_part.added", { ...place, part: { ...summary, text: "" } }]
      for (const delta of pieces(part.text))
        yield ["response.reasoning_summary_text.delta", { ...place, delta }]
      yield ["response.reasoning_summary_text.done", { ...place, text: part.text }]
      yield ["response.reasoning_summary_part.done", { ...place, part: summary }]
      return
    }
    case "tool":
      for (const delta of pieces(toolArguments(part)))
        yield ["response.function_call_arguments.delta", { ...at, delta }]
      yield ["response.function_call_arguments.done", { ...at, arguments: toolArguments(part) }]
      return
    case "hosted":
      yield ["response.web_search_call.in_progress", at]
      yield ["response.web_search_call.searching", at]
      yield ["response.web_search_call.completed", at]
      return
    case "error":
  }
}

const begun = (part: ReplyPart, item: Item): Item => {
  switch (part.type) {
    case "text":
      return { ...item, status: "in_progress", content: [] }
    case "reasoning":
      return { ...item, summary: [] }
    case "tool":
      return { ...item, status: "in_progress", arguments: "" }
    case "hosted":
    case "error":
      return { ...item, status: "in_progress" }
  }
}

function* events(answer: Answer): Generator<string> {
  let sequence = 0
  let output = 0
  const send = (type: string, fields: object): string =>
    named(type, { type, sequence_number: sequence++, ...fields })
  const response = responseOf(answer, "in_progress", [])
  yield send("response.created", { response })
  yield send("response.in_progress", { response })
  for (const { part, index } of numbered(answer.parts)) {
    if (part.type === "error") {
      yield send("response.failed", { response: failedResponse(faultOf(part.error, "openai"), answer) })
      return
    }
    const item = itemOf(answer, part, index)
    if (item === undefined) continue
    const output_index = output++
    yield send("response.output_item.added", { output_index, item: begun(part, item) })
    for (const [type, fields] of inner(part, item, { item_id: item.id, output_index }))
      yield send(type, fields)
    yield send("response.output_item.done", { output_index, item })
  }
  if (answer.unfinished) return
  const status = statusOf(answer)
  yield send(`response.${status}`, { response: responseOf(answer, status, itemsOf(answer)) })
}

const statusOf = (answer: Answer): string =>
  INCOMPLETE[answer.finish] === undefined ? "completed" : "incomplete"

export const responses: WireFormat = {
  family: "openai",
  whole: (answer) => responseOf(answer, statusOf(answer), itemsOf(answer)),
  events,
  errorBody: (fault) => fault.body ?? { error: errorOf(fault) },
}
