/**
 * One process of the walk: an engine on a clock that moves only when nothing real is left to do. Its command line describes
 * the walk (`Leg`). Prints `here` where it should be killed, and `idle` with the time when everything is done.
 */
import { appendFileSync, existsSync, fdatasyncSync, readFileSync } from "node:fs"
import { join } from "node:path"

import type { Engine, EngineOptions, Reply } from "@meridian/engine"
import { Clock, Context, Duration, Effect, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"

import { openEngineWith } from "../../packages/engine/src/open-engine.ts"
import { Background } from "../../packages/engine/src/port/time.ts"
import { realProcesses } from "../../packages/engine/src/store/sqlite/processes.ts"
import { SUMMARISERS } from "../retention/summarisers.ts"
import { TASK, type Asked, type Leg, type Limit, type Refused } from "./plan.ts"

const leg = JSON.parse(process.argv[2] ?? "") as Leg
const { walk, folder } = leg

const MINUTE = 60_000
/** 400 of both are about sixty hours. */
const THINKING_MS = 4 * MINUTE
const WORKING_MS = 5 * MINUTE
const STEP_MS = 10
const STEP_ASLEEP_MS = 500
const LEAP_MS = 5_000
const SESSION = "ses_walk"

const services = Effect.runSync(
  Layer.buildWithScope(TestClock.layer({ warningDelay: "1 day" }), Scope.makeUnsafe()),
)
const passing = Effect.runSyncWith(services)(TestClock.testClockWith(Effect.succeed))
const now = (): number => leg.nowMs + passing.currentTimeMillisUnsafe()
const clock: Clock.Clock = {
  ...passing,
  currentTimeMillisUnsafe: now,
  currentTimeMillis: Effect.sync(now),
}
/** Frequent polling may run in real time. */
const background = (same: Clock.Clock): Clock.Clock => ({
  currentTimeMillis: same.currentTimeMillis,
  currentTimeNanos: same.currentTimeNanos,
  monotonicTimeNanos: same.monotonicTimeNanos,
  currentTimeMillisUnsafe: () => same.currentTimeMillisUnsafe(),
  currentTimeNanosUnsafe: () => same.currentTimeNanosUnsafe(),
  monotonicTimeNanosUnsafe: () => same.monotonicTimeNanosUnsafe(),
  sleep: (duration) =>
    Duration.toMillis(duration) >= 1_000
      ? same.sleep(duration)
      : Effect.callback<void>((resume) => {
          const timer = setTimeout(() => resume(Effect.void), Duration.toMillis(duration))
          return Effect.sync(() => clearTimeout(timer))
        }),
})
const references = services.pipe(Context.add(Clock.Clock, clock), Context.add(Background, background))

/** While something sleeps here nothing else happens, so time may jump to the end of the sleep. */
let sleepsUntil: number | undefined
const sleep = async (ms: number): Promise<void> => {
  sleepsUntil = now() + ms
  await Effect.runPromiseWith(references)(clock.sleep(Duration.millis(ms)))
  sleepsUntil = undefined
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const isHere = (where: string, count: number): boolean => leg.kill?.where === where && count >= leg.kill.from
const dieHere = (): Promise<never> => {
  say(`here ${now()}`)
  return new Promise(() => undefined)
}

const linesOf = (name: string): readonly string[] => {
  const file = join(folder, name)
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []
}
const note = (name: string, line: string): void => appendFileSync(join(folder, name), `${line}\n`)

const refusal = ({ told, minutes }: Limit, until: number): Reply => {
  const base = {
    status: 429,
    code: "rate_limit_exceeded",
    type: "rate_limit_error",
    message: "Usage limit reached.",
  }
  const time = new Date(until).toISOString()
  switch (told) {
    case "header":
      return { error: { ...base, headers: { "retry-after": String(minutes * 60) } } }
    case "date":
      return { error: { ...base, headers: { "retry-after": new Date(until).toUTCString() } } }
    case "words":
      return {
        error: {
          ...base,
          message: `You have hit your limit, resets in ${Math.floor(minutes / 60)}h ${minutes % 60}m`,
        },
      }
    case "time of day":
      return {
        error: { ...base, message: `You have hit your limit. Try again at ${time.slice(11, 16)} (UTC)` },
      }
    case "stream":
      return { inStream: true, error: { ...base, message: `Limit reached, resets in ${minutes} minutes` } }
  }
}

/** A date has whole seconds, a time of day whole minutes. */
const toldPrecisely = (until: number, told: Limit["told"]): number => {
  const unit = told === "date" ? 1_000 : told === "time of day" ? MINUTE : 1
  return Math.ceil(until / unit) * unit
}

const script = async ({
  body,
  lastText,
}: {
  readonly body: unknown
  readonly lastText: string
}): Promise<Reply> => {
  const text = JSON.stringify(body)
  const begun = linesOf("acts").filter((line) => line.startsWith("start ")).length
  const kind: Asked["kind"] = lastText.endsWith("Write the checkpoint now.") ? "summary" : "turn"
  const asked: Asked = {
    at: now(),
    kind,
    hasTask: text.includes(TASK),
    afterCompaction: linesOf("answered").at(-1) === "summary",
  }
  note("requests.jsonl", JSON.stringify(asked))
  if (isHere(kind === "summary" ? "summary" : "request", begun)) await dieHere()
  await sleep(THINKING_MS)
  const refused = linesOf("limits.jsonl").length
  const limit = walk.limits[refused]
  if (kind === "turn" && limit !== undefined && begun >= limit.from) {
    const until = toldPrecisely(now() + limit.minutes * MINUTE, limit.told)
    const line: Refused = { at: now(), until }
    note("limits.jsonl", JSON.stringify(line))
    return refusal(limit, until)
  }
  note("answered", kind)
  if (kind === "summary") return { text: summaryOf(text) }
  if (begun >= walk.turns) return { text: "All modules are moved." }
  return { text: "Next one.", tools: [{ name: "work", input: { module: begun + 1 } }] }
}

/** Used in turn: they forget, repeat old values and invent a request. */
const HOSTILE = ["empty", "adversarial", "headline", "lossy 50 %"] as const

const SUMMARY_CHARACTERS = 1_200

const summaryOf = (body: string): string => {
  const count = linesOf("answered").filter((kind) => kind === "summary").length
  const name = HOSTILE[count % HOSTILE.length] ?? "empty"
  const summary = SUMMARISERS[name]({ messages: [body.slice(0, 20_000)], context: [], seed: count })
  // All about equally long, so that the number of compactions does not depend on the summariser.
  return summary.slice(0, SUMMARY_CHARACTERS) || "(none)"
}

const OUTPUT = "moved and tested; ".repeat(200)

const options: EngineOptions = {
  database: join(folder, "engine.sqlite"),
  models: [
    {
      id: "fake/one",
      provider: "scripted",
      contextWindow: 8_900 + walk.compactEvery * 613,
      maxOutput: 2_000,
      script,
    },
  ],
  permissions: [{ action: "*", resource: "*", effect: "allow" }],
  limits: { turnsPerActivity: 1_000 },
  compaction: { keepTokens: 1_000 },
  recovery: "continue",
  tools: [
    {
      name: "work",
      description: "Moves one module.",
      input: { type: "object", properties: { module: { type: "number" } } },
      execute: async ({ module }: { readonly module: number }, { messageID, callID }) => {
        note("acts", `start ${messageID}/${callID}`)
        const begun = linesOf("acts").filter((line) => line.startsWith("start ")).length
        if (isHere("tool", begun)) await dieHere()
        await sleep(WORKING_MS)
        note("acts", `end ${messageID}/${callID}`)
        return `module ${module} ${OUTPUT}`
      },
    },
  ],
}

const processes = realProcesses()
const me = { ...processes.me, boot: leg.boot }
const opening = openEngineWith(
  options,
  {
    sqlite: {
      // After a reboot the earlier processes are gone, as the system would report it.
      processes: {
        me,
        isGone: (other) => other.boot !== me.boot || processes.isGone({ ...other, boot: processes.me.boot }),
      },
      flushFile: { beside: async (descriptor) => fdatasyncSync(descriptor), inPlace: fdatasyncSync },
    },
  },
  references,
)
const begin = async (): Promise<Engine> => {
  const opened = await opening
  await opened.sessions.create({ id: SESSION, location: { directory: folder } })
  await opened.sessions.prompt({ id: "msg_task", sessionID: SESSION, prompt: { text: TASK } })
  return opened
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
const pass = (ms: number): Promise<void> => Effect.runPromiseWith(services)(TestClock.adjust(ms))

let engine: Engine | undefined
void begin().then((opened) => (engine = opened))

for (let round = 0; ; round += 1) {
  await turns(4)
  if (sleepsUntil !== undefined && sleepsUntil - now() > LEAP_MS) {
    await pass(LEAP_MS)
    continue
  }
  await pass(sleepsUntil === undefined ? STEP_MS : STEP_ASLEEP_MS)
  if (round % 20 > 0 || engine === undefined) continue
  const { status, waitingFor, until } = await engine.sessions.get(SESSION)
  if (status === "idle" || status === "failed" || waitingFor === "question") {
    say(`idle ${now()} ${status}`)
    break
  }
  if (status !== "waiting" || until === undefined) continue
  if (isHere("parked", linesOf("limits.jsonl").length)) await dieHere()
  while (until - now() > 2 * LEAP_MS) await pass(LEAP_MS)
}
await Promise.race([engine?.close(), new Promise((resolve) => setTimeout(resolve, 5_000))])
process.exit(0)
