/**
 * Everything a folder's files would decide for the person working in it: the content of the trust question. Reads
 * only.
 */
import type { Claim } from "../domain/claim.ts"
import { isCovered, type TrustEntry } from "../domain/trust.ts"
import { loadConfig, type LoadedConfig } from "../store/config-file.ts"
import { openPlace, type StatePlace } from "../store/place.ts"
import { databaseIn, judgeDatabase, markOfFile } from "./database-trust.ts"
import { extensionClaims, EXTENSIONS } from "./extension-files.ts"
import { agentClaims, hookClaims } from "./folder-claims.ts"
import { folderOf, trustOf } from "./folder-trust.ts"
import { gitClaims } from "./repository-here.ts"
import type { World } from "./world.ts"

export interface Survey {
  readonly place: StatePlace
  readonly entry: TrustEntry | undefined
  readonly loaded: LoadedConfig
  /** All claims, trusted or not. */
  readonly claims: readonly Claim[]
  /** Claims that do not count now but would if the folder were trusted. */
  readonly open: readonly Claim[]
}

export type SurveyWorld = Pick<World, "env" | "cwd" | "configPath" | "pendingWork">

export const surveyFolder = async (world: SurveyWorld): Promise<Survey> => {
  const place = openPlace(world.env, world.cwd)
  const entry = trustOf(place, world.env)
  const loaded = await loadConfig({ ...world, root: place.root, trust: entry })
  // In the home folder, agents and hooks are the user's own.
  const isHome = folderOf(place).path === folderOf({ project: world.env["HOME"] ?? "" }).path
  const shown = [
    ...(isHome
      ? []
      : [
          ...(await agentClaims(place, loaded.config)),
          ...hookClaims(place),
          ...(await gitClaims(place, world)),
        ]),
    ...extensionClaims(place),
    ...(await databaseClaim(place, world)),
  ]
  const ignored = loaded.ignored
    .filter(({ why }) => why === "untrusted" || why === "changed")
    .map(({ claim }) => claim)
  // No trust would make these count.
  const own = new Set(loaded.ignored.flatMap(({ claim, why }) => (why === "own" ? [claim.key] : [])))
  return {
    place,
    entry,
    loaded,
    claims: [...loaded.claims.filter(({ key }) => !own.has(key)), ...shown],
    // A trusted folder may change its agents and hooks: no right and no program of ours depends on them. The programs
    // of its git are asked about when a command needs them.
    open: [
      ...ignored,
      ...shown.filter(
        (claim) =>
          claim.kind === "database" ||
          entry?.tier === undefined ||
          // An extension's code runs inside this program.
          (claim.key === EXTENSIONS && !isCovered(claim, entry)),
      ),
    ],
  }
}

/** A database that is not this user's own and has pending work. */
const databaseClaim = async ({ root }: StatePlace, world: SurveyWorld): Promise<readonly Claim[]> => {
  const file = databaseIn(root)
  if (judgeDatabase(file, world) !== "foreign") return []
  const shown = await world.pendingWork?.(file)
  const value = markOfFile(file) ?? ""
  return shown === undefined ? [] : [{ kind: "database", key: "engine.sqlite", value, shown, where: file }]
}
