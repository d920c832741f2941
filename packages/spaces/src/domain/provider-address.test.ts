import { expect, test } from "vitest"

import { fullAddress, isLoopback, ollamaAddress, publicAddress } from "./provider-address.ts"

test.each([
  ["https://api.anthropic.com", "anthropic", "https://api.anthropic.com/v1"],
  ["https://api.anthropic.com/v1/", "anthropic", "https://api.anthropic.com/v1"],
  ["https://proxy.example/anthropic", "anthropic", "https://proxy.example/anthropic"],
  ["http://127.0.0.1:8080", "google", "http://127.0.0.1:8080/v1beta"],
  ["HTTP://localhost:1234/", "openai-compatible", "http://localhost:1234/v1"],
  ["http://[::1]:65535", "openai", "http://[::1]:65535/v1"],
  ["https://name:word@host.example", "openai", "https://name:word@host.example/v1"],
  ["http://host:65536", "openai", undefined],
  ["https://host/v1?key=x", "openai", undefined],
  ["ftp://host", "openai", undefined],
  ["host:1234", "openai", undefined],
  ["http://", "openai", undefined],
  ["", "openai", undefined],
] as const)("the address %j of kind %s is %j", (text, kind, expected) => {
  expect(fullAddress(text, kind)).toBe(expected)
})

test.each([
  ["localhost", "http://localhost:11434/v1"],
  ["127.0.0.1:9000", "http://127.0.0.1:9000/v1"],
  [":9000", "http://127.0.0.1:9000/v1"],
  ["0.0.0.0", "http://127.0.0.1:11434/v1"],
  ["0.0.0.0:9000", "http://127.0.0.1:9000/v1"],
  ["https://ollama.example/", "https://ollama.example/v1"],
  ["not an address", undefined],
  [" ", undefined],
])("OLLAMA_HOST=%j is %j", (text, expected) => {
  expect(ollamaAddress(text)).toBe(expected)
})

test("only the real names of this machine count as local", () => {
  const addresses = ["http://localhost:1/v1", "http://127.8.9.1/v1", "http://[::1]:9/v1"]
  const strangers = ["http://localhost.example/v1", "http://127.0.0.1.example/v1", "https://10.0.0.1/v1"]
  expect(addresses.map(isLoopback)).toEqual([true, true, true])
  expect(strangers.map(isLoopback)).toEqual([false, false, false])
})

test("an address is shown without credentials before its host or after its path", () => {
  expect(publicAddress("https://me:secret@host/v1")).toBe("https://<hidden>@host/v1")
  expect(publicAddress("https://host/v1?key=secret")).toBe("https://host/v1?<hidden>")
  expect(publicAddress("https://host/v1#secret")).toBe("https://host/v1#<hidden>")
  expect(publicAddress("https://host/v1")).toBe("https://host/v1")
})
