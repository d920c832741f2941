/**
 * One simulated world: a database, several sessions that each take a random walk, and a fate that kills, freezes, closes
 * and reopens the engine under them. A simple model of what was confirmed decides what must be true at the end.
 */
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"

import type { Extension, EmbedderScene, Engine, EngineOptions, ModelConfig, Reply } from "@meridian/engine"
import { Failure, type AnswerFormat, type Caps, type Overrides, type Receipt } from "@meridian/protocol"

import { brokenCaps, repeatedTooOften } from "../engine-cap-laws.ts"
import { brokenLaws, integrityOf, rebuiltDifferently, type Act } from "../engine-laws.ts"
import { createMachine, Death, type Life } from "../engine-life.ts"
import { allEvents, allMessages, codeOf } from "../engine-scene.ts"
import { createRandom, type Random } from "./random.ts"

export const WALKS_PER_WORLD = 20
const ROUNDS = 9
/** How often a call of a failing store fails. */
const FAILURES = 0.004
const PENDING = 5

/** What the model of one session knows: every confirmed answer. */
interface Walker {
  readonly id: string
  readonly random: Random
  readonly receipts: Map<string, Receipt>
  readonly cancelled: Set<string>
  /** Inputs that could not be cancelled: they must be promoted or cancelled already. */
  readonly gone: Set<string>
  /** Confirmed forks. */
  readonly forks: Set<string>
  /** The last sequence a tail has shown. The next tail starts after it. */
  seen: number
  names: number
}

interface Running {
  readonly engine: Engine
  readonly life: Life
}

export interface Walked {
  readonly broken: readonly string[]
  readonly deaths: number
  /** Every event of every session, as stored. */
  readonly log: string
}

/** `base` decides where the world is, and nothing else. Its name is part of the log. */
export const walkWorld = async (
  seed: number,
  base: string,
  store: "sqlite" | "memory" = "sqlite",
  /** What every session may use up; each has a cap of its own besides, and people change it. */
  caps?: Caps,
): Promise<Walked> => {
  const random = createRandom(seed)
  mkdirSync(base)
  const places = ["one", "two"].map((name) => join(base, name))
  for (const place of places) mkdirSync(place)
  const file = join(base, "engine.sqlite")
  // The store's chance must not change the chance of its users.
  const luck = createRandom(seed * 13)
  const machine = createMachine({
    chance: luck.next,
    standsStill: true,
    store,
    failures: () => (calm ? 0 : FAILURES),
  })
  const acts: (Act & { readonly sessionID: string })[] = []
  const broken: string[] = []
  const say = (sentence: string): void => {
    broken.push(`seed ${seed}: ${sentence}`)
  }
  const ghosts: Running[] = []
  let calm = false
  let deaths = 0

  const walkers = Array.from({ length: WALKS_PER_WORLD }, (_, index): Walker => ({
    id: `ses_${index}`,
    random: createRandom(seed * 31 + index),
    receipts: new Map(),
    cancelled: new Set(),
    gone: new Set(),
    forks: new Set(),
    seen: 0,
    names: 0,
  }))

  const optionsOf = (life: Life): EngineOptions => {
    const dice = createRandom(seed * 97 + machine.lives())
    const tool = (name: string, fails: boolean) => ({
      name,
      description: name,
      input: { type: "object", properties: { n: { type: "number" } } },
      execute: async (
        _input: never,
        scene: Act & { readonly sessionID: string; readonly signal: AbortSignal },
      ) => {
        await pause(dice.below(3))
        await life.reach()
        life.point("before the act")
        acts.push({ sessionID: scene.sessionID, messageID: scene.messageID, callID: scene.callID })
        life.point("after the act")
        if (fails) throw new Error("as it happens")
        return "acted"
      },
    })
    const inquiring = {
      ...tool("inquire", false),
      execute: async (input: never, scene: EmbedderScene) => {
        await scene.question({ text: "Shall I?", choices: [{ label: "yes" }, { label: "no" }] })
        return tool("inquire", false).execute(input, scene)
      },
    }
    const script: ModelConfig["script"] = async ({ body }): Promise<Reply> => {
      await pause(dice.below(4))
      await life.reach()
      const reply = priced(
        calm ? calmReply(body) : caps === undefined ? randomReply(dice) : cappedReply(dice),
      )
      // The whole answer at once, as most come, or piece by piece.
      return dice.chance(0.5) ? reply : { ...reply, chunkMs: 0 }
    }
    const model = { provider: "scripted", contextWindow: 1_000_000, maxOutput: 8_000, script } as const
    return {
      database: file,
      models: [
        { ...model, id: "fake/one", ...PRICE },
        { ...model, id: "fake/two", ...PRICE },
      ],
      permissions: [
        { action: "*", resource: "*", effect: "allow" },
        { action: "careful", resource: "*", effect: "ask" },
      ],
      limits: { pendingInputs: PENDING, steerBatch: 2, turnsPerActivity: 4, leaseMs: 1_000 },
      retry: { attempts: 2, baseMs: 1 },
      tools: [tool("act", false), tool("fail", true), tool("careful", false), inquiring],
      ...(caps === undefined ? {} : { budget: caps }),
      // Half of the worlds continue on their own after a crash.
      recovery: seed % 2 === 0 ? "continue" : "settle",
    }
  }

  const start = async (): Promise<Running> => {
    for (;;) {
      const life = machine.start(calm || random.chance(0.5) ? undefined : 20 + random.below(160))
      try {
        const engine = await machine.until(whileAlive(life, life.open(optionsOf(life))))
        // A third of the worlds has an extension that changes, refuses and fails at random.
        if (seed % 3 === 0) engine.extensions.add(anyExtension(createRandom(seed * 17 + deaths)))
        const location = { directory: places[0] ?? base }
        for (const { id } of walkers)
          await machine.until(
            whileAlive(
              life,
              patiently(() => engine.sessions.create({ id, location, ...(caps === undefined ? {} : OWN) })),
            ),
          )
        const running = { engine, life }
        for (const walker of walkers) follow(running, walker)
        return running
      } catch (cause) {
        if (isBusy(cause)) life.die()
        if (!life.isDead()) throw cause
        deaths += 1
      }
    }
  }

  /** A tail shows every sequence once and in order, as long as its engine lives. */
  const follow = ({ engine, life }: Running, walker: Walker): void => {
    const sessionID = walker.id
    let seen = walker.seen
    const reading = async (): Promise<void> => {
      for await (const event of engine.sessions.events({ sessionID, after: seen, follow: true })) {
        if (life.isDead()) return
        if (!("seq" in event)) continue
        if (event.seq !== seen + 1) say(`${sessionID}: a tail jumps to ${event.seq}`)
        seen = event.seq
        walker.seen = Math.max(walker.seen, seen)
      }
    }
    reading().catch((cause: unknown) => {
      if (!life.isDead() && !isBusy(cause) && !ghosts.some((ghost) => ghost.life === life))
        say(`a tail failed: ${String(cause)}`)
    })
  }

  let now = await start()
  /** A second process on the same file, for a while. */
  let partner: Running | undefined

  for (let round = 0; round < ROUNDS; round += 1) {
    const { life } = now
    const together = [now, ...(partner === undefined ? [] : [partner])]
    const steps = walkers.map(async (walker) => {
      const chosen = random.pick(together)
      const act = caps !== undefined && walker.random.chance(0.2) ? changeCaps : takeStep
      const step = act(chosen.engine, walker, places, say, chosen.life.isDead).catch(unlessBusy)
      step.catch(() => undefined)
      await Promise.race([step, chosen.life.died])
    })
    await machine.until(Promise.all(steps))
    if (partner === undefined) partner = random.chance(0.06) ? await start() : undefined
    else if (partner.life.isDead() || random.chance(0.3)) {
      if (random.chance(0.5)) partner.life.die()
      else await machine.until(close(partner))
      partner = undefined
    }
    const fate = random.next()
    if (life.isDead() || fate < 0.08) {
      life.die()
      deaths += 1
      now = await start()
    } else if (fate < 0.12) {
      await machine.until(close(now))
      now = await start()
    } else if (fate < 0.16) {
      life.freeze()
      ghosts.push(now)
      now = await start()
    }
    machine.setClock(1_700_000_000_000 + random.below(1_000_000) - 500_000)
  }

  if (partner !== undefined) ghosts.push(partner)

  // No more faults: everything confirmed must come to its end.
  calm = true
  for (const { life } of ghosts) life.die()
  if (now.life.isDead() || random.chance(0.5)) {
    now.life.die()
    now = await start()
  } else {
    await machine.until(close(now))
    now = await start()
  }
  await machine.until(Promise.all(walkers.map((walker) => finish(now.engine, walker))))
  const check = async (): Promise<string> => {
    for (const walker of walkers) {
      const events = await allEvents(now.engine, walker.id)
      const own = acts.filter(({ sessionID }) => sessionID === walker.id)
      for (const law of brokenLaws(events, own)) say(`${walker.id}: ${law}`)
      for (const law of brokenCaps(events, [caps, OWN.budget]))
        if (caps !== undefined) say(`${walker.id}: ${law}`)
      for (const law of repeatedTooOften(events, own)) say(`${walker.id}: ${law}`)
      for (const sentence of await compare(now.engine, walker, events)) say(`${walker.id}: ${sentence}`)
    }
    for (const sentence of await compareForks(now.engine, walkers)) say(sentence)
    return readLog(now.engine)
  }
  const log = await machine.until(check())
  await machine.until(now.engine.close())
  if (store === "sqlite" && integrityOf(file) !== "ok") say("the database is damaged")
  if (store === "sqlite") for (const table of rebuiltDifferently(file)) say(`${table} is rebuilt differently`)
  rmSync(base, { recursive: true, force: true })
  return { broken, deaths, log }
}

const readLog = async (engine: Engine): Promise<string> => {
  const lines: string[] = []
  const { items } = await engine.sessions.list({ limit: 200 })
  for (const { id } of items)
    for (const event of await allEvents(engine, id)) lines.push(`${id} ${JSON.stringify(event)}`)
  return lines.join("\n")
}

/** A store that fails now and then says so. The caller tries again, or goes without. */
const isBusy = (cause: unknown): boolean => cause instanceof Failure && cause.code === "DATABASE_BUSY"

const unlessBusy = (cause: unknown): void => {
  if (!isBusy(cause)) throw cause
}

const patiently = async <A>(ask: () => Promise<A>): Promise<A> => {
  for (;;)
    try {
      return await ask()
    } catch (cause) {
      unlessBusy(cause)
    }
}

/** A request to a dead process never gets an answer. */
const whileAlive = <A>(life: Life, work: Promise<A>): Promise<A> =>
  Promise.race([
    work,
    life.died.then(() => {
      throw new Death("died meanwhile")
    }),
  ])

/** A process may also die while it closes. */
const close = ({ engine, life }: Running): Promise<void> =>
  Promise.race([
    engine.close().catch((cause: unknown) => {
      if (!life.isDead()) throw cause
    }),
    life.died,
  ])

const pause = async (ticks: number): Promise<void> => {
  for (let tick = 0; tick < ticks; tick += 1) await new Promise((resolve) => setImmediate(resolve))
}

const PRICE = { price: { input: 1, output: 10 } } as const

/** A turn costs half a cent. */
const priced = (reply: Reply): Reply => ({ usage: { input: 1_000, output: 400 }, ...reply })

/** Of one session. */
const OWN = { budget: { maxTurns: 9 } } as const

/** More calls, and fewer different ones: so work goes on until a cap stops it, or the guard against repetition. */
const cappedReply = (dice: Random): Reply =>
  dice.chance(0.6)
    ? {
        tools: Array.from({ length: 1 + dice.below(2) }, () => ({
          name: dice.pick(["act", "act", "act", "fail"]),
          input: { n: dice.chance(0.9) ? 1 : 2 },
        })),
      }
    : randomReply(dice)

/** A person answers the question of a budget, or says anew what may be used up. */
const changeCaps: typeof takeStep = async (engine, { random, id: sessionID }, _places, say, isDead) => {
  const { sessions, questions } = engine
  const expect = async (work: Promise<unknown>, allowed: string): Promise<void> => {
    const code = await codeOf(work).catch((cause: unknown) => (isDead() ? "dead" : String(cause)))
    if (!isDead() && !["no failure", "DATABASE_BUSY", allowed].includes(code))
      say(`${sessionID}: unexpected ${code}`)
  }
  for (const { id, kind } of await questions.list({ sessionID }))
    if (kind === "budget")
      return expect(
        questions.reply({ requestID: id, answer: random.pick(["raise", "raise", "stop"]) }),
        "QUESTION_NOT_FOUND",
      )
  const changed = random.pick([
    { maxTurns: 3 + random.below(20) },
    { maxTokens: 5_000 + random.below(40_000) },
    { maxCost: 0.01 + random.below(20) / 100 },
  ])
  return expect(sessions.setBudget({ sessionID, ...changed }), "CAP_BELOW_SPENT")
}

/** Words, or a value where one is asked for. */
const calmReply = (body: unknown): Reply =>
  typeof body === "object" && body !== null && "mustCall" in body
    ? { tools: [{ name: "structured_output", input: { n: 1 } }] }
    : { text: "calm" }

/** Uses separate dice, so the walk is the same without it. */
const anyExtension = (dice: Random): Extension => {
  const mayFail = (): void => {
    if (dice.chance(0.1)) throw new Error("as it happens")
  }
  return {
    name: "house",
    hooks: {
      beforeRequest: (request) => {
        mayFail()
        return { ...request, system: [...request.system, `Word ${dice.below(3)}.`] }
      },
      beforeTool: (call) => {
        mayFail()
        return dice.chance(0.2) ? { refuse: "Not today." } : call
      },
      afterTool: ({ output }) => {
        mayFail()
        return output === undefined
          ? undefined
          : { output: { ...output, content: [...output.content, { type: "text", text: "And more." }] } }
      },
      afterTurn: mayFail,
      onCompaction: () => (dice.chance(0.5) ? { summary: "## Objective\n- go on" } : undefined),
    },
  }
}

const randomOverrides = (random: Random): Overrides => ({
  ...(random.chance(0.1) ? { system: `Instructions ${random.below(5)}.` } : {}),
  ...(random.chance(0.1) ? { tools: { fail: random.chance(0.5), "c*": false } } : {}),
  ...(random.chance(0.1) ? { settings: { temperature: 0.5 } } : {}),
  ...(random.chance(0.15) ? { format: FORMAT } : {}),
})

const FORMAT: AnswerFormat = {
  type: "json",
  schema: {
    type: "object",
    properties: { n: { type: "integer", minimum: 0, maximum: 25 } },
    required: ["n"],
  },
}

const randomReply = (random: Random): Reply => {
  const call = () => ({
    name: random.pick(["act", "act", "fail", "careful", "inquire", "nothing", "structured_output"]),
    input: { n: random.below(50) },
  })
  const choice = random.next()
  if (choice < 0.4) return { text: "words" }
  if (choice < 0.72) return { text: "calls", tools: Array.from({ length: 1 + random.below(3) }, call) }
  if (choice < 0.77) return { tools: [{ name: "act", raw: "{not json" }] }
  if (choice < 0.82) return { tools: [{ name: "act", id: "same", input: { n: random.below(50) } }] }
  if (choice < 0.85) return { error: "overloaded" }
  // Parks the session for a moment.
  if (choice < 0.865) return { error: { status: 429, message: "slow down", retryAfter: 2 } }
  // Asks the user whether to wait that long.
  if (choice < 0.88) return { error: { status: 429, message: "slow down", retryAfter: 1_000_000 } }
  if (choice < 0.91) return { error: "auth" }
  if (choice < 0.95) return { text: "a text that is cut somewhere in its middle", tools: [call()], cut: true }
  return { hosted: [{ query: "q" }], text: "found", unfinished: random.chance(0.3) }
}

/** One random step of a caller. What the engine confirms is remembered. What it refuses, it must be right to refuse. */
const takeStep = async (
  engine: Engine,
  walker: Walker,
  places: readonly string[],
  say: (sentence: string) => void,
  isDead: () => boolean,
): Promise<void> => {
  const { random, id: sessionID, receipts } = walker
  const { sessions, permissions, questions } = engine
  const expectCode = async (work: Promise<unknown>, allowed: readonly string[]): Promise<string> => {
    const code = await codeOf(work).catch((cause: unknown) => (isDead() ? "dead" : String(cause)))
    if (!isDead() && !["no failure", "DATABASE_BUSY", ...allowed].includes(code))
      say(`${sessionID}: unexpected ${code}`)
    return code
  }
  const earlier = [...receipts.values()]
  const choice = random.next()
  if (choice < 0.4 || earlier.length === 0) {
    const id = `${sessionID}_${(walker.names += 1)}`
    const before = await sessions.inputs(sessionID)
    const delivery = random.chance(0.5) ? "steer" : "queue"
    const sending = sessions.prompt({
      id,
      sessionID,
      prompt: { text: id },
      delivery,
      resume: random.chance(0.85),
      ...randomOverrides(random),
    })
    const code = await expectCode(
      sending.then((receipt) => receipts.set(id, receipt)),
      ["INBOX_FULL"],
    )
    if (code === "INBOX_FULL" && before.length < PENDING)
      say(`${sessionID}: full with ${before.length} inputs`)
  } else if (choice < 0.5) {
    const first = random.pick(earlier)
    const { admittedSeq: _seq, promotedSeq: _promoted, cancelledSeq: _gone, time: _time, ...again } = first
    const { id } = again
    await expectCode(
      sessions.prompt(again).then((receipt) => {
        if (receipt.admittedSeq !== first.admittedSeq) say(`${id} was admitted again`)
        return receipt
      }),
      [],
    )
  } else if (choice < 0.55) {
    const { id, delivery } = random.pick(earlier)
    const code = await expectCode(sessions.prompt({ id, sessionID, prompt: { text: "other" }, delivery }), [
      "PROMPT_CONFLICT",
    ])
    if (code === "no failure") say(`${id} stands for two prompts`)
  } else if (choice < 0.62) {
    const { id } = random.pick(earlier)
    const code = await expectCode(sessions.cancel({ sessionID, id }), ["INPUT_NOT_FOUND"])
    if (code === "no failure") walker.cancelled.add(id)
    if (code === "INPUT_NOT_FOUND") walker.gone.add(id)
  } else if (choice < 0.7) await expectCode(sessions.interrupt(sessionID), ["FENCED"])
  else if (choice < 0.76) void expectCode(sessions.run(sessionID), DRAIN_FAILURES)
  else if (choice < 0.8) await expectCode(sessions.wake(sessionID), [])
  else if (choice < 0.84)
    await expectCode(sessions.switchModel({ sessionID, model: random.pick(["fake/one", "fake/two"]) }), [])
  else if (choice < 0.87)
    await expectCode(sessions.move({ sessionID, location: { directory: random.pick(places) } }), [])
  else if (choice < 0.95)
    for (const { id } of await permissions.list({ sessionID }))
      await expectCode(permissions.reply({ requestID: id, reply: random.pick(["once", "reject"]) }), [
        "REQUEST_NOT_FOUND",
      ])
  else if (choice < 0.965)
    for (const { id, choices } of await questions.list({ sessionID }))
      await expectCode(
        questions.reply({ requestID: id, answer: random.pick(choices.map(({ label }) => label)) }),
        ["QUESTION_NOT_FOUND"],
      )
  else if (choice < 0.985) {
    const id = `${sessionID}_fork_${(walker.names += 1)}`
    // Its process may freeze while it copies.
    const code = await expectCode(sessions.fork({ sessionID, id }), ["FENCED", "ENGINE_CLOSED"])
    if (code === "no failure") walker.forks.add(id)
  } else await pause(20)
  await pause(random.below(12))
}

const DRAIN_FAILURES = [
  "MODEL_FAILED",
  "OUTPUT_INVALID",
  "TURN_LIMIT",
  "INTERRUPTED",
  "FENCED",
  "ENGINE_CLOSED",
]

/** Answers every question and runs until nothing is left. */
const finish = async (
  { sessions, permissions, questions }: Engine,
  { id: sessionID }: Walker,
): Promise<void> => {
  for (;;) {
    const settled = codeOf(sessions.run(sessionID)).then((code) => ({ code }))
    for (;;) {
      const ended = await Promise.race([settled, pause(5)])
      for (const { id } of await permissions.list({ sessionID }))
        await codeOf(permissions.reply({ requestID: id, reply: "once" }))
      for (const { id, choices } of await questions.list({ sessionID }))
        await codeOf(questions.reply({ requestID: id, answer: choices[0]?.label ?? "" }))
      if (ended !== undefined) break
    }
    const { code } = await settled
    if (code === "no failure" && (await sessions.inputs(sessionID)).length === 0) return
  }
}

/** Every confirmed fork exists with its own settled history. None exists in part. */
const compareForks = async (engine: Engine, walkers: readonly Walker[]): Promise<readonly string[]> => {
  const known = new Set(walkers.map(({ id }) => id))
  const { items } = await engine.sessions.list({ limit: 200 })
  const there = new Set(items.map(({ id }) => id))
  const lost = walkers.flatMap(({ forks }) => [...forks].filter((id) => !there.has(id)))
  const broken: string[] = lost.map((id) => `${id} was confirmed and is lost`)
  for (const { id, seq } of items.filter((session) => !known.has(session.id))) {
    const events = await allEvents(engine, id)
    const [first] = events
    const from = first?.type === "session.next.created.1" ? first.data.parent?.sessionID : undefined
    if (from === undefined || !id.startsWith(`${from}_fork_`)) broken.push(`${id} is nobody's fork`)
    if (events.length !== seq) broken.push(`${id} has ${events.length} events of ${seq}`)
    if ((await engine.sessions.inputs(id)).length > 0) broken.push(`${id} took a waiting input along`)
    for (const law of brokenLaws(events)) broken.push(`${id}: ${law}`)
  }
  return broken
}

/** Compares the model with the log and the projections. */
const compare = async (
  engine: Engine,
  walker: Walker,
  events: Awaited<ReturnType<typeof allEvents>>,
): Promise<readonly string[]> => {
  const admitted = new Map<string, number>()
  const promoted: string[] = []
  const cancelled = new Set<string>()
  const steps: string[] = []
  for (const event of events) {
    if (event.type === "session.next.prompt.admitted.1") admitted.set(event.data.messageID, event.seq)
    if (event.type === "session.next.prompt.promoted.1") promoted.push(event.data.messageID)
    if (event.type === "session.next.prompt.cancelled.1") cancelled.add(event.data.messageID)
    if (event.type === "session.next.step.started.1") steps.push(event.data.assistantMessageID)
  }
  const done = new Set(promoted)
  const messages = await allMessages(engine, walker.id)
  const shownUsers = messages.flatMap(({ type, id }) => (type === "user" ? [id] : []))
  const shownSteps = messages.flatMap(({ type, id }) => (type === "assistant" ? [id] : []))
  return [
    ...[...walker.receipts.values()].flatMap(({ id, admittedSeq }) =>
      admitted.get(id) === admittedSeq ? [] : [`${id} was acknowledged and is lost`],
    ),
    ...[...admitted.keys()].flatMap((id) =>
      done.has(id) === cancelled.has(id) ? [`${id} is neither promoted nor cancelled, or both`] : [],
    ),
    ...[...walker.cancelled].flatMap((id) => (cancelled.has(id) ? [] : [`the end of ${id} is lost`])),
    ...[...walker.gone].flatMap((id) =>
      done.has(id) || cancelled.has(id) ? [] : [`${id} was refused wrongly`],
    ),
    ...(messages.length < 200 && shownUsers.join() !== promoted.join()
      ? ["messages of people differ from the log"]
      : []),
    ...(messages.length < 200 && shownSteps.join() !== steps.join() ? ["turns differ from the log"] : []),
  ]
}
