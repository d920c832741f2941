/**
 * Everything a worker needs to carry out a run: decided by whoever spawned it, carried out here or, in the background, by
 * a process of its own that gets it as one JSON document on its stdin.
 */
import {
  type ChatId,
  Failure,
  type HarnessSessionId,
  isJsonObject,
  type RunId,
  type SpaceId,
} from "@meridian/protocol"

import { asSpaceId } from "../domain/identifier.ts"
import { decodeJson, text } from "../domain/json-line.ts"
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
}

export const encodeRunPlan = (plan: RunPlan): string => JSON.stringify(plan)

export const decodeRunPlan = (content: string): RunPlan => {
  const fields = decodeJson(content)
  if (
    !isJsonObject(fields) ||
    asSpaceId(text(fields, "space")) === undefined ||
    !isJsonObject(fields["policy"])
  )
    throw new Failure("BACKGROUND_LAUNCH_FAILED", { reason: "the worker was given no plan" })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by encodeRunPlan of this same program a moment ago
  return fields as unknown as RunPlan
}
