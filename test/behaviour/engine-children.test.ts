/** Work that a call gives to another agent, in a separate session. */
import type { EngineOptions, Reply } from "@meridian/engine"
import { expect, test } from "vitest"

import type { ModelRequest } from "../../packages/engine/src/port/model.ts"
import { brokenLaws, rebuiltDifferently } from "../engine-laws.ts"
import {
  allEvents,
  conversation,
  eventTypes,
  gate,
  openEngineScene,
  scriptedModel,
  short,
  shown,
  tool,
  untilEvent,
  type EngineScene,
} from "../engine-scene.ts"
import { isOnServer, verifies } from "../verifies.ts"

const asked = (request: ModelRequest): string => shown(request).find((line) => line.startsWith("user")) ?? ""

/** Answers by session: that of the person, or a child by its task. */
const cast = (answers: Readonly<Record<string, readonly (Reply | (() => Promise<Reply>))[]>>) => {
  const next = new Map<string, number>()
  const requests: { readonly who: string; readonly request: ModelRequest }[] = []
  const model = scriptedModel([], [], {
    script: async ({ body }) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the scripted model hands its request over as it is
      const request = body as ModelRequest
      const who = asked(request).replace("user: ", "")
      requests.push({ who, request })
      const at = next.get(who) ?? 0
      next.set(who, at + 1)
      const answer = answers[who]?.[at] ?? { text: `done: ${who}` }
      return typeof answer === "function" ? answer() : answer
    },
  })
  return { model, requests, countOf: (who: string) => next.get(who) ?? 0 }
}

const give = (prompt: string, more: object = {}): Reply => ({
  tools: [{ name: "task", input: { description: `about ${prompt}`, prompt, ...more } }],
})

const openFamily = (answers: Parameters<typeof cast>[0], changes: Partial<EngineOptions> = {}) => {
  const { model, requests, countOf } = cast(answers)
  return openEngineScene([], { models: [model], ...changes }).then((scene) =>
    Object.assign(scene, { asked: requests, countOf }),
  )
}

const go = async ({ engine, session }: EngineScene, text = "go") => {
  await engine.sessions.prompt({ sessionID: session.id, prompt: { text } })
  await engine.sessions.wait(session.id)
}

const childrenOf = async ({ engine, session }: Pick<EngineScene, "engine" | "session">) =>
  engine.sessions.children(session.id)

verifies("children.task", async () => {
  await using scene = await openFamily({
    go: [{ ...give("count the files"), usage: { input: 10, output: 5 } }],
    "count the files": [{ text: "There are 7.", usage: { input: 100, output: 50 } }],
  })
  await go(scene)
  const [child] = await childrenOf(scene)
  expect(child).toMatchObject({ title: "about count the files", agent: "build", status: "idle" })
  expect(child?.parent).toMatchObject({ sessionID: "ses_test", depth: 1 })
  expect(await conversation(scene.engine, child?.id)).toEqual([
    "user: count the files",
    "assistant: There are 7.",
  ])
  expect(shown(scene.asked.at(-1)?.request).at(-1)).toBe(
    `result: Session ${child?.id}, agent build:\n\nThere are 7.`,
  )
  // Its spending counts for its parent, too.
  const parent = await scene.engine.sessions.get("ses_test")
  expect(parent.usage.input).toBeGreaterThanOrEqual(child?.usage.input ?? Number.NaN)
  expect(brokenLaws(await allEvents(scene.engine))).toEqual([])
  expect(brokenLaws(await allEvents(scene.engine, child?.id))).toEqual([])
  await scene.reopen()
  expect(isOnServer ? [] : rebuiltDifferently(scene.file)).toEqual([])
})

test("calls of one turn work side by side", async () => {
  const [one, two] = [gate(), gate()]
  const answer = (held: typeof one, text: string) => async (): Promise<Reply> => {
    await held.pass()
    return { text }
  }
  await using scene = await openFamily({
    go: [{ tools: [...(give("one").tools ?? []), ...(give("two").tools ?? [])] }],
    one: [answer(one, "first")],
    two: [answer(two, "second")],
  })
  const working = go(scene)
  await Promise.all([one.reached, two.reached])
  two.open()
  one.open()
  await working
  expect(shown(scene.asked.at(-1)?.request).filter((line) => line.startsWith("result"))).toEqual([
    expect.stringContaining("first"),
    expect.stringContaining("second"),
  ])
})

test("all calls of one turn that give work away wait at once, and their outcomes share appends", async () => {
  const CHILDREN = 64
  let atWork = 0
  const everyone = Promise.withResolvers<Reply>()
  const work = () => {
    atWork += 1
    if (atWork === CHILDREN) everyone.resolve({ text: "done" })
    return everyone.promise
  }
  const prompts = Array.from({ length: CHILDREN }, (_, at) => `part ${at}`)
  await using scene = await openFamily({
    go: [{ tools: prompts.flatMap((prompt) => give(prompt).tools ?? []) }],
    ...Object.fromEntries(prompts.map((prompt) => [prompt, [work]])),
  })
  await go(scene)
  const events = await allEvents(scene.engine)
  expect(events.filter(({ type }) => type === "session.next.task.ended.1")).toHaveLength(CHILDREN)
  expect(brokenLaws(events)).toEqual([])
  expect(await childrenOf(scene)).toHaveLength(CHILDREN)
})

verifies("children.rights", async () => {
  const acted: string[] = []
  await using scene = await openFamily(
    {
      go: [give("look", { agent: "helper" })],
      look: [{ tools: [{ name: "act" }, { name: "other" }] }],
    },
    {
      permissions: [{ action: "*", resource: "*", effect: "allow" }],
      agents: [
        {
          name: "careful",
          permissions: [{ action: "act", resource: "*", effect: "deny" }],
          tools: ["task", "act", "see"],
        },
        { name: "helper", mode: "sub", permissions: [{ action: "*", resource: "*", effect: "allow" }] },
      ],
      tools: ["act", "other", "see"].map((name) => tool(name, () => void acted.push(name))),
    },
  )
  await scene.engine.sessions.switchAgent({ sessionID: "ses_test", agent: "careful" })
  await go(scene)
  const request = scene.asked.find(({ who }) => who === "look")?.request
  expect(request?.tools.map(({ name }) => name)).toEqual(["see", "task"])
  expect(acted).toEqual([])
  const [child] = await childrenOf(scene)
  expect(await conversation(scene.engine, child?.id)).toEqual([
    "user: look",
    "act: error",
    "other: error",
    "assistant: done: look",
  ])
})

verifies("children.refused", async () => {
  await using scene = await openFamily(
    {
      go: [give("a", { agent: "chief" }), give("b", { agent: "nobody" }), give("deep")],
      deep: [give("deeper")],
      deeper: [give("deepest")],
      deepest: [give("too deep")],
    },
    { agents: [{ name: "chief", mode: "primary" }] },
  )
  await go(scene)
  const results = shown(scene.asked.at(-1)?.request).filter((line) => line.startsWith("result"))
  expect(results[0]).toContain("works for people only")
  expect(results[1]).toContain("There is no agent")
  expect(results[2]).toContain("done: deep")
  expect(scene.countOf("deepest")).toBe(2)
  expect(scene.countOf("too deep")).toBe(0)
  expect(
    JSON.stringify(
      scene.asked.find(({ request, who }) => who === "deepest" && shown(request).length > 1)?.request,
    ),
  ).toContain("at most 3 times")
})

verifies("children.interrupt", async () => {
  const held = gate()
  await using scene = await openFamily(
    { go: [give("wait")], wait: [{ tools: [{ name: "slow" }] }] },
    {
      tools: [
        tool("slow", (_input, { signal }) =>
          Promise.race([held.pass(), new Promise((done) => signal.addEventListener("abort", done))]),
        ),
      ],
    },
  )
  const working = go(scene).catch(() => undefined)
  await held.reached
  const [child] = await childrenOf(scene)
  await scene.engine.sessions.interrupt("ses_test")
  await working
  expect(await eventTypes(scene.engine, child?.id)).toContain("interrupt.requested")
  expect(await scene.engine.sessions.active()).toEqual([])
  expect(await conversation(scene.engine)).toEqual(["user: go", "task: error"])
  expect(brokenLaws(await allEvents(scene.engine))).toEqual([])
})

verifies("children.resume", async () => {
  const held = gate()
  let slow = 0
  const answers = { go: [give("wait")], wait: [{ text: "first", tools: [{ name: "slow" }] }] }
  await using scene = await openFamily(answers, {
    tools: [
      tool("slow", async (_input, { signal }) => {
        slow += 1
        if (slow === 1)
          await Promise.race([held.pass(), new Promise((done) => signal.addEventListener("abort", done))])
      }),
    ],
  })
  const working = go(scene).catch(() => undefined)
  await held.reached
  const [child] = await childrenOf(scene)
  await scene.reopen()
  await working
  // The call is still open, because its session can be resumed.
  expect(await conversation(scene.engine)).toEqual(["user: go", "task: running"])
  await scene.engine.sessions.run("ses_test")
  await scene.engine.sessions.wait("ses_test")
  expect((await childrenOf(scene)).map(({ id }) => id)).toEqual([child?.id])
  expect(await conversation(scene.engine)).toEqual(["user: go", "task: completed", "assistant: done: go"])
  expect((await conversation(scene.engine, child?.id)).filter((line) => line.startsWith("user"))).toEqual([
    "user: wait",
  ])
  const types = (await allEvents(scene.engine, child?.id)).map(({ type }) => short(type))
  expect(types.filter((type) => type === "prompt.admitted")).toHaveLength(1)
  expect(brokenLaws(await allEvents(scene.engine))).toEqual([])
  expect(brokenLaws(await allEvents(scene.engine, child?.id))).toEqual([])
})

verifies("children.background", async () => {
  const held = gate()
  await using scene = await openFamily({
    go: [give("search", { background: true })],
    search: [
      async () => {
        await held.pass()
        return { text: "found it" }
      },
    ],
  })
  await go(scene)
  await held.reached
  expect(await conversation(scene.engine)).toEqual(["user: go", "task: completed", "assistant: done: go"])
  held.open()
  await untilEvent(scene.engine, "step.ended", 3)
  await scene.engine.sessions.wait("ses_test")
  const [child] = await childrenOf(scene)
  const told = shown(scene.asked.at(-1)?.request).at(-1) ?? ""
  expect(told).toContain("No person wrote this")
  expect(told).toContain(`session ${child?.id}) is done:\n\nfound it`)
  expect((await eventTypes(scene.engine)).filter((type) => type === "task.ended")).toHaveLength(1)
})

test("a child in the background that was cut off reports when its parent is taken up again", async () => {
  const held = gate()
  await using scene = await openFamily({
    go: [give("search", { background: true })],
    search: [
      async () => {
        await held.pass()
        return { text: "too late" }
      },
      { text: "found after all" },
    ],
  })
  await go(scene)
  await held.reached
  await scene.reopen()
  held.open()
  await scene.engine.sessions.prompt({ sessionID: "ses_test", prompt: { text: "and?" } })
  await untilEvent(scene.engine, "task.ended")
  await scene.engine.sessions.wait("ses_test")
  const results = (await allEvents(scene.engine)).filter(
    (event) => event.type === "session.next.prompt.admitted.1" && event.data.prompt.from === "task",
  )
  expect(results).toHaveLength(1)
  expect(JSON.stringify(results)).toContain("found after all")
})

verifies("children.budget", async () => {
  const spend = { usage: { input: 600, output: 0 } }
  await using scene = await openFamily(
    {
      go: [{ ...give("spend"), usage: { input: 100, output: 0 } }],
      spend: Array.from({ length: 20 }, () => ({ ...spend, tools: [{ name: "act" }] })),
    },
    { tools: [tool("act", () => String(Math.random()))] },
  )
  await scene.engine.sessions.setBudget({ sessionID: "ses_test", maxTokens: 2_000 })
  const working = go(scene)
  await untilEvent(scene.engine, "question.asked")
  expect(scene.countOf("spend")).toBeLessThan(8)
  const { spent } = await scene.engine.sessions.budget("ses_test")
  expect(spent.tokens).toBeGreaterThanOrEqual(2_000)
  const [question] = await scene.engine.questions.list()
  await scene.engine.questions.reply({ requestID: question?.id ?? "", answer: "stop" })
  await working.catch(() => undefined)
})

verifies("children.delete", async () => {
  const held = gate()
  await using scene = await openFamily({
    go: [give("search", { background: true })],
    search: [
      async () => {
        await held.pass()
        return { text: "late" }
      },
    ],
  })
  await go(scene)
  await held.reached
  const [child] = await childrenOf(scene)
  await expect(scene.engine.sessions.delete("ses_test")).rejects.toMatchObject({ code: "SESSION_IN_USE" })
  await scene.engine.sessions.interrupt(child?.id ?? "")
  held.open()
  await untilEvent(scene.engine, "task.ended")
  await scene.engine.sessions.wait("ses_test")
  await scene.engine.sessions.delete("ses_test")
  await expect(scene.engine.sessions.get(child?.id ?? "")).rejects.toMatchObject({
    code: "SESSION_NOT_FOUND",
  })
})

verifies("parity.agent-references", async () => {
  await using scene = await openFamily(
    { "ask @agent:helper": [give("help", { agent: "helper" })] },
    {
      permissions: [
        { action: "*", resource: "*", effect: "allow" },
        { action: "task", resource: "forbidden", effect: "deny" },
      ],
      agents: [
        { name: "helper", mode: "sub", description: "Helps with everything" },
        { name: "forbidden", mode: "sub" },
        { name: "chief", mode: "primary" },
      ],
    },
  )
  const { sessions } = scene.engine
  const prompt = async (text: string) => {
    const receipt = await sessions.prompt({ sessionID: "ses_test", prompt: { text }, expand: true })
    await sessions.wait("ses_test")
    return receipt.prompt.parts ?? []
  }
  expect(await prompt("ask @agent:helper")).toMatchObject([
    {
      type: "text",
      kind: "agent",
      name: "helper",
      text: expect.stringContaining('call the tool task with agent "helper"'),
    },
  ])
  expect(scene.asked.map(({ who }) => who)).toContain("help")
  expect(await prompt("@agent:forbidden @agent:chief @agent:halper")).toMatchObject([
    { type: "unreadable", problem: expect.stringContaining("forbids") },
    { type: "unreadable", problem: expect.stringContaining("for people only") },
    { type: "unreadable", problem: expect.stringContaining("Did you mean helper") },
  ])
})

verifies("session.search", async () => {
  await using scene = await openFamily({ go: [{ text: "The walrus is in the kitchen." }] })
  await go(scene)
  const { sessions } = scene.engine
  const hits = await sessions.search({ sessionID: "ses_test", words: "walrus kitchen" })
  expect(hits).toMatchObject([{ text: expect.stringContaining("walrus") }])
  expect(await sessions.search({ sessionID: "ses_test", words: "giraffe" })).toEqual([])
  await expect(sessions.search({ sessionID: "ses_none", words: "x" })).rejects.toMatchObject({
    code: "SESSION_NOT_FOUND",
  })
})
