/** Row 12 of the parity table: what is added to a running engine. */
import type { Extension, ExtensionHooks } from "@meridian/engine"
import { describe, expect, test } from "vitest"

import { brokenLaws } from "../engine-laws.ts"
import {
  allEvents,
  codeOf,
  conversation,
  gate,
  openEngineScene,
  shown,
  tool,
  type Answer,
  type EngineScene,
} from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

const sessionID = "ses_test"
const act = tool("act", (input: { readonly word?: string }) => `acted ${input.word ?? ""}`, {
  word: { type: "string" },
})
const call: Answer = { tools: [{ name: "act", input: { word: "first" } }] }

const ask = async ({ engine }: EngineScene, text = "go"): Promise<void> => {
  await engine.sessions.prompt({ sessionID, prompt: { text } })
  await engine.sessions.wait(sessionID)
}

const extend = (scene: EngineScene, hooks: ExtensionHooks, more: Partial<Extension> = {}) =>
  scene.engine.extensions.add({ name: "mine", hooks, ...more })

/** Failures in hooks, by hook. */
const failures = async ({ engine }: EngineScene): Promise<readonly string[]> =>
  (await allEvents(engine)).flatMap((event) =>
    event.type === "session.next.tooling.failed.1" ? [event.data.error.message] : [],
  )

describe("what comes and goes", () => {
  verifies("extensions.scoped", async () => {
    await using scene = await openEngineScene([{ text: "one" }, { text: "two" }, { text: "three" }])
    const names = (at: number) => scene.requests[at]?.tools.map(({ name }) => name)
    await ask(scene)
    const added = scene.engine.extensions.add({
      name: "mine",
      tools: [act],
      context: [{ key: "weather", observe: () => "rain", baseline: (value: string) => `It is ${value}.` }],
    })
    expect(scene.engine.extensions.list()).toEqual(["mine"])
    await ask(scene)
    added.remove()
    added.remove()
    expect(scene.engine.extensions.list()).toEqual([])
    await ask(scene)
    expect([names(0), names(1), names(2)].map((all) => all?.includes("act"))).toEqual([false, true, false])
    const told = scene.requests[2]?.prompt.flatMap(({ role, content }) =>
      role === "system" && content.includes("eather") ? [content] : [],
    )
    expect(told).toEqual([expect.stringContaining("weather no longer applies.")])
    expect(JSON.stringify(scene.requests[1]?.prompt)).toContain("It is rain.")
  })

  test("a call that runs when its extension goes is finished, and a later one is refused", async () => {
    const held = gate()
    await using scene = await openEngineScene([call, call, { text: "done" }])
    const added = scene.engine.extensions.add({
      name: "mine",
      tools: [tool("act", async () => (await held.pass(), "held"))],
    })
    await scene.engine.sessions.prompt({ sessionID, prompt: { text: "go" } })
    await held.reached
    added.remove()
    held.open()
    await scene.engine.sessions.wait(sessionID)
    expect(await conversation(scene.engine)).toEqual([
      "user: go",
      "act: completed",
      "act: error",
      "assistant: done",
    ])
  })

  test("an extension of a folder is not there in another", async () => {
    await using scene = await openEngineScene([])
    const { engine, directory, elsewhere } = scene
    engine.extensions.add({ name: "mine", directory, tools: [act] })
    await engine.sessions.create({ id: "ses_other", location: { directory: elsewhere } })
    await ask(scene)
    await engine.sessions.prompt({ sessionID: "ses_other", prompt: { text: "go" } })
    await engine.sessions.wait("ses_other")
    expect(scene.requests.map(({ tools }) => tools.some(({ name }) => name === "act"))).toEqual([true, false])
  })

  verifies("extensions.refused", async () => {
    await using scene = await openEngineScene()
    const { extensions } = scene.engine
    extensions.add({ name: "mine" })
    const wrong: readonly unknown[] = [
      {},
      { name: "" },
      { name: "a b" },
      { name: "mine" },
      { name: "one", hooks: { beforeReqest: () => undefined } },
      { name: "one", hooks: { beforeRequest: "no function" } },
      { name: "one", tool: [] },
      { name: "one", tools: [{ ...act, name: "not a name" }] },
      { name: "one", directory: "relative" },
      { name: "one", hookTimeoutMs: 0 },
      undefined,
    ]
    for (const extension of wrong)
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- wrong on purpose
      expect(await codeOf((async () => extensions.add(extension as Extension))())).toBe("INVALID_INPUT")
    expect(extensions.list()).toEqual(["mine"])
    await scene.engine.close()
    expect(await codeOf((async () => extensions.add({ name: "late" }))())).toBe("ENGINE_CLOSED")
  })
})

describe("beforeRequest", () => {
  verifies("parity.plugin-transforms", async () => {
    await using scene = await openEngineScene([{ text: "one" }, { text: "two" }])
    extend(scene, {
      beforeRequest: (request) => ({
        ...request,
        system: [...request.system, "Be brief."],
        messages: [...request.messages, { role: "user", content: [{ type: "text", text: "(by the way)" }] }],
        settings: { ...request.settings, temperature: 0.1 },
        headers: { "x-mine": "yes" },
      }),
    })
    await ask(scene)
    await ask(scene, "again")
    for (const request of scene.requests) {
      const opening = request.prompt.filter(({ role }) => role === "system")
      expect(opening.at(-1)).toEqual({ role: "system", content: "Be brief." })
      expect(shown(request).at(-1)).toBe("user: (by the way)")
      expect(request.settings?.temperature).toBe(0.1)
      expect(request.headers).toEqual({ "x-mine": "yes" })
    }
    // The change applied to that request only.
    expect(shown(scene.requests[1]).filter((line) => line.includes("by the way"))).toHaveLength(1)
    expect(await conversation(scene.engine)).toEqual([
      "user: go",
      "assistant: one",
      "user: again",
      "assistant: two",
    ])
  })

  const wrong: readonly (readonly [
    what: string,
    hook: NonNullable<ExtensionHooks["beforeRequest"]>,
    why: string,
  ])[] = [
    [
      "throws",
      () => {
        throw new Error("no luck")
      },
      "no luck",
    ],
    ["hangs", () => new Promise(() => undefined), "longer than 20 ms"],
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- wrong on purpose
    ["gives something else", () => 7 as never, "must be"],
    [
      "writes to what it was given",
      (request) => {
        Object.assign(request.messages[0] ?? {}, { role: "system" })
        return undefined
      },
      "read only",
    ],
    [
      "takes a call away from its result",
      (request) => ({ ...request, messages: request.messages.filter(({ role }) => role !== "assistant") }),
      "has no call",
    ],
    [
      "says how it is sent",
      (request) => ({ ...request, headers: { "Content-Length": "0" } }),
      "Content-Length",
    ],
    ["breaks a line", (request) => ({ ...request, headers: { mine: "a\r\nb: c" } }), "cannot be sent"],
    [
      "makes it endless",
      (request) => ({
        ...request,
        messages: [
          ...request.messages,
          { role: "user", content: [{ type: "text", text: "x".repeat(3_000_000) }] },
        ],
      }),
      "at most",
    ],
    [
      "says what the engine writes",
      (request) => ({ ...request, settings: { options: { messages: [] } } }),
      "cannot set",
    ],
  ]
  test.each(wrong)("one that %s changes nothing, and it is in the log", async (_what, beforeRequest, why) => {
    await using scene = await openEngineScene([call, { text: "done" }], { tools: [act] })
    extend(scene, { beforeRequest }, { hookTimeoutMs: 20 })
    await ask(scene)
    expect(shown(scene.requests[1])).toEqual(["user: go", "call: act", "result: acted first"])
    const first = (await failures(scene)).find((line) => line.includes(why))
    expect(first).toMatch(/^The extension mine failed in beforeRequest: /)
    expect(brokenLaws(await allEvents(scene.engine))).toEqual([])
  })

  test("one that fails five times in a row is left out", async () => {
    await using scene = await openEngineScene([])
    let asked = 0
    extend(scene, {
      beforeRequest: () => {
        asked += 1
        throw new Error("again")
      },
    })
    for (let turn = 0; turn < 7; turn += 1) await ask(scene)
    expect([asked, (await failures(scene)).at(-1)]).toEqual([
      5,
      "The extension mine failed in beforeRequest: again; it is left out from here on",
    ])
  })

  test("what one gives the next one gets, and one that fails is as if it were not there", async () => {
    await using scene = await openEngineScene([])
    const saying = (word: string): ExtensionHooks => ({
      beforeRequest: (request) => ({ ...request, system: [...request.system, word] }),
    })
    scene.engine.extensions.add({ name: "one", hooks: saying("one") })
    scene.engine.extensions.add({
      name: "two",
      hooks: {
        beforeRequest: () => {
          throw new Error("two")
        },
      },
    })
    scene.engine.extensions.add({ name: "three", hooks: saying("three") })
    await ask(scene)
    expect(scene.requests[0]?.prompt.filter(({ role }) => role === "system").slice(-2)).toEqual([
      { role: "system", content: "one" },
      { role: "system", content: "three" },
    ])
  })
})

describe("tools and turns", () => {
  verifies("extensions.tools", async () => {
    await using scene = await openEngineScene([call, { text: "done" }], { tools: [act] })
    const turns: unknown[] = []
    extend(scene, {
      beforeTool: (made) => ({ ...made, input: { word: "second" } }),
      afterTool: ({ output }) => ({
        output: { content: [...(output?.content ?? []), { type: "text", text: "(seen)" }] },
      }),
      afterTurn: ({ text, calls }) => turns.push([text, calls.map((one) => one.tool)]),
    })
    await ask(scene)
    expect(shown(scene.requests[1]).at(-1)).toMatch(/^result: acted second\n\(seen\)\n/)
    const events = await allEvents(scene.engine)
    const adjusted = events.find((event) => event.type === "session.next.tool.adjusted.1")
    const ended = events.find((event) => event.type === "session.next.tool.success.1")
    expect(adjusted?.data).toMatchObject({ extension: "mine", input: { word: "second" } })
    expect(ended?.data).toMatchObject({
      content: [
        { type: "text", text: "acted second" },
        { type: "text", text: "(seen)" },
        { type: "text", text: expect.stringContaining('{"word":"second"}') },
      ],
    })
    expect(turns).toEqual([
      ["", ["act"]],
      ["done", []],
    ])
    expect(brokenLaws(events)).toEqual([])
  })

  test("a call may be refused, and the model reads why", async () => {
    let acted = 0
    await using scene = await openEngineScene([call, { text: "done" }], {
      tools: [tool("act", () => (acted += 1))],
    })
    extend(scene, { beforeTool: () => ({ refuse: "not today" }) })
    await ask(scene)
    expect([acted, shown(scene.requests[1]).at(-1)]).toEqual([
      0,
      "result: Not run: the extension mine refused it: not today",
    ])
  })

  test("a call cannot become one of another tool", async () => {
    await using scene = await openEngineScene([call, { text: "done" }], { tools: [act] })
    extend(scene, { beforeTool: (made) => ({ ...made, tool: "bash", input: { command: "true" } }) })
    await ask(scene)
    expect(shown(scene.requests[1]).at(-1)).toBe("result: acted first")
    expect(await failures(scene)).toEqual([
      "The extension mine failed in beforeTool: a call cannot become one of another tool.",
    ])
  })

  test("an output of megabytes is bounded like any other", async () => {
    await using scene = await openEngineScene([call, { text: "done" }], { tools: [act] })
    extend(scene, {
      afterTool: () => ({ output: { content: [{ type: "text", text: "x".repeat(5_000_000) }] } }),
    })
    await ask(scene)
    expect(JSON.stringify(scene.requests[1]).length).toBeLessThan(200_000)
  })

  test("a call that is interrupted inside a hook is told so, and the tool does not run", async () => {
    const held = gate()
    let acted = 0
    await using scene = await openEngineScene([call], { tools: [tool("act", () => (acted += 1))] })
    extend(scene, { beforeTool: () => held.pass().then(() => undefined) }, { hookTimeoutMs: 60_000 })
    await scene.engine.sessions.prompt({ sessionID, prompt: { text: "go" } })
    await held.reached
    await scene.engine.sessions.interrupt(sessionID)
    held.open()
    expect([acted, (await conversation(scene.engine)).at(-1)]).toEqual([0, "act: error"])
    expect(brokenLaws(await allEvents(scene.engine))).toEqual([])
  })
})

describe("onCompaction", () => {
  const history = Array.from({ length: 6 }, (_, index): Answer => ({
    text: `answer ${index} ${"word ".repeat(400)}`,
  }))

  const compacted = async (onCompaction: NonNullable<ExtensionHooks["onCompaction"]>) => {
    const scene = await openEngineScene([...history, { text: "a model's summary" }, { text: "done" }])
    extend(scene, { onCompaction })
    for (let turn = 0; turn < 6; turn += 1) await ask(scene, `prompt ${turn}`)
    const receipt = await scene.engine.sessions.compact(sessionID)
    return { scene, receipt, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() }
  }

  verifies("extensions.compaction", async () => {
    let seen = ""
    await using ended = await compacted(({ conversation: text }) => {
      seen = text
      return { summary: "What the extension kept." }
    })
    const { scene, receipt } = ended
    expect(receipt).toMatchObject({ method: "extension" })
    expect(seen).toContain("prompt 0")
    expect(scene.requests).toHaveLength(6)
    await ask(scene, "go on")
    expect(JSON.stringify(scene.requests.at(-1)?.prompt)).toContain("What the extension kept.")
  })

  test("a summary that is none leaves it to the model", async () => {
    await using ended = await compacted(() => ({ summary: "  " }))
    const { scene, receipt } = ended
    expect(receipt).toMatchObject({ method: "model" })
    expect(await failures(scene)).toEqual([
      "The extension mine failed in onCompaction: the summary was empty",
    ])
  })
})
