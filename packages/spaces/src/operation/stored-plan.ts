/**
 * The plan of a run, kept in its `params.json` for whoever carries the run on when its worker is gone. It names a program and
 * rights, so it carries a seal: one that this user's Meridian did not write, or that was changed, is not carried out.
 */
import { asObject, isJsonObject, textAt, type RunId } from "@meridian/protocol"

import { decodeJson } from "../domain/json-line.ts"
import { LIMIT } from "../domain/limit.ts"
import { readDocument } from "../store/document.ts"
import { runPlace, type SpacePlace } from "../store/place.ts"
import { asRunPlan, type RunPlan } from "./run-plan.ts"
import { sealPlan } from "./seal.ts"
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
  /** Why it cannot be carried on, as the end of a sentence. */
  | { readonly tag: "none"; readonly why: string }

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
  const seal = sealPlan(JSON.stringify(kept), { run, space: space.id, state, world })
  if (seal === undefined || seal !== textAt(fields, "seal") || plan.space !== space.id)
    return { tag: "none", why: "its plan was not written by your Meridian" }
  return { tag: "plan", plan }
}

/** A prompt, its standing text and what is around them. */
const LARGEST_BYTES = LIMIT.promptBytes * 4
