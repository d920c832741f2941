/**
 * The part that `run spawn` and `run continue` share before the launch: decide everything, check everything, write
 * nothing.
 */
import { resolve } from "node:path"

import {
  Failure,
  type ChatId,
  type HarnessSessionId,
  type JsonObject,
  type RunId,
  type SpaceId,
} from "@meridian/protocol"

import type { ChecksPlan } from "../domain/check.ts"
import type { Config } from "../domain/config-option.ts"
import { parseSeconds } from "../domain/duration.ts"
import { asChatId } from "../domain/identifier.ts"
import { LIMIT } from "../domain/limit.ts"
import { wholePrompt } from "../domain/prompt-text.ts"
import type { RunCaps } from "../domain/run-caps.ts"
import { readFiringName } from "../domain/schedule.ts"
import { declaredTask } from "../domain/task.ts"
import type { RunWorktree } from "../domain/worktree.ts"
import type { Harness, LaunchPlan } from "../port/harness.ts"
import { missingBinary, requireLaunchable } from "./find-binary.ts"
import { launchParts } from "./launch-parts.ts"
import type { SandboxChoice } from "./open-sandbox.ts"
import { depthHere, parentRun } from "./parent.ts"
import type { Prepared } from "./prepare.ts"
import { withSchema } from "./read-schema.ts"
import { sparse } from "./run-document.ts"
import type { Failover, HeldSession, Isolation, RunPlan } from "./run-plan.ts"
import type { SpawnDocument } from "./run-schema.ts"
import type { State } from "./state.ts"
import type { World } from "./world.ts"

export interface SpawnRequest {
  readonly prepared: Prepared
  /** The JSON Schema of the answer. */
  readonly schema?: JsonObject | undefined
  readonly config: Config
  /** Undefined: it is created once everything is checked. */
  readonly space: SpaceId | undefined
  readonly cwd: string
  readonly session:
    | { readonly kind: "new" }
    | { readonly kind: "continue" | "fork"; readonly id: HarnessSessionId }
  readonly ownChat?: ChatId | undefined
  readonly continuedFrom?: RunId | undefined
  /** `--task`: declared beside the prompt. */
  readonly task?: string | undefined
  readonly firstTask?: string | undefined
  readonly earlier?: readonly HeldSession[] | undefined
  readonly failover?: Failover | undefined
  readonly timeoutSecs?: number | undefined
  readonly caps?: RunCaps | undefined
  /** `--ask`. */
  readonly asks?: boolean
  readonly isolation?: Isolation | undefined
  readonly worktree?: RunWorktree | undefined
  readonly checks?: ChecksPlan | undefined
  readonly sandbox?: SandboxChoice | undefined
  readonly background: boolean
  readonly firing?: string | undefined
  readonly params: readonly string[]
}

export interface CheckedRun {
  readonly harness: Harness
  readonly preview: LaunchPlan
  /** The plan once the space is known. */
  readonly plan: (space: SpaceId) => RunPlan
}

/** Throws for everything that can be known before the launch. Writes nothing. */
export const checkRun = async (request: SpawnRequest, state: State, world: World): Promise<CheckedRun> => {
  const { prepared, config } = request
  const bytes = Buffer.byteLength(prepared.prompt)
  if (bytes > LIMIT.promptBytes) throw new Failure("PROMPT_TOO_LARGE", { bytes, limit: LIMIT.promptBytes })
  const { harness } = prepared
  harness.checkParams?.(request.params)
  const depth = depthHere(request.space, state, world)
  const asks = request.asks === true
  if (asks && harness.id !== "direct") world.warn("ASK_UNSUPPORTED", { harness: harness.name })
  const parts = { ...launchParts(prepared, config, request.params), ...(asks ? { asks } : {}) }
  const { launch } = withSchema({ launch: parts }, request.schema)
  const preview = harness.launch({
    ...launch,
    mode: "headless",
    cwd: request.cwd,
    environment: world.env,
    session: request.session,
    prompt: prepared.prompt,
    scratch: resolve(state.place.root, "scratch"),
  })
  requireStartable(request, preview, world)
  for (const { code, facts } of preview.warnings) world.warn(code, facts)
  return {
    harness,
    preview,
    plan: (space) => ({
      space,
      harness: harness.id,
      model: prepared.model,
      agent: prepared.agent,
      skills: prepared.skills,
      prompt: prepared.prompt,
      task: declaredTask(request.task) ?? prepared.task,
      firstTask: request.firstTask,
      cwd: request.cwd,
      session: request.session,
      launch,
      chat: chatHere(space, world),
      ownChat: request.ownChat,
      parent: parentRun(world),
      continuedFrom: request.continuedFrom,
      earlier: request.earlier,
      failover: request.failover,
      depth,
      timeoutSecs: request.timeoutSecs,
      caps: request.caps,
      background: request.background,
      firing: requireFiring(request.firing),
      isolation: request.isolation,
      worktree: request.worktree,
      checks: request.checks === undefined ? undefined : { ...request.checks, sandbox: request.sandbox?.use },
      sandbox: request.sandbox?.use,
      sandboxRecord: request.sandbox?.record,
      policy: {
        maxParallel: config["runs.max_parallel"],
        maxRetries: config["defaults.max_retries"],
        backoffMs: config["defaults.retry_backoff_seconds"] * 1000,
        killGraceMs: config["timeouts.kill_grace_seconds"] * 1000,
        notify: config["notify.command"],
        patienceMs: (parseSeconds(config["runs.patience"]) ?? 0) * 1000,
        stallMs: config["runs.stall_minutes"] * 60_000,
      },
    }),
  }
}

const requireFiring = (name: string | undefined): string | undefined => {
  if (name !== undefined && readFiringName(name) === undefined)
    throw new Failure("USAGE", {
      problem: `'${name}' names no firing of a schedule.`,
      next: "leave --firing out: schedules set it.",
    })
  return name
}

/** Refuses a missing harness, unless another may take over. No harness can work in a missing directory. */
const requireStartable = (
  { prepared, cwd, failover }: SpawnRequest,
  preview: LaunchPlan,
  world: World,
): void => {
  try {
    requireLaunchable({
      harness: prepared.harness.name,
      command: preview.command,
      cwd,
      env: { ...world.env, ...preview.environment },
    })
  } catch (error) {
    const isGone = error instanceof Failure && error.code === "HARNESS_NOT_INSTALLED"
    if (!isGone || failover === undefined) throw error
    world.warn("FAILOVER_UNUSABLE", { harness: prepared.harness.name, why: missingBinary(preview.command) })
  }
}

/** Refuses runs nested too deeply. A dry run skips this. */
export const requireDepth = (
  space: SpaceId | undefined,
  { state, world, config }: { readonly state: State; readonly world: World; readonly config: Config },
): void => {
  const limit = config["defaults.max_depth"]
  if (depthHere(space, state, world) >= limit) throw new Failure("MAX_DEPTH", { limit })
}

export const dryRun = (checked: CheckedRun, prepared: Prepared): SpawnDocument =>
  sparse({
    status: "dry-run" as const,
    model: prepared.model,
    harness: checked.harness.id,
    agent: prepared.agent?.name,
    skills: prepared.skills.length === 0 ? undefined : prepared.skills.map((skill) => skill.name),
    cwd: checked.preview.cwd,
    cli_command: [checked.preview.command, ...checked.preview.args],
    composed_prompt: wholePrompt({ instructions: prepared.instructions ?? "", prompt: prepared.prompt }),
  })

/** The chat this process runs in, if it belongs to that space. */
export const chatHere = (space: SpaceId, world: Pick<World, "env">): ChatId | undefined =>
  world.env["MERIDIAN_SPACE_ID"] === space
    ? (asChatId(world.env["MERIDIAN_CHAT_ID"]) ?? asChatId(world.env["MERIDIAN_SESSION_ID"]))
    : undefined
