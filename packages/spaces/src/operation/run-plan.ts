/**
 * Everything a worker needs to carry out a run: decided by whoever spawned it, carried out here or, in the background, by
 * a process of its own that gets it as one JSON document on its stdin.
 */
import {
  asObject,
  Failure,
  objectAt,
  textAt,
  type ChatId,
  type HarnessSessionId,
  type JsonObject,
  type RunId,
  type SpaceId,
} from "@meridian/protocol"

import { asRunId, asSpaceId } from "../domain/identifier.ts"
import { decodeJson } from "../domain/json-line.ts"
import type { HarnessId, LaunchRequest } from "../port/harness.ts"

export interface RunPlan {
  readonly space: SpaceId
  readonly harness: HarnessId
  /** As recorded. */
  readonly model: string
  readonly agent?: { readonly name: string; readonly path: string } | undefined
  readonly skills: readonly { readonly name: string; readonly path: string }[]
  readonly prompt: string
  /** The words of whoever asked; the prompt wraps them. */
  readonly task: string
  /** Of the run whose conversation it goes on with. */
  readonly firstTask?: string | undefined
  readonly cwd: string
  readonly session:
    | { readonly kind: "new" }
    | { readonly kind: "continue" | "fork"; readonly id: HarnessSessionId }
  /** The parts of the launch that do not change from attempt to attempt. */
  readonly launch: Omit<
    LaunchRequest,
    "mode" | "cwd" | "environment" | "session" | "prompt" | "scratch" | "continuity"
  >
  /** The chat it is spawned from. */
  readonly chat?: ChatId | undefined
  /** The chat whose conversation it goes on with. */
  readonly ownChat?: ChatId | undefined
  readonly parent?: RunId | undefined
  readonly continuedFrom?: RunId | undefined
  readonly depth: number
  readonly timeoutSecs?: number | undefined
  readonly background: boolean
  readonly policy: RunPolicy
}

export interface RunPolicy {
  /** 0: no limit. */
  readonly maxParallel: number
  readonly maxRetries: number
  readonly backoffMs: number
  readonly killGraceMs: number
  /** Told when the run ends; [] tells nobody. */
  readonly notify: readonly string[]
  readonly patienceMs: number
  /** 0: never. */
  readonly stallMs: number
}

/** What a worker is to do: begin a run, or carry on with one whose worker is gone. */
export type WorkerOrder =
  | { readonly kind: "begin"; readonly plan: RunPlan }
  | { readonly kind: "resume"; readonly space: SpaceId; readonly run: RunId }

export const encodeOrder = (order: WorkerOrder): string => JSON.stringify(order)

export const decodeOrder = (content: string): WorkerOrder => {
  const fields = asObject(decodeJson(content))
  const plan = asRunPlan(objectAt(fields, "plan"))
  if (plan !== undefined) return { kind: "begin", plan }
  const [space, run] = [asSpaceId(textAt(fields, "space")), asRunId(textAt(fields, "run"))]
  if (space === undefined || run === undefined)
    throw new Failure("BACKGROUND_LAUNCH_FAILED", { reason: "the worker was given no plan" })
  return { kind: "resume", space, run }
}

/** Undefined when it is no plan at all. Whoever reads one from a file checks its seal. */
export const asRunPlan = (fields: JsonObject | undefined): RunPlan | undefined =>
  asSpaceId(textAt(fields, "space")) === undefined || objectAt(fields, "policy") === undefined
    ? undefined
    : // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written as a RunPlan by this same program
      (fields as unknown as RunPlan)
