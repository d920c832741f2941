import { objectOf } from "@meridian/protocol"
import { expect, test } from "vitest"

import type { Route } from "../contract/contract.ts"
import { makeRouteTable } from "./find-route.ts"

const route = (method: Route["method"], path: string) => ({
  route: { method, path, summary: "", input: objectOf({}) },
  handle: `${method} ${path}`,
})

const table = makeRouteTable([
  route("GET", "/api/thing"),
  route("POST", "/api/thing"),
  route("GET", "/api/thing/:thingID"),
  route("GET", "/api/thing/:thingID/part/:partID"),
  route("GET", "/api/thing/newest"),
])

test.each([
  ["GET", "/api/thing", "GET /api/thing", {}],
  ["GET", "/api/thing/a", "GET /api/thing/:thingID", { thingID: "a" }],
  ["GET", "/api/thing/newest", "GET /api/thing/newest", {}],
  ["GET", "/api/thing/a%2Fb", "GET /api/thing/:thingID", { thingID: "a/b" }],
  ["GET", "/api/thing/%2e%2e", "GET /api/thing/:thingID", { thingID: ".." }],
  ["GET", "/api/thing/a/part/b", "GET /api/thing/:thingID/part/:partID", { thingID: "a", partID: "b" }],
  ["GET", "/api/thing/__proto__", "GET /api/thing/:thingID", { thingID: "__proto__" }],
])("%s %s is %s", (method, path, handle, parameters) => {
  expect(table.find(method, path)).toMatchObject({ tag: "found", entry: { handle }, parameters })
})

test.each([
  "/api",
  "/api/",
  "/api/thing/",
  "/api/thing//part/b",
  "/api/thing/a/part",
  "/api/thing/%ff",
  "/api/thing/%",
  "//api/thing",
  "",
  "*",
  "/api/thing/a/part/b/c",
])("there is nothing at %s", (path) => {
  expect(table.find("GET", path)).toEqual({ tag: "none" })
})

test("an address that knows other methods says which", () => {
  expect(table.find("DELETE", "/api/thing")).toEqual({ tag: "method", allowed: ["GET", "POST"] })
})

test("two routes at one place are a mistake of ours", () => {
  expect(() => makeRouteTable([route("GET", "/a/:b"), route("GET", "/a/:b")])).toThrow("two routes")
  expect(() => makeRouteTable([route("GET", "/a/:b"), route("POST", "/a/:c")])).toThrow("two names")
})
