import { expect, test } from "vitest"

import { hostsOf } from "./admit-request.ts"

const names = (host: string, port: number, own: readonly string[] = []) =>
  [...hostsOf(host, port, own)].toSorted()

test("a server on loopback is called by the names of loopback only", () => {
  expect(names("127.0.0.1", 4747, ["box", "10.0.0.5"])).toEqual([
    "127.0.0.1:4747",
    "[::1]:4747",
    "localhost:4747",
  ])
  expect(names("::1", 80)).toContain("[::1]")
})

test("a server on one address is called by that address", () => {
  expect(names("10.0.0.5", 80, ["box"])).toEqual(["10.0.0.5", "10.0.0.5:80"])
  expect(names("FE80::1", 1)).toEqual(["[fe80::1]:1"])
})

test("a server on every address is called by the names of this machine, and by no other", () => {
  const own = ["Box", "10.0.0.5", "fe80::2"]
  const all = ["0.0.0.0:1", "10.0.0.5:1", "127.0.0.1:1", "[::1]:1", "[fe80::2]:1", "box:1", "localhost:1"]
  expect(names("0.0.0.0", 1, own)).toEqual(all)
  expect(hostsOf("::", 1, own).has("evil.example:1")).toBe(false)
})
