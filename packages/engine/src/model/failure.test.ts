import { describe, expect, test } from "vitest"

import { ModelFailure, type ModelFailureKind } from "../port/model.ts"
import { MESSAGE_LIMIT, toModelFailure } from "./failure.ts"

const NOW = Date.parse("2026-11-15T10:00:00Z")
const SURROUNDINGS = { now: NOW, secrets: ["sk-live-abcdef123456", "tok/with+odd=signs"] }

const factsOf = (error: unknown) => toModelFailure(error, SURROUNDINGS).facts
const kindOf = (error: unknown): ModelFailureKind => factsOf(error).kind

/** An error as the AI SDK passes it on. */
const answer = (status: number, message: string, extra: object = {}) => ({
  name: "AI_APICallError",
  message,
  statusCode: status,
  responseBody: JSON.stringify({ error: { message } }),
  data: { error: { message } },
  isRetryable: status === 429 || status >= 500,
  ...extra,
})

/** The original wording of each server. */
const OVERFLOWS: readonly (readonly [server: string, status: number, message: string])[] = [
  [
    "OpenAI chat",
    400,
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce the length of the messages.",
  ],
  [
    "OpenAI responses",
    400,
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
  ],
  ["Anthropic", 400, "prompt is too long: 210000 tokens > 200000 maximum"],
  [
    "Anthropic with output",
    400,
    "input length and `max_tokens` exceed context limit: 195000 + 8000 > 200000, decrease input length or `max_tokens` and try again",
  ],
  ["Anthropic in bytes", 413, "Request exceeds the maximum size"],
  [
    "vLLM",
    400,
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).",
  ],
  ["vLLM older", 400, "The decoder prompt (length 5000) is longer than the maximum model length of 4096."],
  ["llama.cpp", 400, "the request exceeds the available context size, try increasing it"],
  ["llama.cpp older", 500, "context size exceeded"],
  ["Ollama", 400, "the input length exceeds the context length"],
  ["Ollama cloud", 400, "prompt too long; exceeded max context length by 4 tokens"],
  [
    "LM Studio",
    400,
    "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
  ],
  [
    "LM Studio newer",
    400,
    "The number of tokens to keep from the initial prompt is greater than the context length.",
  ],
  [
    "OpenRouter",
    400,
    "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens (39000 of text input, 1000 in the output).",
  ],
  [
    "Azure",
    400,
    "This model's maximum context length is 8192 tokens, however you requested 9000 tokens. Please reduce your prompt; or completion length.",
  ],
  ["Bedrock", 400, "Input is too long for requested model."],
  ["Bedrock validation", 400, "ValidationException: too many input tokens: 250000 > 200000"],
  ["Google", 400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."],
  ["TGI", 422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000"],
  [
    "Mistral",
    400,
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
  ],
  ["Groq", 400, "Please reduce the length of the messages or completion."],
  ["xAI", 400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
  ["SGLang", 400, "The input (5000 tokens) is longer than the model's context length (4096 tokens)."],
  ["Copilot", 400, "prompt token count of 200000 exceeds the limit of 128000"],
  ["Moonshot", 400, "Invalid request: Your request exceeded model token limit: 131072"],
  ["DashScope", 400, "Range of input length should be [1, 129024]"],
  ["Cohere", 400, "too many tokens: total number of tokens in the prompt cannot exceed 4081"],
  ["MiniMax", 400, "invalid params, context window exceeds limit (2013)"],
  [
    "Cerebras",
    400,
    "Please reduce the length of the messages or completion. Current length is 8343 while limit is 8192",
  ],
]

/** Texts about tokens and limits with another meaning. */
const OTHERS: readonly (readonly [
  server: string,
  status: number,
  message: string,
  kind: ModelFailureKind,
])[] = [
  [
    "OpenAI tokens per minute",
    429,
    "Request too large for gpt-4 in organization org-1 on tokens per min (TPM): Limit 10000, Requested 12000.",
    "rate",
  ],
  [
    "Groq tokens per minute with 413",
    413,
    "Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce your message size and try again.",
    "rate",
  ],
  [
    "Anthropic tokens per minute",
    429,
    "This request would exceed your organization's rate limit of 40,000 input tokens per minute.",
    "rate",
  ],
  ["Bedrock throttling", 429, "Too many tokens, please wait before trying again.", "rate"],
  [
    "OpenAI output limit",
    400,
    "max_tokens is too large: 40000. This model supports at most 16384 completion tokens.",
    "invalid-request",
  ],
  [
    "Anthropic output limit",
    400,
    "max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens",
    "invalid-request",
  ],
  ["a wrong tool", 400, "tools.0.input_schema: field required", "invalid-request"],
  [
    "quota",
    429,
    "You exceeded your current quota, please check your plan and billing details.",
    "authentication",
  ],
  ["credit", 400, "Your credit balance is too low to access the Anthropic API.", "authentication"],
  ["payment", 402, "Insufficient credits", "authentication"],
  ["key", 401, "Incorrect API key provided", "authentication"],
  ["region", 403, "Country, region, or territory not supported", "authentication"],
  [
    "moderation",
    403,
    'Your chosen model requires moderation and your input was flagged for "violence"',
    "content",
  ],
  [
    "Azure filter",
    400,
    "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
    "content",
  ],
  ["Anthropic filter", 400, "Output blocked by content filtering policy", "content"],
  ["too many requests", 429, "Too Many Requests", "rate"],
  ["unknown model", 404, "The model `nope` does not exist", "invalid-request"],
  ["a slow request", 408, "Request timed out", "transport"],
  ["broken", 500, "Internal server error", "overloaded"],
  ["gateway", 502, "Bad Gateway", "overloaded"],
  ["unavailable", 503, "The model is currently overloaded. Please try again later.", "overloaded"],
  ["gateway time-out", 504, "Gateway Timeout", "overloaded"],
  ["overloaded", 529, "Overloaded", "overloaded"],
  ["a redirect", 307, "Temporary Redirect", "invalid-request"],
]

describe("classification", () => {
  test.each(OVERFLOWS)("%s says overflow with %i", (_server, status, message) => {
    expect(kindOf(answer(status, message))).toBe("overflow")
  })

  test.each(OVERFLOWS)("%s says overflow inside a stream", (_server, _status, message) => {
    expect(kindOf({ message, type: "invalid_request_error" })).toBe("overflow")
  })

  test.each(OTHERS)("%s with %i is not an overflow", (_server, status, message, kind) => {
    expect(kindOf(answer(status, message))).toBe(kind)
  })

  test("a code says overflow whatever the words are", () => {
    const data = { error: { message: "no", code: "context_length_exceeded" } }
    expect(kindOf(answer(400, "no", { data }))).toBe("overflow")
    expect(kindOf(answer(400, "no", { data: { error: { type: "exceed_context_size_error" } } }))).toBe(
      "overflow",
    )
  })

  test("plain objects from inside a stream are read by shape", () => {
    const overloaded = {
      message: "Overloaded",
      type: "overloaded_error",
      statusCode: 529,
      isRetryable: true,
      data: {},
    }
    expect(factsOf(overloaded)).toEqual({ kind: "overloaded", status: 529, message: "Overloaded" })
    expect(kindOf({ message: "slow down", type: "rate_limit_error" })).toBe("rate")
    expect(kindOf({ error: { message: "bad key", type: "authentication_error" } })).toBe("authentication")
    expect(kindOf({ message: "Internal server error", type: "api_error" })).toBe("overloaded")
  })

  test.each([
    ["ECONNREFUSED", "transport"],
    ["ENOTFOUND", "transport"],
    ["EAI_AGAIN", "transport"],
    ["ECONNRESET", "transport"],
    ["ETIMEDOUT", "transport"],
    ["UND_ERR_SOCKET", "transport"],
    ["CERT_HAS_EXPIRED", "transport"],
    ["ERR_INVALID_URL", "invalid-request"],
    ["UND_ERR_INVALID_ARG", "invalid-request"],
    ["UND_ERR_NOT_SUPPORTED", "invalid-request"],
  ] as const)("the network code %s below other errors is %s", (code, kind) => {
    const socket = Object.assign(new Error("socket"), { code })
    const wrapped = Object.assign(
      new Error("Cannot connect to API", { cause: new Error("x", { cause: socket }) }),
      {
        name: "AI_APICallError",
      },
    )
    expect(factsOf(wrapped)).toEqual({ kind, message: `Cannot connect to API (${code})` })
  })

  test("a connection that broke under a good status is transport, and the status is not shown", () => {
    const cause = Object.assign(new Error("aborted"), { code: "ECONNRESET" })
    const error = {
      message: "Failed to process successful response",
      statusCode: 200,
      isRetryable: true,
      cause,
    }
    expect(factsOf(error)).toEqual({
      kind: "transport",
      message: "Failed to process successful response (ECONNRESET)",
    })
  })

  test.each([
    ["AI_InvalidResponseDataError", "invalid-output"],
    ["AI_JSONParseError", "invalid-output"],
    ["AI_TypeValidationError", "invalid-output"],
    ["AI_LoadAPIKeyError", "authentication"],
    ["AI_UnsupportedFunctionalityError", "invalid-request"],
  ] as const)("%s is %s", (name, kind) => {
    expect(kindOf({ name, message: "m" })).toBe(kind)
  })

  test("a cycle of causes, and values that are not errors, end as unknown", () => {
    const loop: { cause?: unknown; message: string } = { message: "round" }
    loop.cause = loop
    expect(factsOf(loop)).toEqual({ kind: "unknown", message: "round" })
    expect(factsOf(undefined)).toEqual({ kind: "unknown", message: "The provider failed without saying why" })
    expect(factsOf("just words")).toEqual({ kind: "unknown", message: "just words" })
    expect(factsOf(42)).toMatchObject({ kind: "unknown" })
  })

  test("a failure passes through as it is", () => {
    const failure = new ModelFailure({ kind: "rate", message: "m" })
    expect(toModelFailure(failure, SURROUNDINGS)).toBe(failure)
  })

  test("a body that is not JSON is part of the message", () => {
    const error = answer(502, "Bad Gateway", {
      data: undefined,
      responseBody: "<html>\n  <h1>nginx</h1>\n</html>",
    })
    expect(factsOf(error).message).toBe("Bad Gateway: <html> <h1>nginx</h1> </html>")
  })
})

describe("servers with forms of their own", () => {
  test.each([
    [{ detail: "Not Found" }, '{"detail":"Not Found"}'],
    [{ error: "model is loading" }, "model is loading"],
    [{ object: "error", message: "bad roles", code: 40301 }, "bad roles"],
    [{ error: { message: "deep" } }, "deep"],
  ])("%j is read as %j", (data, message) => {
    const error = { statusCode: 400, message: "", responseBody: JSON.stringify(data), data }
    expect(factsOf(error)).toEqual({ kind: "invalid-request", status: 400, message })
  })
})

describe("waiting", () => {
  test.each([
    [{ "retry-after": "7" }, 7_000],
    [{ "retry-after": "0.5" }, 500],
    [{ "Retry-After": "3" }, 3_000],
    [{ "retry-after-ms": "1250", "retry-after": "9" }, 1_250],
    [{ "retry-after": "Sun, 15 Nov 2026 10:00:45 GMT" }, 45_000],
    [{ "retry-after": "Sun, 15 Nov 2026 09:00:00 GMT" }, 1_000],
    [{ "anthropic-ratelimit-unified-reset": String(Date.UTC(2026, 10, 15, 12) / 1_000) }, 7_200_000],
    [{ "anthropic-ratelimit-requests-reset": "2026-11-15T10:30:00Z" }, 1_800_000],
    [
      {
        "anthropic-ratelimit-requests-remaining": "9",
        "anthropic-ratelimit-requests-reset": "2026-11-15T11:00:00Z",
        "anthropic-ratelimit-tokens-remaining": "0",
        "anthropic-ratelimit-tokens-reset": "2026-11-15T10:10:00Z",
      },
      600_000,
    ],
    [{ "x-ratelimit-reset-requests": "1h2m3s" }, 3_723_000],
    [{ "ratelimit-reset": "90" }, 90_000],
  ])("reads %j as %i ms", (responseHeaders, expected) => {
    expect(factsOf(answer(429, "slow", { responseHeaders })).retryAfterMs).toBe(expected)
  })

  test.each([[{ "retry-after": "soon" }], [{ "retry-after": "-5" }], [{}]])(
    "reads nothing from %j",
    (responseHeaders) => {
      expect(factsOf(answer(429, "slow", { responseHeaders }))).not.toHaveProperty("retryAfterMs")
    },
  )

  test.each([
    ["Rate limit reached. Please try again in 1.2s. Visit", 1_200],
    ["Please try again in 20ms.", 20],
    ["Please try again in 1m30s.", 90_000],
    ['{"retryDelay": "34s"}', 34_000],
    ["Your limit resets in 2h 13m.", 7_980_000],
    ["Try again in 5 days 3 hours and 2 minutes.", 442_920_000],
    ["Usage limit reached: resets 3pm (UTC)", 18_000_000],
    ["You've hit your limit. Try again at 11:30 AM UTC.", 5_400_000],
    ["limit resets 6am (America/New_York)", 3_600_000],
    ['{"error":{"type":"usage_limit_reached","resets_in_seconds":8000}}', 8_000_000],
    [`{"resets_at": ${Date.UTC(2026, 10, 15, 10, 1) / 1_000}}`, 60_000],
    [`{"resets_at": ${Date.UTC(2020, 1, 1) / 1_000}}`, 1_000],
  ])("reads the words %j", (message, expected) => {
    expect(factsOf(answer(429, message)).retryAfterMs).toBe(expected)
  })

  test.each([
    "Please try again later.",
    "Try again at 25:99.",
    "Try again at 13 PM.",
    "resets 3pm (Mars/Olympus)",
    '{"resets_at": "soon"}',
    "try again in a while",
    "reset 12",
  ])("reads no time from %j", (message) => {
    expect(factsOf(answer(429, message))).not.toHaveProperty("retryAfterMs")
  })

  test("nothing waits when waiting would not help", () => {
    expect(factsOf(answer(400, "bad", { responseHeaders: { "retry-after": "5" } }))).not.toHaveProperty(
      "retryAfterMs",
    )
  })
})

describe("messages", () => {
  test.each([
    ["Incorrect API key provided: sk-live-abcdef123456.", "sk-live-abcdef123456"],
    ["Incorrect API key provided: sk-proj-****************************WXYZ", "WXYZ"],
    ["GET https://host/v1?key=AIzaSyA1234567890abcdef&alt=sse failed", "AIzaSyA"],
    ["https://host/v1?api_key=hunter22 said no", "hunter22"],
    ["connect https://user:pa55word@host/v1", "pa55word"],
    ['{"authorization":"Bearer abc.def-123"}', "abc.def-123"],
    ["Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"],
    ["header x-api-key: 0123-4567-89ab was refused", "0123-4567"],
    ['{"api_key": "plain-secret-value"}', "plain-secret-value"],
    ["token tok/with+odd=signs is wrong", "tok/with"],
    [`token ${encodeURIComponent("tok/with+odd=signs")} is wrong`, "tok%2F"],
    ["jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "eyJzdWI"],
    ["cookie: session=abcdef", "abcdef"],
  ])("hide the credential in %j", (message, secret) => {
    const facts = factsOf(
      answer(401, message, { responseBody: message, url: message, requestBodyValues: { message } }),
    )
    expect(facts.message).not.toContain(secret)
    expect(facts.message).toContain("<hidden>")
  })

  test("hide credentials in bodies that are not JSON", () => {
    const error = answer(400, "Bad Request", {
      data: undefined,
      responseBody: "you sent authorization: Bearer zzzzzzzz9",
    })
    expect(factsOf(error).message).toBe("Bad Request: you sent authorization: <hidden>")
  })

  test("leave ordinary words alone", () => {
    const message = "The token limit is 100; key features and the author's authorization are fine"
    expect(factsOf(answer(400, message)).message).toBe(message)
  })

  test("are one line of at most 2,000 characters, tested at the bound", () => {
    const exact = "x".repeat(MESSAGE_LIMIT)
    expect(factsOf(answer(400, exact)).message).toBe(exact)
    const cut = factsOf(answer(400, `${exact}y`)).message
    expect(cut).toBe(`${"x".repeat(MESSAGE_LIMIT - 1)}…`)
    expect(factsOf(answer(400, "a\n\tb\r\nc")).message).toBe("a b c")
  })

  test("a secret at the cut is hidden before it is cut", () => {
    const message = `${"x".repeat(MESSAGE_LIMIT - 10)} sk-live-abcdef123456`
    expect(factsOf(answer(400, message)).message).not.toContain("sk-live")
  })

  test("keep nothing of the request behind", () => {
    const failure = toModelFailure(
      answer(400, "no", { requestBodyValues: { prompt: "private" } }),
      SURROUNDINGS,
    )
    expect(failure.cause).toBeUndefined()
    expect(JSON.stringify(failure)).not.toContain("private")
  })
})

describe("Google's own words", () => {
  const google = (status: number, message: string, details: readonly object[] = []) => ({
    name: "AI_APICallError",
    message,
    statusCode: status,
    responseBody: JSON.stringify({ error: { code: status, message, details } }),
    data: { error: { code: status, message, status: "INVALID_ARGUMENT", details } },
  })

  test("a wrong key comes with the status of a bad request", () => {
    expect(kindOf(google(400, "API key not valid. Please pass a valid API key."))).toBe("authentication")
    expect(kindOf(google(400, "API key expired. Please renew the API key."))).toBe("authentication")
  })

  test("a limit worded as an exhausted quota is a limit when it says when to come back", () => {
    const words = "You exceeded your current quota, please check your plan and billing details."
    expect(factsOf(google(429, `${words} Please retry in 34.5s.`))).toMatchObject({
      kind: "rate",
      retryAfterMs: 34_500,
    })
    const delay = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "7s" }]
    expect(factsOf(google(429, words, delay))).toMatchObject({ kind: "rate", retryAfterMs: 7_000 })
    expect(kindOf(google(429, words))).toBe("authentication")
  })
})
