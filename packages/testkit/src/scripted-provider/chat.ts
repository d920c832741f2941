/** OpenAI Chat Completions, as compatible servers speak it. Hosted tools do not exist here and are left out. */
import { faultOf, fullText, pieces, toolArguments, type Fault } from "@meridian/engine/script"

import { bare, numbered, type Answer, type WireFormat } from "./format.ts"

const FINISH = {
  stop: "stop",
  length: "length",
  "content-filter": "content_filter",
  "tool-calls": "tool_calls",
} as const

const head = (answer: Answer, object: string) => ({
  id: `chatcmpl-${answer.id}`,
  object,
  created: 0,
  model: answer.model,
})

const chunk = (answer: Answer, delta: unknown, finish: string | null = null): string =>
  bare({
    ...head(answer, "chat.completion.chunk"),
    choices: [{ index: 0, delta, finish_reason: finish }],
  })

const usageOf = ({ usage }: Answer) => {
  const prompt = usage.input + usage.cacheRead
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  }
}

const toolId = (answer: Answer, index: number): string => `call_${answer.n}_${index}`

const errorBody = (fault: Fault): unknown =>
  fault.body ?? {
    error: {
      message: fault.message ?? "fake error",
      type: fault.type ?? "invalid_request_error",
      param: null,
      code: fault.code ?? null,
    },
  }

function* events(answer: Answer): Generator<string> {
  yield chunk(answer, { role: "assistant", content: "" })
  for (const { part, index } of numbered(answer.parts)) {
    switch (part.type) {
      case "text":
        for (const content of pieces(fullText(part), part.chunks)) yield chunk(answer, { content })
        break
      case "reasoning":
        for (const piece of pieces(part.text)) yield chunk(answer, { reasoning_content: piece })
        break
      case "tool": {
        const id = part.id ?? toolId(answer, index)
        const call = { index, id, type: "function", function: { name: part.name, arguments: "" } }
        yield chunk(answer, { tool_calls: [call] })
        for (const piece of pieces(toolArguments(part)))
          yield chunk(answer, { tool_calls: [{ index, function: { arguments: piece } }] })
        break
      }
      case "hosted":
        break
      case "error":
        yield bare(errorBody(faultOf(part.error, "openai")))
        return
    }
  }
  if (answer.unfinished) return
  yield chunk(answer, {}, FINISH[answer.finish])
  if (answer.includeUsage)
    yield bare({ ...head(answer, "chat.completion.chunk"), choices: [], usage: usageOf(answer) })
  yield bare("[DONE]")
}

const whole = (answer: Answer): unknown => {
  const text = answer.parts.map((part) => (part.type === "text" ? fullText(part) : "")).join("")
  const reasoning = answer.parts.map((part) => (part.type === "reasoning" ? part.text : "")).join("")
  const calls = [...numbered(answer.parts)].flatMap(({ part, index }) =>
    part.type === "tool"
      ? [
          {
            id: part.id ?? toolId(answer, index),
            type: "function",
            function: { name: part.name, arguments: toolArguments(part) },
          },
        ]
      : [],
  )
  const message = {
    role: "assistant",
    content: text === "" ? null : text,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
  return {
    ...head(answer, "chat.completion"),
    choices: [{ index: 0, message, finish_reason: FINISH[answer.finish] }],
    usage: usageOf(answer),
  }
}

export const chat: WireFormat = { family: "openai", whole, events, errorBody }
