/** Servers that cannot be used as they are: each gets a code and a way forward, and nothing is half written. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"

import { openEngine } from "@meridian/engine"
import { openPostgres, type PostgresServer } from "@meridian/testkit/postgres-server"
import { Clock, Context, Effect } from "effect"
import { afterAll, beforeAll, expect } from "vitest"

import { openEngineWith } from "../../packages/engine/src/open-engine.ts"
import { requireVersion } from "../../packages/engine/src/store/postgres/migrate.ts"
import {
  allEvents,
  codeOf,
  conversation,
  gate,
  openEngineScene,
  scriptedModel,
  tool,
} from "../engine-scene.ts"
import { askServer } from "../postgres-scene.ts"
import { verifies } from "../verifies.ts"

let server: PostgresServer
let folder = ""
const LIMITS = { limits: { leaseMs: 1_000 } }

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "meridian-hba-"))
  // The server runs as another user.
  chmodSync(folder, 0o755)
  const rules = join(folder, "hba.conf")
  writeFileSync(
    rules,
    "host all careful 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\nlocal all all trust\nhost replication all 127.0.0.1/32 trust\n",
    { mode: 0o644 },
  )
  server = await openPostgres(["wal_level=replica", `hba_file=${rules}`])
})
afterAll(async () => {
  await server.remove()
  rmSync(folder, { recursive: true, force: true })
})

const asked = (sql: string) => askServer(server.address, sql)

const opening = (database: string) => codeOf(openEngine({ database, models: [scriptedModel([])], ...LIMITS }))
const at = (schema: string, more = ""): string => `${server.address}?schema=${schema}${more}`

verifies(
  "cluster.bad-server",
  async () => {
    await asked("create role careful login password 'right'")
    const wrong = server.address.replace("meridian@", "careful:wrong@")
    const failure = await openEngine({ database: wrong, models: [scriptedModel([])], ...LIMITS }).catch(
      (cause: unknown) => cause,
    )
    expect(failure).toMatchObject({ code: "DATABASE_REFUSED" })
    expect(String(failure)).not.toContain("wrong")
  },
  "a wrong password, which is not shown",
)

verifies(
  "cluster.bad-server",
  async () => {
    expect(await opening(at("tls", "&sslmode=require"))).toBe("DATABASE_TLS")
  },
  "no encryption where the address asks for it",
)

verifies(
  "cluster.bad-server",
  async () => {
    expect(() => requireVersion("130012", "postgres://db/x")).toThrow(/Postgres 13; Meridian needs 14/)
    expect(() => requireVersion("140000", "postgres://db/x")).not.toThrow()
  },
  "an old server",
)

verifies(
  "cluster.bad-server",
  async () => {
    await using scene = await openEngineScene([], { database: at("newer") })
    await scene.engine.close()
    await asked("update newer.store set version = 99")
    expect(await opening(at("newer"))).toBe("DATABASE_NEWER")
    await asked("update newer.store set version = 2")
    expect(await opening(at("newer"))).toBe("DATABASE_OLD")
    expect(await asked("select version from newer.store")).toEqual([{ version: 2 }])
  },
  "a schema of a newer version, and of an older one",
)

verifies(
  "cluster.bad-server",
  async () => {
    await using scene = await openEngineScene([], { database: at("brim"), ...LIMITS })
    await asked(`create function brim.full() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file: no space left on device' using errcode = '53100'; end $$`)
    await asked("create trigger full_disk before insert on brim.input execute function brim.full()")
    const before = await allEvents(scene.engine)
    const prompt = { id: "msg_1", sessionID: "ses_test", prompt: { text: "hello" } }
    expect(await codeOf(scene.engine.sessions.prompt(prompt))).toBe("DATABASE_UNWRITABLE")
    expect(await allEvents(scene.engine)).toEqual(before)
    expect(await asked("select * from brim.name where id = 'msg_1'")).toEqual([])
    await asked("drop trigger full_disk on brim.input")
    await scene.engine.sessions.prompt(prompt)
    await scene.engine.sessions.wait("ses_test")
    expect(await conversation(scene.engine)).toEqual(["user: hello", "assistant: done"])
  },
  "a full disk on the server",
)

verifies(
  "cluster.bad-server",
  async () => {
    await using scene = await openEngineScene([], { database: at("slow"), ...LIMITS })
    await asked(`create function slow.wait() returns trigger language plpgsql as
      $$ begin perform pg_sleep(10); return new; end $$`)
    await asked("create trigger slow_disk before insert on slow.input execute function slow.wait()")
    await scene.engine.close()
    await asked("alter role meridian set statement_timeout = '300ms'")
    const engine = await openEngine({ ...scene.options })
    const prompt = { id: "msg_1", sessionID: "ses_test", prompt: { text: "hello" } }
    expect(await codeOf(engine.sessions.prompt(prompt))).toBe("DATABASE_UNREACHABLE")
    await asked("alter role meridian reset statement_timeout")
    expect(await asked("select * from slow.name where id = 'msg_1'")).toEqual([])
    await engine.close()
  },
  "statements that are cut off",
)

verifies(
  "cluster.bad-server",
  async () => {
    const standby = await server.standby()
    try {
      expect(await opening(`${standby.address}?schema=standby`)).toBe("DATABASE_STANDBY")
    } finally {
      await standby.remove()
    }
  },
  "a standby that can only be read",
)

const YEARS_MS = 20 * 365 * 24 * 3_600_000

/** A shifted clock for one engine. */
const clockAt = (ahead: number) => {
  const real = Context.get(Context.empty(), Clock.Clock)
  return Context.make(
    Clock.Clock,
    Object.assign(Object.create(real), {
      currentTimeMillisUnsafe: () => Date.now() + ahead,
      currentTimeMillis: Effect.sync(() => Date.now() + ahead),
    }),
  )
}

verifies("cluster.clocks", async () => {
  const working = gate()
  const slow = tool("slow", () => working.pass())
  const options = {
    database: at("clocks"),
    tools: [slow],
    permissions: [{ action: "*", resource: "*", effect: "allow" as const }],
  }
  await using scene = await openEngineScene([], { database: at("clocks"), worker: false })
  const ahead = await openEngineWith(
    { ...options, models: [scriptedModel([{ tools: [{ name: "slow", input: {} }] }])] },
    {},
    clockAt(YEARS_MS),
  )
  await ahead.sessions.prompt({ sessionID: "ses_test", prompt: { text: "hello" } })
  await working.reached
  const behind = await openEngineWith(
    { ...options, models: [scriptedModel([{ text: "in the past" }])] },
    {},
    clockAt(-YEARS_MS),
  )
  const closed = ahead.close({ drainMs: 60_000 })
  working.open()
  await closed
  await scene.engine.sessions.wait("ses_test")
  // The model also learns that the date has changed.
  const said = (await conversation(scene.engine)).filter((line) => line !== "system")
  expect(said).toEqual(["user: hello", "slow: completed", "assistant: in the past"])
  await behind.close()
})

const LIMITED = {
  error: {
    status: 429,
    code: "rate_limit_exceeded",
    type: "rate_limit_error",
    message: "slow down",
    headers: { "retry-after": "3600" },
  },
} as const

verifies("cluster.park-clock", async () => {
  const database = at("parks")
  const open = (ahead: number, answers: Parameters<typeof scriptedModel>[0]) =>
    openEngineWith({ database, models: [scriptedModel(answers)], ...LIMITS }, {}, clockAt(ahead))
  await using scene = await openEngineScene([], { database, worker: false, ...LIMITS })
  const { sessions } = scene.engine
  // The node that parks it believes to be in the past, and others believe to be in the future, or are right.
  const behind = await open(-YEARS_MS, [LIMITED])
  await sessions.prompt({ sessionID: "ses_test", prompt: { text: "hello" } })
  const types = async () => (await allEvents(scene.engine)).map(({ type }) => type)
  while ((await sessions.get("ses_test")).waitingFor !== "limit") await delay(20)
  const { until = 0 } = await sessions.get("ses_test")
  expect(Math.abs(until - Date.now() - 3_600_000)).toBeLessThan(600_000)
  await behind.close()
  const ahead = await open(YEARS_MS, [{ text: "too early" }])
  const other = await open(0, [{ text: "too early, too" }])
  // A look of each, and a prompt of another session that both see.
  await sessions.create({ id: "ses_other", location: { directory: scene.directory } })
  await sessions.prompt({ sessionID: "ses_other", prompt: { text: "now" } })
  await sessions.wait("ses_other")
  await delay(LIMITS.limits.leaseMs)
  expect((await types()).at(-1)).toBe("session.next.parked.1")
  await ahead.close()
  await other.close()
})
