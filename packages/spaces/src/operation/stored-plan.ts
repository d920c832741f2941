/**
 * The plan of a run, kept in its `params.json` for the worker that resumes the run. It names a program and rights, so
 * it carries a seal. A plan that this user's Meridian did not write, or that was changed, is not carried out.
 */
import { dirname, isAbsolute } from "node:path"

import { asObject, isJsonObject, textAt, type RunId } from "@meridian/protocol"

import { decodeJson } from "../domain/json-line.ts"
import { LIMIT } from "../domain/limit.ts"
import { readDocument, replaceFile } from "../store/document.ts"
import { runPlace, type SpacePlace } from "../store/place.ts"
import { asRunPlan, type RunPlan } from "./run-plan.ts"
import { placedAt, sealPlan } from "./seal.ts"
import type { State } from "./state.ts"
import type { World } from "./world.ts"

export interface StoredPlan {
  readonly plan: RunPlan
  readonly seal: string | undefined
}

export const storePlan = (
  plan: RunPlan,
  run: RunId,
  state: State,
  world: Pick<World, "env">,
): StoredPlan => ({
  plan,
  seal: sealPlan(JSON.stringify(plan), { run, space: plan.space, state, world }),
})

export type KeptPlan =
  | { readonly tag: "plan"; readonly plan: RunPlan }
  /** Why it cannot be resumed, as the end of a sentence. */
  | { readonly tag: "none"; readonly why: string }
  /** This user's plan, from before the project was moved here. */
  | { readonly tag: "moved"; readonly from: string; readonly why: string }

export const readStoredPlan = (
  space: SpacePlace,
  run: RunId,
  state: State,
  world: Pick<World, "env">,
): KeptPlan => {
  const file = runPlace(space, run).params
  const fields = asObject(decodeJson(readDocument(file, LARGEST_BYTES) ?? ""))
  const kept = fields?.["plan"]
  const plan = isJsonObject(kept) ? asRunPlan(kept) : undefined
  if (plan === undefined) return { tag: "none", why: "its plan was not kept" }
  const content = JSON.stringify(kept)
  const found = textAt(fields, "seal")
  const isOf = (project: string | undefined): boolean => {
    const at = project === undefined ? state : placedAt(project, state)
    const seal = sealPlan(content, { run, space: space.id, state: at, world })
    return seal !== undefined && seal === found && plan.space === space.id
  }
  if (isOf(undefined)) return { tag: "plan", plan }
  const from = foldersAbove(plan.cwd).find(isOf)
  return from === undefined
    ? { tag: "none", why: "its plan was not written by your Meridian" }
    : {
        tag: "moved",
        from,
        why: `its project was moved from ${from}, and 'meridian space rebind' adopts it here`,
      }
}

/** The folder itself first. The project is one of them. */
export const foldersAbove = (folder: string): readonly string[] => {
  const folders: string[] = []
  for (let next = folder; isAbsolute(next) && folders.length < MOST_FOLDERS; next = dirname(next)) {
    folders.push(next)
    if (dirname(next) === next) break
  }
  return folders
}

const MOST_FOLDERS = 64

/** Replaces the caps of the run for any later worker. */
export const rewritePlan = (
  space: SpacePlace,
  run: RunId,
  plan: RunPlan,
  about: { readonly state: State; readonly world: Pick<World, "env"> },
): void => {
  const file = runPlace(space, run).params
  const fields = asObject(decodeJson(readDocument(file, LARGEST_BYTES) ?? "")) ?? {}
  const kept = { ...fields, ...storePlan(plan, run, about.state, about.world) }
  replaceFile(file, `${JSON.stringify(kept, undefined, 2)}\n`)
}

/** A prompt, its standing text and the rest of the plan. */
const LARGEST_BYTES = LIMIT.promptBytes * 4
