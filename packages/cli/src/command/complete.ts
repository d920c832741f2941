/**
 * Names of existing things, one a line, some with a tab and a description. Read-only and never fails: a shell that
 * completes has no use for an error.
 */
import { readdirSync } from "node:fs"
import { join } from "node:path"

import { oneLine } from "@meridian/protocol"
import { implement, openPlace, OPERATIONS, readSchedules, type World } from "@meridian/spaces"

import type { NameKind } from "../completion/grammar.ts"
import type { KeptName } from "../sessions/kept-names.ts"
import { COMPLETE } from "./complete.meta.ts"
import { lookWithEngine } from "./look-with-engine.ts"

const MOST = 200
/** The bound of a description. */
const MOST_CHARACTERS = 80

/**
 * Files of an untrusted folder may name models, and a shell expands completions, so a name must contain nothing a
 * shell would read as more than a word.
 */
const PLAIN_NAME = /^[\p{L}\p{N}@_][\p{L}\p{N}@_.:/+,-]*$/u

interface Name {
  readonly name: string
  readonly about?: string
}

export const complete = implement(COMPLETE, {
  run: async ({ kind }, world) => {
    const names = await NAMES[kind](world).catch(() => [])
    return { names: names.filter(({ name }) => PLAIN_NAME.test(name)).slice(0, MOST) }
  },
  text: ({ names }) => names.map(({ name, about = "" }) => `${name}\t${about}`.trimEnd()).join("\n"),
})

const NAMES: Readonly<Record<NameKind, (world: World) => Promise<readonly Name[]>>> = {
  space: async (world) => named(spacesOf(world)),
  run: async (world) =>
    named(["@latest", "@last-failed", "@last-completed", ...inSpaces(world, "runs", /^(r\d+)$/)]),
  chat: async (world) => named(inSpaces(world, "sessions", /^(c\d+)\.lock$/)),
  model: async (world) => {
    const list = OPERATIONS.find(({ meta }) => meta.name === "models.list")
    const operation = await list?.load()
    const input = { provider: undefined, probe: false, all: false, passthrough: [], given: new Set() }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the operation is known by its name only
    const document = Object(await operation?.run(input as never, world))
    const models: readonly { readonly model_id: string; readonly aliases: readonly string[] }[] =
      document.models ?? []
    return named(models.flatMap(({ model_id: id, aliases }) => aliases.concat(id)))
  },
  schedule: async ({ env, cwd }) => named(readSchedules(openPlace(env, cwd)).schedules.map(({ id }) => id)),
  session: async (world) => ofEngine(world),
  "any-session": async (world) => {
    const { project } = openPlace(world.env, world.cwd)
    const all = await ofOthers(world)
    const [here, elsewhere] = [all.filter(isIn(project)), all.filter((kept) => !isIn(project)(kept))]
    return [...(await ofEngine(world)).slice(0, MOST / 2), ...[...here, ...elsewhere].map(described)]
  },
  continuable: async (world) => {
    const { project } = openPlace(world.env, world.cwd)
    const others = (await ofOthers(world)).filter(
      (kept) => !kept.name.startsWith("pi:") && (kept.directory === undefined || isIn(project)(kept)),
    )
    const own = [...(await NAMES.chat(world)), ...(await ofEngine(world))]
    return [...own.slice(0, MOST / 2), ...others.map(described)]
  },
}

/** An unreadable source offers nothing, and does not affect the others. */
const ofEngine = async (world: World): Promise<readonly Name[]> =>
  lookWithEngine(undefined, world, async ({ sessions }) =>
    (await sessions.list({ limit: MOST, order: "desc" })).items.map(({ id, title }) =>
      described({ name: id, title }),
    ),
  ).catch(() => [])

const ofOthers = async ({ env }: World): Promise<readonly KeptName[]> => {
  const { keptNames } = await import("../sessions/kept-names.ts")
  return keptNames(env, MOST)
}

const isIn =
  (project: string) =>
  ({ directory }: KeptName): boolean =>
    directory === project || directory?.startsWith(`${project}/`) === true

const described = ({
  name,
  title = "",
}: {
  readonly name: string
  readonly title?: string | undefined
}): Name => ({
  name,
  about: oneLine(title, MOST_CHARACTERS),
})

const named = (names: readonly string[]): readonly Name[] => names.map((name) => ({ name }))

const spacesOf = ({ env, cwd }: World): readonly string[] =>
  newestFirst(namesIn(openPlace(env, cwd).spaces, /^(s\d+)$/))

/** Names in the current space, else in all spaces. */
const inSpaces = (world: World, folder: string, pattern: RegExp): readonly string[] => {
  const { spaces } = openPlace(world.env, world.cwd)
  const own = world.env["MERIDIAN_SPACE_ID"] ?? ""
  const wanted = own === "" ? spacesOf(world) : [own]
  return newestFirst([...new Set(wanted.flatMap((space) => namesIn(join(spaces, space, folder), pattern)))])
}

const namesIn = (folder: string, pattern: RegExp): readonly string[] => {
  try {
    return readdirSync(folder).flatMap((name) => pattern.exec(name)?.[1] ?? [])
  } catch {
    return []
  }
}

const newestFirst = (names: readonly string[]): readonly string[] =>
  names.toSorted((left, right) => Number(right.slice(1)) - Number(left.slice(1)))
