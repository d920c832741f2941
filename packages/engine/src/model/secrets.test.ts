import * as fc from "fast-check"
import { describe, expect, test } from "vitest"

import type { ModelEvent } from "../port/model.ts"
import { openHide, openHideEvents, secretsOf } from "./secrets.ts"

const KEY = "sk-live-0123456789"

const textOf = (events: readonly ModelEvent[]): string =>
  events.map((event) => (event.type === "text-delta" ? event.delta : "")).join("")

const stream = (...deltas: readonly string[]): readonly ModelEvent[] => {
  const hide = openHideEvents([KEY])?.()
  if (hide === undefined) throw new Error("nothing to hide")
  const events: readonly ModelEvent[] = [
    { type: "text-start", id: "1" },
    ...deltas.map((delta) => ({ type: "text-delta", id: "1", delta }) as const),
    { type: "text-end", id: "1" },
  ]
  return events.flatMap((event) => hide(event))
}

describe("the credentials of a model", () => {
  test("are its key, its secret headers and a password in its address", () => {
    expect(
      secretsOf({
        apiKey: "a",
        headers: { Authorization: "b", "x-title": "c", "X-Api-Key": "d" },
        baseURL: "https://me:word@host/v1",
      }),
    ).toEqual(["a", "b", "d", "word"])
    expect(secretsOf({ baseURL: "https://host/v1" })).toEqual([])
  })

  test("shorter than 16 characters are words of a local server, not keys", () => {
    expect(openHide(["fifteen-letters"])).toBeUndefined()
    expect(openHideEvents(["ollama"])).toBeUndefined()
    expect(openHide(["sixteen--letters"])?.("a sixteen--letters b")).toBe("a <hidden> b")
  })
})

describe("an answer that repeats the key", () => {
  test("has it hidden, in whatever pieces it comes", () => {
    expect(textOf(stream(`is ${KEY}!`))).toBe("is <hidden>!")
    expect(textOf(stream("is sk-li", "ve-01234", "56789", " and s", "k-live-no"))).toBe(
      "is <hidden> and sk-live-no",
    )
    expect(textOf(stream(...`${KEY}${KEY} s`.split("")))).toBe("<hidden><hidden> s")
  })

  test("keeps every other character, and what only began like a key comes at the end at the latest", () => {
    const events = stream("the end is sk-live")
    expect(events.map(({ type }) => type)).toEqual(["text-start", "text-delta", "text-delta", "text-end"])
    expect(textOf(events)).toBe("the end is sk-live")
  })

  test("whatever is written in whatever pieces, the key is not in it and nothing else is lost", () => {
    const piece = fc.oneof(fc.constantFrom("s", "sk", "sk-live-", "0123", "456789", KEY, " "), fc.string())
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        expect(textOf(stream(...pieces))).toBe(pieces.join("").replaceAll(KEY, "<hidden>"))
      }),
    )
  })

  test("in calls, their input and native data is hidden too, and a clean event is the same object", () => {
    const hide = openHideEvents([KEY])?.()
    const call: ModelEvent = {
      type: "tool-call",
      id: "c",
      name: "bash",
      input: `{"command":"echo ${KEY}"}`,
      providerExecuted: false,
      metadata: { google: { thoughtSignature: KEY } },
    }
    expect(hide?.(call)).toEqual([
      {
        ...call,
        input: '{"command":"echo <hidden>"}',
        metadata: { google: { thoughtSignature: "<hidden>" } },
      },
    ])
    const clean: ModelEvent = { ...call, input: "{}", metadata: {} }
    expect(hide?.(clean)[0]).toBe(clean)
    expect(hide?.({ type: "tool-input-delta", id: "c", delta: "sk-" })).toEqual([])
    expect(hide?.({ type: "tool-input-end", id: "c" })).toEqual([
      { type: "tool-input-delta", id: "c", delta: "sk-" },
      { type: "tool-input-end", id: "c" },
    ])
  })
})

describe("a key that a command encodes", () => {
  const LONG = "sk-proj-Ab0+/9".repeat(9)
  const hide = (text: string) => openHide([KEY, LONG])?.(text) ?? ""

  test.each([
    ["base64", (key: string) => Buffer.from(key).toString("base64")],
    ["base64 with a line end", (key: string) => Buffer.from(`${key}\n`).toString("base64")],
    ["base64 within a text", (key: string) => Buffer.from(`key=${key}; more`).toString("base64")],
    ["base64 within another", (key: string) => Buffer.from(`k=${key}, more`).toString("base64")],
    ["base64 for addresses", (key: string) => Buffer.from(key).toString("base64url")],
    [
      "base64 in lines",
      (key: string) => Buffer.from(`x ${key}\n`).toString("base64").replaceAll(/.{76}/g, "$&\n"),
    ],
    ["hex", (key: string) => Buffer.from(key).toString("hex")],
    ["upper hex", (key: string) => Buffer.from(key).toString("hex").toUpperCase()],
    ["reversed", (key: string) => key.split("").toReversed().join("")],
    ["an address", (key: string) => `https://host/?k=${encodeURIComponent(key)}`],
  ] as const)("as %s is hidden", (_name, encode) => {
    for (const key of [KEY, LONG]) {
      const shown = hide(`before ${encode(key)} after`)
      expect(shown).toMatch(/^before .*<hidden>.* after$/s)
      // What remains is the surrounding text and at most an end that a neighbour could have changed.
      expect(shown.replace("<hidden>", "").length).toBeLessThan(50)
    }
  })

  test("leaves every other text as it is", () => {
    const text = `${Buffer.from("nothing to see here, move along please".repeat(20)).toString("base64")}\n`
    expect(hide(text)).toBe(text)
  })
})
