/**
 * Everything a worker needs to carry out a run. The caller that spawns the run decides it. It is carried out here or,
 * in the background, by another process that gets it as one JSON document on stdin.
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

import type { ChecksPlan } from "../domain/check.ts"
import { asRunId, asSpaceId } from "../domain/identifier.ts"
import { decodeJson } from "../domain/json-line.ts"
import type { RunCaps } from "../domain/run-caps.ts"
import type { SandboxRecord, SandboxUse } from "../domain/sandbox.ts"
import type { RunWorktree } from "../domain/worktree.ts"
import type { HarnessId, LaunchRequest } from "../port/harness.ts"

export interface RunPlan {
  readonly space: SpaceId
  readonly harness: HarnessId
  /** As recorded. */
  readonly model: string
  readonly agent?: { readonly name: string; readonly path: string } | undefined
  readonly skills: readonly { readonly name: string; readonly path: string }[]
  readonly prompt: string
  /** The caller's words. The prompt wraps them. */
  readonly task: string
  /** From the run whose conversation it continues. */
  readonly firstTask?: string | undefined
  readonly cwd: string
  readonly session:
    | { readonly kind: "new" }
    | { readonly kind: "continue" | "fork"; readonly id: HarnessSessionId }
  /** The parts of the launch that stay the same for all attempts. */
  readonly launch: Omit<
    LaunchRequest,
    "mode" | "cwd" | "environment" | "session" | "prompt" | "scratch" | "continuity" | "rest"
  >
  /** The chat it is spawned from. */
  readonly chat?: ChatId | undefined
  /** The chat whose conversation it continues. */
  readonly ownChat?: ChatId | undefined
  readonly parent?: RunId | undefined
  readonly continuedFrom?: RunId | undefined
  /** Conversations about the same task that are not continued. A new conversation is told about them. */
  readonly earlier?: readonly HeldSession[] | undefined
  /** All harnesses that may carry it out, in their order, and how the others would. Absent: only its own. */
  readonly failover?: Failover | undefined
  readonly depth: number
  readonly timeoutSecs?: number | undefined
  readonly background: boolean
  /** How it is isolated; decided when it begins. */
  readonly isolation?: Isolation | undefined
  /** Set once that is decided, or taken from the run it continues. */
  readonly worktree?: RunWorktree | undefined
  /** Shared by runs spawned together for one task. */
  readonly contest?: string | undefined
  /** The checks that prove its work. Absent: none. */
  readonly checks?: ChecksPlan | undefined
  /** It works in a sandbox. */
  readonly sandbox?: SandboxUse | undefined
  /** The record of that sandbox. */
  readonly sandboxRecord?: SandboxRecord | undefined
  /** What it may use up. Absent: no cap. */
  readonly caps?: RunCaps | undefined
  /** The firing of a schedule that requested it (`firingName`). At most one run has it. */
  readonly firing?: string | undefined
  readonly policy: RunPolicy
}

export interface HeldSession {
  readonly harness: string
  readonly id: string
}

export interface Failover {
  readonly order: readonly HarnessId[]
  readonly others: readonly Alternative[]
  /** A limit longer than this is not waited for. */
  readonly afterMs: number
}

/** What differs if another harness carries out the run. */
export type Alternative = Pick<RunPlan, "harness" | "model" | "agent" | "prompt" | "launch">

export interface Isolation {
  /** `auto`: only if another run writes into the same checkout. */
  readonly wish: "always" | "auto"
  readonly withChanges: boolean
  /** A command line of the user's that prepares a fresh worktree. */
  readonly setup?: string | undefined
  /** Variables that look like credentials and that the setup may see anyway. */
  readonly keepVariables: readonly string[]
}

export interface RunPolicy {
  /** 0: no limit. */
  readonly maxParallel: number
  readonly maxRetries: number
  readonly backoffMs: number
  readonly killGraceMs: number
  /** The program to run when the run ends; [] for none. */
  readonly notify: readonly string[]
  readonly patienceMs: number
  /** 0: never. */
  readonly stallMs: number
}

/** A worker's order: begin a run, or resume one whose worker is gone. */
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

/** Undefined if it is not a plan. A caller that reads it from a file checks its seal. */
export const asRunPlan = (fields: JsonObject | undefined): RunPlan | undefined =>
  asSpaceId(textAt(fields, "space")) === undefined || objectAt(fields, "policy") === undefined
    ? undefined
    : // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written as a RunPlan by this same program
      (fields as unknown as RunPlan)

/** The plan for this harness. After a takeover it begins a new conversation. */
export const planFor = (
  plan: RunPlan,
  { harness, hasTakenOver }: { readonly harness: string; readonly hasTakenOver: boolean },
): RunPlan => {
  const other = plan.failover?.others.find((alternative) => alternative.harness === harness)
  const carried = other === undefined ? plan : { ...plan, ...other }
  return hasTakenOver ? { ...carried, session: { kind: "new" }, ownChat: undefined } : carried
}
