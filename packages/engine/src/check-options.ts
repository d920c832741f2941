/**
 * Checks the options of an engine, which come from outside, before anything is opened. Models are checked when they are
 * opened (`model/config.ts`), agents by `read-agents.ts`, MCP servers by `tool/mcp-servers.ts`.
 */
import {
  ANY_OBJECT,
  anyOf,
  BOOLEAN,
  CAPS,
  Failure,
  fieldAt,
  integer,
  isJsonObject,
  listOf,
  number,
  objectOf,
  reader,
  RECOVERY,
  something,
  STRING,
  text,
  TOOL_KIND,
  type Shape,
} from "@meridian/protocol"

import type { EngineOptions } from "./api.ts"
import { present } from "./check-input.ts"
import type { EngineLimits } from "./domain/limits.ts"
import { PERMISSION_RULE } from "./domain/permission.ts"
import { requireKnownAddress } from "./store/postgres/address.ts"

const NAME = text({ least: 1 })
export const FUNCTION: Shape<unknown> = something("a function", (value) => typeof value === "function")
const WORDS = anyOf(STRING, FUNCTION)
const ANYTHING: Shape<unknown> = something("anything", () => true)

const NOTHING: Shape<unknown> = something("false", (value) => value === false)

const WORKSPACE_NAME = /^[\p{L}\p{N}_.:@/+-]{1,200}$/u
const WORKSPACE = text({ pattern: WORKSPACE_NAME, like: "1 to 200 letters, digits or _ . : @ / + -" })

const LEAST_1 = integer(1, Number.MAX_SAFE_INTEGER)
const LIMIT_SHAPES = {
  pendingInputs: LEAST_1,
  steerBatch: LEAST_1,
  turnsPerActivity: LEAST_1,
  leaseMs: LEAST_1,
  patienceMs: LEAST_1,
} as const satisfies Record<keyof EngineLimits, Shape<number>>

export const TOOL = { name: NAME, description: NAME, input: ANY_OBJECT, execute: FUNCTION } as const
export const SOURCE = { key: NAME, observe: FUNCTION, baseline: WORDS } as const
export const SOURCE_WORDS = { update: WORDS, removed: WORDS } as const
export const TOOL_WORDS = { changesFiles: BOOLEAN, kind: TOOL_KIND } as const

/** Lists of hand-written objects with functions, and the fields that an entry may have. */
const HAND_WRITTEN = {
  tools: [...Object.keys(TOOL), ...Object.keys(TOOL_WORDS)],
  context: [...Object.keys(SOURCE), ...Object.keys(SOURCE_WORDS)],
} as const

const hasText = (value: unknown, field: string): boolean => {
  const found: unknown = fieldAt(value, field)
  return typeof found === "string" && found !== ""
}

const isFolders = (value: unknown): value is Readonly<Record<string, string>> =>
  isJsonObject(value) &&
  Object.entries(value).every(
    ([name, folder]) => WORKSPACE_NAME.test(name) && typeof folder === "string" && folder !== "",
  )

const OPTIONS = objectOf(
  // Each model and each agent is checked completely when it is opened.
  {
    database: NAME,
    models: listOf(something<{ readonly id: string }>("a model with an id", (value) => hasText(value, "id"))),
  },
  {
    model: STRING,
    migrate: BOOLEAN,
    worker: anyOf(
      NOTHING,
      objectOf(
        {},
        {
          workspaces: anyOf(listOf(WORKSPACE), something("folders by name", isFolders)),
          sessions: integer(1, 100_000),
          address: text({
            pattern: /^https?:\/\/[^\s/@]+\/?$/,
            like: "an address such as http://10.0.0.5:4747",
          }),
        },
      ),
    ),
    followPeer: FUNCTION,
    permissions: listOf(PERMISSION_RULE),
    tools: listOf(objectOf(TOOL, TOOL_WORDS)),
    agents: listOf(something("an agent with a name", (value) => hasText(value, "name"))),
    mcp: ANYTHING,
    context: listOf(objectOf(SOURCE, SOURCE_WORDS)),
    instructions: listOf(NAME),
    allowPrivateAddresses: BOOLEAN,
    references: listOf(objectOf({ name: NAME, path: NAME }, { description: STRING })),
    stateRoot: NAME,
    commands: objectOf({}, { shell: BOOLEAN }),
    keepVariables: listOf(NAME),
    wrapCommand: FUNCTION,
    asksAgain: BOOLEAN,
    undo: BOOLEAN,
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
    titles: objectOf({}, { model: STRING, timeoutMs: number({ least: 1 }) }),
    limits: objectOf({}, LIMIT_SHAPES),
    retry: objectOf({}, { attempts: number({ least: 1 }), baseMs: number({ least: 0 }) }),
    recover: anyOf(BOOLEAN, listOf(STRING)),
    recovery: RECOVERY,
    budget: CAPS,
  },
)

const read = reader(OPTIONS, { what: "The options of an engine" })

export const checkOptions = (options: EngineOptions): void => {
  const { database, models, context = [] } = read(written(present(options)))
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

/**
 * Keeps only what must be checked field by field: in a hand-written object an unknown field is a slip, but an instance of a
 * class may have fields of its own.
 */
export const written = (options: unknown): unknown => {
  if (typeof options !== "object" || options === null) return options
  const lists = Object.entries(HAND_WRITTEN).flatMap(([field, names]) => {
    const list: unknown = Reflect.get(options, field)
    return Array.isArray(list) ? [[field, list.map((entry) => ofInstance(entry, names))] as const] : []
  })
  return lists.length === 0 ? options : { ...options, ...Object.fromEntries(lists) }
}

const ofInstance = (value: unknown, names: readonly string[]): unknown => {
  if (!isJsonObject(value)) return value
  const made: unknown = Object.getPrototypeOf(value)
  if (made === Object.prototype || made === null) return present(value)
  return Object.fromEntries(
    names.flatMap((name) => (name in value ? [[name, Reflect.get(value, name)] as const] : [])),
  )
}

const unique = (names: readonly string[], what: string): void => {
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new Failure("INVALID_INPUT", { what: `Two ${what}s are called ${twice}` })
}
