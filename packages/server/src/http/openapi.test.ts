import { FAILURES, jsonSchema, type Json } from "@meridian/protocol"
import { expect, test } from "vitest"

import { CHANGES, CONTRACT, EVENTS, type Route } from "../contract/contract.ts"
import { openApiDocument } from "./openapi.ts"

const text = JSON.stringify(openApiDocument("1.2.3"))
const document: unknown = JSON.parse(text)

const routes: readonly Route[] = [
  ...Object.values(CONTRACT).flatMap((group) => Object.values<Route>(group)),
  EVENTS,
  CHANGES,
]

test("every route of the contract is in the document, and nothing else", () => {
  const described = [...text.matchAll(/"operationId":"([^"]+)"/g)].map((match) => match[1])
  const named = Object.entries(CONTRACT).flatMap(([group, each]) =>
    Object.keys(each).map((name) => `${group}.${name}`),
  )
  expect(described.toSorted(byText)).toEqual(
    [...named, "sessions.changes", "sessions.ownLive", "sessions.events"].toSorted(byText),
  )
})

const byText = (left = "", right = ""): number => left.localeCompare(right)

test("every reference leads to a component", () => {
  const references = new Set([...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1] ?? ""))
  expect(references.size).toBeGreaterThan(5)
  for (const reference of references)
    expect([reference, reference.split("/").reduce(step, document)]).not.toContain(undefined)
})

const step = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined

test("a session keeps its property called title", () => {
  expect(["components", "schemas", "Session", "properties", "title"].reduce(step, document)).toEqual({
    type: "string",
  })
})

test("a route documents its own failures by status, and whether it needs a token", () => {
  const prompt = ["paths", "/api/session/{sessionID}/prompt", "post"].reduce(step, document)
  expect(["responses", "409", "description"].reduce(step, prompt)).toBe("PROMPT_CONFLICT")
  expect(["responses", "429", "description"].reduce(step, prompt)).toBe("INBOX_FULL")
  const health = ["paths", "/api/health", "get"].reduce(step, document)
  expect(step(health, "security")).toEqual([])
  expect(step(prompt, "security")).toBeUndefined()
})

test("every name in a path is an input of its route, and every failure has a status", () => {
  for (const route of routes) {
    const names = [...route.path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? "")
    const required: Json = jsonSchema(route.input)["required"] ?? []
    expect(required).toEqual(expect.arrayContaining(names))
    for (const code of route.failures ?? []) expect(FAILURES[code].http).toBeGreaterThanOrEqual(400)
  }
})
