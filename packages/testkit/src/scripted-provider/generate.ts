/**
 * Google's streamGenerateContent. Thoughts are separate parts. Their signature comes with what follows them: on a call, or
 * on an empty text at the end. Hosted tools do not exist here and are left out.
 */
import {
  faultOf,
  fullText,
  pieces,
  toolArguments,
  type Fault,
  type ReplyPart,
  type ScriptTool,
} from "@meridian/engine/script"

import { bare, numbered, type Answer, type WireFormat } from "./format.ts"

const FINISH = {
  stop: "STOP",
  length: "MAX_TOKENS",
  "content-filter": "SAFETY",
  "tool-calls": "STOP",
} as const

const STATUS: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
}

const usageOf = ({ usage }: Answer) => {
  const prompt = usage.input + usage.cacheRead
  return {
    promptTokenCount: prompt,
    ...(usage.cacheRead === 0 ? {} : { cachedContentTokenCount: usage.cacheRead }),
    candidatesTokenCount: usage.output - usage.reasoning,
    ...(usage.reasoning === 0 ? {} : { thoughtsTokenCount: usage.reasoning }),
    totalTokenCount: prompt + usage.output,
  }
}

const chunk = (answer: Answer, parts: readonly unknown[], more: object = {}): unknown => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
  usageMetadata: usageOf(answer),
  modelVersion: answer.model,
  responseId: `resp_${answer.id}`,
})

/** Google writes arguments as a value, not as text. Text is how a broken call looks. */
const argumentsOf = (part: ScriptTool): unknown =>
  part.raw === undefined ? (part.input ?? {}) : toolArguments(part)

const callOf = (answer: Answer, part: ScriptTool, index: number) => ({
  id: part.id ?? `call_${answer.n}_${index}`,
  name: part.name,
  args: argumentsOf(part),
})

/** The pieces in which a stream delivers one part of a reply. */
function* partsOf(answer: Answer): Generator<{ readonly part: ReplyPart; readonly wire: object }> {
  let signature: string | undefined
  const signed = (): object => {
    const thoughtSignature = signature
    signature = undefined
    return thoughtSignature === undefined ? {} : { thoughtSignature }
  }
  for (const { part, index } of numbered(answer.parts))
    switch (part.type) {
      case "text":
        for (const text of pieces(fullText(part), part.chunks)) yield { part, wire: { text } }
        if (signature !== undefined) yield { part, wire: { text: "", ...signed() } }
        break
      case "reasoning":
        for (const text of pieces(part.text)) yield { part, wire: { text, thought: true } }
        signature = part.signature
        break
      case "tool":
        yield { part, wire: { functionCall: callOf(answer, part, index), ...signed() } }
        break
      case "hosted":
        break
      case "error":
        yield { part, wire: {} }
        break
    }
}

const errorBody = (fault: Fault): unknown => {
  const code = fault.status ?? 400
  return (
    fault.body ?? {
      error: { code, message: fault.message ?? "fake error", status: STATUS[code] ?? "UNKNOWN" },
    }
  )
}

function* events(answer: Answer): Generator<string> {
  for (const { part, wire } of partsOf(answer)) {
    if (part.type === "error") {
      yield bare(errorBody(faultOf(part.error, "google")))
      return
    }
    yield bare(chunk(answer, [wire]))
  }
  if (answer.unfinished) return
  yield bare(chunk(answer, [], { finishReason: FINISH[answer.finish] }))
}

const whole = (answer: Answer): unknown =>
  chunk(
    answer,
    [...partsOf(answer)].map(({ wire }) => wire),
    { finishReason: FINISH[answer.finish] },
  )

export const generate: WireFormat = { family: "google", whole, events, errorBody }
