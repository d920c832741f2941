/**
 * Turns a request into a launch: which harness, which model, which agent and skills with their files, and the
 * harness's text. `start`, `run spawn` and `run continue` all go through here.
 */
import { Failure, namesSomething } from "@meridian/protocol"

import type { NamedThings } from "../domain/prompt-text.ts"
import { ECHO_MODEL } from "../domain/provider-preset.ts"
import type { PermissionTier } from "../domain/tier.ts"
import type { HarnessEntry } from "../harness/registry.ts"
import { isAcp, type Harness, type HarnessId, type NativeAgent } from "../port/harness.ts"
import type { LoadedConfig } from "../store/config-file.ts"
import { openPlace } from "../store/place.ts"
import { acpCommand } from "./acp-agent.ts"
import { resolveLaunch, type RecordedLaunch, type ResolvedLaunch } from "./agents-launch.ts"
import { composeLaunch } from "./agents-prompt.ts"
import { harnessEntry } from "./state.ts"
import type { World } from "./world.ts"

export interface PrepareRequest {
  readonly mode: "interactive" | "headless"
  /** The user's words: `-m`, `-a`, `-s`, `-f`, `--var`, `-p`, `--permission`. */
  readonly model?: string | undefined
  /** `--harness`. */
  readonly harness?: HarnessId | undefined
  readonly agent?: string | undefined
  readonly skills: readonly string[]
  readonly files: readonly string[]
  readonly variables: readonly string[]
  readonly prompt?: string | undefined
  readonly permission?: PermissionTier | undefined
  readonly parentTier?: PermissionTier | undefined
  /** `fs/` of the space, for `-f @name`. */
  readonly spaceFs?: string | undefined
  /** Where the names in the prompt are looked up. Absent: they are left to the harness. */
  readonly directory?: string | undefined
  /** For a continuation: the newest record of the conversation, used wherever the user wrote nothing. */
  readonly recorded?: RecordedLaunch | undefined
}

export interface Prepared {
  readonly entry: HarnessEntry
  readonly harness: Harness
  /** As recorded. "" if the harness chooses. */
  readonly model: string
  /** The harness's own name for the model. */
  readonly harnessModel?: string | undefined
  readonly agent?: { readonly name: string; readonly path: string } | undefined
  readonly nativeAgent?: NativeAgent | undefined
  readonly skills: readonly { readonly name: string; readonly path: string }[]
  /** Standing text: skills, and the agent's body if the harness knows no agents. */
  readonly instructions?: string | undefined
  /** A continuation whose agent or skills the user changed: the standing text must be sent again. */
  readonly instructionsChanged: boolean
  /** The message: references, report instruction and the user's words. */
  readonly prompt: string
  /** The user's words alone. */
  readonly task: string
  readonly permission?: PermissionTier | undefined
  readonly allowedTools?: readonly string[] | undefined
  readonly effort?: string | undefined
  /** Checks from the agent's profile. */
  readonly checks?: readonly string[] | undefined
}

export const prepare = async (
  request: PrepareRequest,
  { config, ceilings, acpAgents }: Pick<LoadedConfig, "config" | "ceilings" | "acpAgents">,
  world: World,
): Promise<Prepared> => {
  const place = openPlace(world.env, world.cwd)
  const { recorded } = request
  const launch = await resolveLaunch(
    { ...request, kind: request.mode === "headless" ? "run" : "primary", recorded },
    { place, config, ceilings, world },
  )
  const { model, harnessModel } = leavesModelToEngine(request, launch) ? await engineModel(world) : launch
  const entry = harnessEntry(world, launch.harness)
  if (entry === undefined) throw new Failure("HARNESS_UNKNOWN", { harness: launch.harness })
  if (isAcp(launch.harness)) acpCommand(launch.harness, { acpAgents }, world)
  const harness = await entry.load()
  const composed = composeLaunch(
    {
      prompt: request.prompt ?? "",
      files: request.files,
      variables: request.variables,
      cwd: world.cwd,
      spaceFs: request.spaceFs,
      wantsReport: request.mode === "headless",
    },
    launch,
    harness.capabilities,
  )
  const named = await namedIn(composed.task, { harness, launch, request, world })
  return {
    entry,
    harness,
    model,
    harnessModel,
    agent:
      launch.agent === undefined ? lostAgent(request) : { name: launch.agent.name, path: launch.agent.path },
    nativeAgent: composed.nativeAgent,
    skills: launch.skills.map(({ name, path }) => ({ name, path })),
    instructions: composed.instructions === "" ? undefined : composed.instructions,
    instructionsChanged: recorded !== undefined && (request.agent !== undefined || request.skills.length > 0),
    prompt: named === undefined ? composed.prompt : composed.withNames(named),
    task: composed.task,
    permission: launch.permission,
    allowedTools: launch.allowedTools,
    effort: launch.effort,
    checks: launch.checks,
  }
}

/**
 * Every harness but the engine gets what was found as text. The engine looks names up itself when it admits the prompt,
 * but sees a command only at the very start, where a run has other things.
 */
const namedIn = async (
  text: string,
  {
    harness,
    launch,
    request: { directory },
    world,
  }: {
    readonly harness: Harness
    readonly launch: ResolvedLaunch
    readonly request: PrepareRequest
    readonly world: World
  },
): Promise<NamedThings | undefined> => {
  const isOurs = harness.id === "direct"
  if (directory === undefined || !(isOurs ? text.startsWith("/") : namesSomething(text))) return undefined
  const { permission, agent } = launch
  const found = await world.lookUpNames?.({ text, directory, permission, agent: agent?.name })
  const named = found === undefined || !isOurs ? found : commandOf(found)
  for (const problem of named?.unreadable ?? []) world.warn("MENTION_UNREADABLE", { problem })
  return named
}

const commandOf = ({ words, unreadable }: NamedThings): NamedThings => ({
  words,
  attached: "",
  unreadable: unreadable.filter((problem) => problem.startsWith("/")),
})

const ECHO = `direct/${ECHO_MODEL}`

/**
 * A run of the engine that names no model, or one that continues after only the echo was usable. A chat is left
 * alone: `/model` changes its model without a record, and its session remembers.
 */
const leavesModelToEngine = ({ mode, model, recorded }: PrepareRequest, launch: ResolvedLaunch): boolean => {
  if (mode !== "headless" || launch.harness !== "direct") return false
  return recorded === undefined
    ? launch.model === ""
    : launch.model === ECHO && recorded.model === ECHO && (model ?? "") === ""
}

/** Resolved before the launch, so that the recorded model is the one used. */
const engineModel = async (world: World): Promise<Pick<ResolvedLaunch, "model" | "harnessModel">> => {
  const { resolveEngineModels } = await import("./engine-models.ts")
  const { defaultModel } = await resolveEngineModels(world)
  const model = `direct/${defaultModel}`
  // An echo that was not requested explains itself.
  return defaultModel === ECHO_MODEL ? { model } : { model, harnessModel: defaultModel }
}

/** A recorded agent whose file is gone stays on record. Once the file is back, the conversation has its agent again. */
const lostAgent = ({ agent, recorded }: PrepareRequest): Prepared["agent"] =>
  (agent ?? "") === "" && recorded?.agent !== undefined && recorded.agent !== ""
    ? { name: recorded.agent, path: recorded.agentPath ?? "" }
    : undefined
