/** `meridian trust [DIR]`, `trust list`, `untrust [DIR]`. */
import { statSync } from "node:fs"
import { resolve } from "node:path"

import { Failure } from "@meridian/protocol"

import { MOST_CLAIMS, type Claim } from "../domain/claim.ts"
import type { FileTier } from "../domain/tier.ts"
import {
  findEntry,
  MOST_FOLDERS,
  putEntry,
  valuesOf,
  withoutEntry,
  type TrustBook,
  type TrustEntry,
} from "../domain/trust.ts"
import { openPlace, type StatePlace } from "../store/place.ts"
import { changeTrustBook, readTrustBook } from "../store/trust-store.ts"
import { trustFile } from "../store/user-place.ts"
import { databaseIn, markOfFile } from "./database-trust.ts"
import { folderOf } from "./folder-trust.ts"
import { implement } from "./operation.ts"
import { isoTime } from "./state.ts"
import { surveyFolder, type Survey, type SurveyWorld } from "./survey-folder.ts"
import { columns } from "./text-table.ts"
import { TRUST, TRUST_LIST, UNTRUST } from "./trust.meta.ts"
import type { World } from "./world.ts"

export const trust = implement(TRUST, {
  run: async (input, world) => {
    requirePerson("trust", world)
    const survey = await surveyFolder(inFolder(input.directory, world))
    const tier = input.tier ?? survey.entry?.tier ?? defaultTier(survey)
    const decides = survey.claims.map(claimDocument)
    const { path } = folderOf(survey.place)
    if (input.dryRun) return { path, trusted: survey.entry?.tier !== undefined, tier, decides, dry_run: true }
    await trustFolder(survey, { tier, world })
    return { path, trusted: true, tier, decides }
  },
  text: ({ path, tier, decides, dry_run: dryRun }) =>
    [
      dryRun === true
        ? `${path} decides${decides.length === 0 ? " nothing" : ""}:`
        : `trusted: ${path} (up to ${tier})`,
      claimLines(decides),
    ]
      .filter((line) => line !== "")
      .join("\n"),
})

export const trustList = implement(TRUST_LIST, {
  run: (_input, world) =>
    Promise.resolve({
      file: trustFile(world.env) ?? "",
      folders: readTrustBook(world.env).entries.flatMap(({ path, tier, values, at }) =>
        tier === undefined ? [] : [{ path, tier, values: Object.keys(values), at }],
      ),
    }),
  text: ({ folders }) =>
    folders.length === 0
      ? "(no folders)"
      : columns(folders.map(({ path, tier, values }) => [path, tier, values.join(", ")])),
})

export const untrust = implement(UNTRUST, {
  run: async (input, world) => {
    requirePerson("untrust", world)
    const path = isGone(input.directory, world)
      ? resolve(world.cwd, input.directory ?? ".")
      : folderOf(placeIn(inFolder(input.directory, world))).path
    // Whoever owns the folder now: we only take away this user's trust.
    const known = readTrustBook(world.env).entries.some((entry) => entry.path === path)
    if (known) await changeTrustBook(world.env, (book) => withoutEntry(book, path))
    return { path, removed: known }
  },
  text: ({ path, removed }) => (removed ? `no longer trusted: ${path}` : `was not trusted: ${path}`),
})

/** Adds the surveyed values to the book, up to this tier. */
export const trustFolder = async (
  survey: Survey,
  { tier, world }: { readonly tier: FileTier; readonly world: Pick<World, "env" | "uuid" | "clock"> },
): Promise<void> => {
  const folder = folderOf(survey.place)
  const { claims } = survey
  if (claims.length > MOST_CLAIMS)
    throw new Failure("TRUST_TOO_MUCH", { folder: folder.path, count: claims.length, limit: MOST_CLAIMS })
  const at = isoTime(world.clock.now())
  await changeTrustBook(world.env, (book) => {
    const id = findEntry(book, folder)?.id ?? world.uuid()
    const database = markOfFile(databaseIn(survey.place.root))
    return requireRoom(
      putEntry(book, {
        ...folder,
        id,
        tier,
        values: valuesOf(claims),
        at,
        ...(database === undefined ? {} : { database }),
      }),
    )
  })
}

const requireRoom = (book: TrustBook | undefined): TrustBook => {
  if (book === undefined) throw new Failure("TRUST_FULL", { limit: MOST_FOLDERS })
  return book
}

/** A person just set this value in a folder, so it is trusted, but nothing else in the folder. */
export const trustKey = async (
  key: string,
  world: SurveyWorld & Pick<World, "uuid" | "clock">,
): Promise<void> => {
  const survey = await surveyFolder(world)
  const claim = survey.claims.find((one) => one.key === key && one.kind !== "rights")
  if (claim === undefined) return
  const folder = folderOf(survey.place)
  const fresh: TrustEntry = { ...folder, id: world.uuid(), values: {}, at: isoTime(world.clock.now()) }
  await changeTrustBook(world.env, (book) => {
    const entry = findEntry(book, folder) ?? fresh
    const values = { ...entry.values, [claim.key]: claim.value }
    return requireRoom(putEntry(book, { ...entry, tier: entry.tier ?? defaultTier(survey), values }))
  })
}

/** The user's own default tier: what trust grants if no tier is named. */
export const defaultTier = ({ loaded }: Pick<Survey, "loaded">): FileTier => loaded.ownTier

/** An agent must not widen its own rights. */
const requirePerson = (command: string, world: Pick<World, "mode" | "face">): void => {
  if (world.mode === "agent" || world.face === "tool") throw new Failure("TRUST_NEEDS_PERSON", { command })
}

/** The world as seen from the folder a person named, which takes precedence over MERIDIAN_REPO_ROOT. */
const inFolder = <Given extends Pick<World, "env" | "cwd">>(
  directory: string | undefined,
  world: Given,
): Given => {
  if (directory === undefined) return world
  const cwd = resolve(world.cwd, directory)
  if (isGone(directory, world)) throw new Failure("DIRECTORY_NOT_FOUND", { directory: cwd })
  return {
    ...world,
    cwd,
    env: { ...world.env, MERIDIAN_REPO_ROOT: undefined, MERIDIAN_STATE_ROOT: undefined },
  }
}

const placeIn = ({ env, cwd }: Pick<World, "env" | "cwd">): StatePlace => openPlace(env, cwd)

const isGone = (directory: string | undefined, { cwd }: Pick<World, "cwd">): boolean =>
  directory !== undefined &&
  statSync(resolve(cwd, directory), { throwIfNoEntry: false })?.isDirectory() !== true

export const claimDocument = ({ kind, key, shown, where }: Claim) => ({ kind, key, value: shown, where })

export const claimLines = (
  claims: readonly {
    readonly kind: string
    readonly key: string
    readonly value: string
    readonly where: string
  }[],
): string =>
  columns(claims.map(({ kind, key, value, where }) => [`  ${kind}`, `${key} = ${value}`, `(${where})`]))
