/**
 * How providers report that a request does not fit the window. There is no standard: some have a code, most only words. A
 * missed wording costs a session its turn; a false match costs a needless compaction. So both lists are tested with the
 * original texts.
 */

/** Codes and types that always mean overflow. */
const CODES: ReadonlySet<string> = new Set([
  "context_length_exceeded", // OpenAI, Azure, Groq, OpenRouter
  "exceed_context_size_error", // llama.cpp
  "context_window_exceeded",
  "model_max_prompt_tokens_exceeded", // GitHub Copilot
  "context_too_large",
])

const WORDINGS: readonly RegExp[] = [
  /context_length_exceeded|exceed_context_size_error|model_max_prompt_tokens_exceeded/i,
  /maximum context length/i, // OpenAI, Azure, vLLM, OpenRouter, DeepSeek, Mistral
  /maximum model length/i, // vLLM, older
  /(exceed|larger than|longer than|beyond|over)\S*\b.{0,80}\bcontext (window|length|size|limit)/i, // OpenAI Responses, Anthropic, llama.cpp, Ollama, SGLang
  /context (window|length|size|limit)\b.{0,40}\bexceed/i, // LM Studio, MiniMax
  /prompt (is )?too long/i, // Anthropic, Ollama
  /input is too long/i, // Bedrock
  /context the overflows|context overflow/i, // LM Studio, in its own words
  /tokens to keep from the initial prompt is greater than the context length/i, // LM Studio
  /loaded with (a )?context length of only/i, // LM Studio
  /input token count.{0,60}exceeds/i, // Google
  /prompt token count.{0,40}exceeds the limit/i, // GitHub Copilot
  /maximum prompt length/i, // xAI
  /tokens? \+ `?max_new_tokens`? must be/i, // TGI, Together
  /inputs must have less than \d+ tokens/i, // TGI
  /reduce the length of the (messages|prompt|input)/i, // OpenAI, Groq, Cerebras
  /exceeded model token limit/i, // Moonshot
  /prompt exceeds max length/i, // Z.ai
  /range of input length should be/i, // DashScope
  /too many (input )?tokens|total number of tokens in the prompt cannot exceed/i, // Bedrock, Cohere
  /too large for model with \d+ maximum context/i, // Mistral
  /request_too_large|request exceeds the maximum (allowed )?(number of bytes|size)/i, // Anthropic
]

/** Texts that mention tokens or limits with another meaning. */
const EXCLUSIONS: readonly RegExp[] = [
  /rate.?limit|too many requests|throttl|quota/i,
  /per (minute|min|hour|day|second)\b|\b(tpm|tpd|rpm|rpd)\b/i,
  /please (wait|try again)|try again in/i,
  /max_(completion_|output_)?tokens`?(:| is| must| cannot| value| parameter).{0,40}(too large|less than|at most|greater|between|exceed the model|<=)/i,
  /supports at most \d+ completion tokens/i,
]

export interface OverflowFacts {
  readonly status: number | undefined
  readonly codes: readonly string[]
  readonly text: string
}

export const isOverflow = ({ status, codes, text }: OverflowFacts): boolean => {
  if (codes.some((code) => CODES.has(code))) return true
  if (status === 401 || status === 403 || status === 429) return false
  if (EXCLUSIONS.some((wording) => wording.test(text))) return false
  return status === 413 || WORDINGS.some((wording) => wording.test(text))
}
