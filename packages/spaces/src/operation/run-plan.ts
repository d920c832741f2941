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
    "mode" | "cwd" | "environment" | "session" | "prompt" | "scratch" | "continuity" | "rest"
  >
  /** The chat it is spawned from. */
  readonly chat?: ChatId | undefined
  /** The chat whose conversation it goes on with. */
  readonly ownChat?: ChatId | undefined
  readonly parent?: RunId | undefined
  readonly continuedFrom?: RunId | undefined
  /** Conversations about the same task that are not gone on with: whoever begins a new one is told of them. */
  readonly earlier?: readonly HeldSession[] | undefined
  /** All harnesses that may carry it out, in their order, and how the others would. Absent: only its own. */
  readonly failover?: Failover | undefined
  readonly depth: number
  readonly timeoutSecs?: number | undefined
  readonly background: boolean
  /** How it is kept apart; decided when it begins. */
  readonly isolation?: Isolation | undefined
  /** Once that is decided, or of the run it goes on with. */
  readonly worktree?: RunWorktree | undefined
  /** Of those that were spawned together at one task. */
  readonly contest?: string | undefined
  /** What proves its work. Absent: nothing does. */
  readonly checks?: ChecksPlan | undefined
  /** It works in a sandbox. */
  readonly sandbox?: SandboxUse | undefined
  /** What is said of that. */
  readonly sandboxRecord?: SandboxRecord | undefined
  /** What it may use up. Absent: as much as it takes. */
  readonly caps?: RunCaps | undefined
  /** The firing of a schedule that asked for it (`firingName`): at most one run has it. */
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
  /** A longer limit is not waited for. */
  readonly afterMs: number
}

/** What differs when another harness carries out the run. */
export type Alternative = Pick<RunPlan, "harness" | "model" | "agent" | "prompt" | "launch">

export interface Isolation {
  /** `auto`: when another run writes into the same checkout. */
  readonly wish: "always" | "auto"
  readonly withChanges: boolean
  /** A command line of the user's that makes a fresh worktree ready. */
  readonly setup?: string | undefined
  /** Variables that look like credentials and that the setup may see all the same. */
  readonly keepVariables: readonly string[]
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

/** The plan as this harness carries it out. One that took over begins a conversation of its own. */
export const planFor = (
  plan: RunPlan,
  { harness, hasTakenOver }: { readonly harness: string; readonly hasTakenOver: boolean },
): RunPlan => {
  const other = plan.failover?.others.find((alternative) => alternative.harness === harness)
  const carried = other === undefined ? plan : { ...plan, ...other }
  return hasTakenOver ? { ...carried, session: { kind: "new" }, ownChat: undefined } : carried
}
