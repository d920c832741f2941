import { expect, test } from "vitest"

import { classify, classifyText, failureOf } from "./classify.ts"

test.each([
  ["API Error: Request rejected (429) · Rate limit reached", "rate_limit"],
  ["exceeded retry limit, last status: 429 Too Many Requests", "rate_limit"],
  ["You exceeded your current quota, please check your plan (429)", "quota"],
  ["API Error: 529 Overloaded", "overload"],
  ["unexpected status 503 Service Unavailable: try later", "overload"],
  ["unexpected status 500 Internal Server Error: oops", "server_error"],
  ["unexpected status 502 Bad Gateway", "server_error"],
  ["stream disconnected before completion", "connection"],
  ["connect ECONNREFUSED 127.0.0.1:8080", "connection"],
  ["error sending request for url (http://127.0.0.1:503/v1/401)", "connection"],
  ["unexpected status 401 Unauthorized: invalid x-api-key", "authentication"],
  ["Invalid API key · Please run /login", "authentication"],
  ["This model's maximum context length is 200000 tokens. (429)", "context_overflow"],
  ["Codex ran out of room in the model's context window.", "context_overflow"],
  ["The model `gpt-9` does not exist", "model_not_found"],
  ["No conversation found with session ID: 1", "session_not_found"],
  ["Unexpected server error. Check server logs for details.", "unclassified"],
  ["something else", "unclassified"],
  ["", "unclassified"],
])("%j is %s", (text, expected) => {
  expect(classifyText(text)).toBe(expected)
})

test.each([
  [401, "", "authentication"],
  [403, "", "authentication"],
  [404, "", "model_not_found"],
  [413, "", "context_overflow"],
  [429, "", "rate_limit"],
  [429, "insufficient_quota", "quota"],
  [400, "prompt is too long", "context_overflow"],
  [400, "", "unclassified"],
  [500, "", "server_error"],
  [503, "", "overload"],
  [529, "", "overload"],
])("status %i with %j is %s", (status, text, expected) => {
  expect(classify(text, status)).toBe(expected)
})

test("only rate limits, overloads, server errors and connection errors may be retried", () => {
  expect(failureOf("rate_limit", "x").transient).toBe(true)
  expect(failureOf("overload", "x").transient).toBe(true)
  expect(failureOf("server_error", "x").transient).toBe(true)
  expect(failureOf("connection", "x").transient).toBe(true)
  expect(failureOf("context_overflow", "x").transient).toBe(false)
  expect(failureOf("timeout", "x").transient).toBe(false)
  expect(failureOf("unclassified", "x").transient).toBe(false)
})

test("megabytes of words are classified by both ends and reported in one bounded sentence", () => {
  const text = `rate limit ${"x ".repeat(2_000_000)}`
  expect(classifyText(text)).toBe("rate_limit")
  expect(failureOf("rate_limit", text).message.length).toBeLessThan(700)
})
