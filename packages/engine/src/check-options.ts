/**
 * The form of what an engine is opened with: it comes from outside, and every part is looked at before anything is opened.
 * Models are checked by whoever opens them (`model/config.ts`), MCP servers by `tool/mcp-servers.ts`.
 */
import {
  ANY_OBJECT,
  anyOf,
  BOOLEAN,
  Failure,
  integer,
  listOf,
  number,
  objectOf,
  oneOf,
  reader,
  something,
  STRING,
  text,
  type Shape,
} from "@meridian/protocol"

import type { EngineOptions } from "./api.ts"
import { present } from "./check-input.ts"
import type { EngineLimits } from "./domain/limits.ts"
import { requireKnownAddress } from "./store/postgres/address.ts"

const NAME = text({ least: 1 })
const FUNCTION: Shape<unknown> = something("a function", (value) => typeof value === "function")
const WORDS = anyOf(STRING, FUNCTION)
const ANYTHING: Shape<unknown> = something("anything", () => true)

const NOTHING: Shape<unknown> = something("false", (value) => value === false)

const RULE = objectOf({ action: STRING, resource: STRING, effect: oneOf("allow", "ask", "deny") })

const LEAST_1 = integer(1, Number.MAX_SAFE_INTEGER)
const LIMIT_SHAPES = {
  pendingInputs: LEAST_1,
  steerBatch: LEAST_1,
  turnsPerActivity: LEAST_1,
  leaseMs: LEAST_1,
  patienceMs: LEAST_1,
} as const satisfies Record<keyof EngineLimits, Shape<number>>

const OPTIONS = objectOf(
  { database: NAME, models: listOf(objectOf({ id: NAME })) },
  {
    model: STRING,
    migrate: BOOLEAN,
    worker: anyOf(NOTHING, objectOf({ sessions: integer(1, 100_000) })),
    permissions: listOf(RULE),
    tools: listOf(objectOf({ name: NAME, description: NAME, input: ANY_OBJECT, execute: FUNCTION })),
    agents: listOf(objectOf({ name: NAME }, { prompt: STRING, permissions: listOf(RULE), model: STRING })),
    mcp: ANYTHING,
    context: listOf(
      objectOf({ key: NAME, observe: FUNCTION, baseline: WORDS }, { update: WORDS, removed: WORDS }),
    ),
    instructions: listOf(NAME),
    allowPrivateAddresses: BOOLEAN,
    references: listOf(objectOf({ name: NAME, path: NAME }, { description: STRING })),
    stateRoot: NAME,
    keepVariables: listOf(NAME),
    asksAgain: BOOLEAN,
    compaction: objectOf(
      {},
      {
        auto: BOOLEAN,
        buffer: number({ least: 0 }),
        keepTokens: number({ least: 0 }),
        model: STRING,
        prompt: STRING,
        timeoutMs: number({ least: 1 }),
        prune: BOOLEAN,
      },
    ),
    limits: objectOf({}, LIMIT_SHAPES),
    retry: objectOf({}, { attempts: number({ least: 1 }), baseMs: number({ least: 0 }) }),
    recover: anyOf(BOOLEAN, listOf(STRING)),
  },
)

const read = reader(OPTIONS, { what: "The options of an engine", unknown: "keep" })

export const checkOptions = (options: EngineOptions): void => {
  const { database, models, context = [] } = read(present(options))
  requireKnownAddress(database)
  unique(
    models.map(({ id }) => id),
    "model",
  )
  unique(
    context.map(({ key }) => key),
    "context source",
  )
}

const unique = (names: readonly string[], what: string): void => {
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new Failure("INVALID_INPUT", { what: `Two ${what}s are called ${twice}` })
}
