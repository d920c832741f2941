/**
 * Everything a launch needs to know before a harness is asked: model and harness, agent, skills, rights and the composed
 * prompt. Reads only; `start`, `run spawn`, `run continue` and every dry run share it.
 *
 * Who decides: an explicit flag, then what a continued chat recorded, then the agent's profile, then the configuration. The
 * harness always follows the model that won.
 */
import { readFile, stat } from "node:fs/promises"
import { isAbsolute, join, resolve } from "node:path"

import { Failure } from "@meridian/protocol"

import type { AgentProfile } from "../domain/agent-profile.ts"
import type { Config } from "../domain/config-option.ts"
import { defaultModel, routeModel, type Route } from "../domain/model-route.ts"
import { nearest } from "../domain/nearest.ts"
import { composePrompt, readVariable, type ComposedPrompt } from "../domain/prompt-text.ts"
import type { Skill } from "../domain/skill-file.ts"
import type { HarnessCapabilities, HarnessId, NativeAgent, PermissionTier } from "../port/harness.ts"
import { loadCatalogue } from "../store/catalogue.ts"
import type { Place } from "../store/place.ts"
import {
  findAgent,
  listAgents,
  listSkills,
  readAgentFile,
  readSkillFile,
  type ProfileRequest,
} from "../store/profiles.ts"
import type { World } from "./world.ts"

export interface LaunchWish {
  /** `-m`. */
  readonly model?: string | undefined
  /** `-a`. */
  readonly agent?: string | undefined
  /** `-s`. */
  readonly skills: readonly string[]
  /** `--permission`. */
  readonly permission?: PermissionTier | undefined
  /** `run` uses `defaults.agent` and the read-only tier, `primary` (start) uses `defaults.primary_agent`. */
  readonly kind: "run" | "primary"
  /** What the continued chat recorded: used unless a flag says otherwise, and read from the recorded paths. */
  readonly recorded?: RecordedLaunch | undefined
}

export interface RecordedLaunch {
  readonly harness: string
  readonly model: string
  readonly agent?: string | undefined
  readonly agentPath?: string | undefined
  readonly skills: readonly string[]
  readonly skillPaths: readonly string[]
}

export interface ResolvedLaunch {
  readonly harness: HarnessId
  /** As recorded: the id, aliases resolved. "" when the harness chooses. */
  readonly model: string
  /** For `LaunchRequest.model` and `.effort`. */
  readonly harnessModel?: string
  readonly effort?: string
  readonly agent?: AgentProfile
  readonly skills: readonly Skill[]
  /** Undefined only for `primary`: the harness asks as it always does. */
  readonly permission?: PermissionTier
}

export interface LaunchScene {
  readonly place: Place
  readonly config: Config
  readonly world: Pick<World, "env" | "warn">
}

export const resolveLaunch = async (wish: LaunchWish, scene: LaunchScene): Promise<ResolvedLaunch> => {
  const profiles = profileRequest(scene)
  const agent = await resolveAgent(wish, profiles, scene)
  const skills = await resolveSkills(wish, agent, profiles, scene)
  const route = await resolveRoute(wish, agent, scene)
  const tier = wish.kind === "run" ? "permissions.default_tier" : "primary.permission_tier"
  const permission = wish.permission ?? agent?.permission ?? scene.config[tier]
  const effort = agent?.effort ?? route.effort
  return {
    harness: route.harness,
    model: route.model,
    skills,
    ...(route.harnessModel === undefined ? {} : { harnessModel: route.harnessModel }),
    ...(effort === undefined ? {} : { effort }),
    ...(agent === undefined ? {} : { agent }),
    ...(permission === undefined ? {} : { permission }),
  }
}

export interface PromptWish {
  readonly prompt: string
  /** `-f`: paths relative to `cwd`, or `@name` inside the space's `fs`. */
  readonly files: readonly string[]
  /** `--var`: KEY=VALUE or KEY=@path. */
  readonly variables: readonly string[]
  readonly cwd: string
  /** Undefined while there is no space (a dry run without one): `@name` is then refused. */
  readonly spaceFs: string | undefined
  readonly wantsReport: boolean
}

export interface LaunchPrompt extends ComposedPrompt {
  /** For `LaunchRequest.agent`; the profile is not in `instructions` then. */
  readonly nativeAgent?: NativeAgent
  /** Absolute paths of the references. */
  readonly files: readonly string[]
  readonly variables: ReadonlyMap<string, string>
}

export const composeLaunch = async (
  wish: PromptWish,
  launch: Pick<ResolvedLaunch, "agent" | "skills">,
  capabilities: Pick<HarnessCapabilities, "nativeAgent">,
): Promise<LaunchPrompt> => {
  const references = await Promise.all(wish.files.map((file) => readReference(referencePath(file, wish))))
  const variables = new Map(
    await Promise.all(wish.variables.map((assignment) => resolveVariable(assignment, wish.cwd))),
  )
  const native = capabilities.nativeAgent && launch.agent !== undefined
  const composed = composePrompt({
    skills: launch.skills,
    agentBody: native ? undefined : launch.agent?.body,
    references,
    variables,
    prompt: wish.prompt,
    wantsReport: wish.wantsReport,
  })
  if (composed.undefinedVariables.length > 0)
    throw new Failure("VARIABLE_UNDEFINED", { names: composed.undefinedVariables.join(", ") })
  const files = references.map(({ path }) => path)
  return native && launch.agent !== undefined
    ? { ...composed, files, variables, nativeAgent: nativeAgentOf(launch.agent) }
    : { ...composed, files, variables }
}

export const profileRequest = (scene: LaunchScene): ProfileRequest => ({
  project: scene.place.project,
  root: scene.place.root,
  home: scene.world.env["HOME"],
  config: scene.config,
})

const nativeAgentOf = (agent: AgentProfile): NativeAgent => ({
  name: agent.name,
  description: agent.description === "" ? agent.name : agent.description,
  body: agent.body,
  ...(agent.allowedTools === undefined ? {} : { tools: agent.allowedTools }),
})

/** An explicit agent must exist; the recorded one is read from where it was; the configured one is used if it is there. */
const resolveAgent = async (
  wish: LaunchWish,
  profiles: ProfileRequest,
  scene: LaunchScene,
): Promise<AgentProfile | undefined> => {
  if (wish.agent !== undefined && wish.agent !== "") {
    const found = await findAgent(profiles, wish.agent)
    if (found !== undefined) return found
    const { found: others } = await listAgents(profiles)
    const suggestion = nearest(
      wish.agent,
      others.map(({ name }) => name),
    )
    throw new Failure("AGENT_NOT_FOUND", {
      agent: wish.agent,
      ...(suggestion === undefined ? {} : { suggestion }),
    })
  }
  const { recorded } = wish
  if (recorded !== undefined) {
    if (recorded.agent === undefined || recorded.agent === "") return undefined
    const again =
      recorded.agentPath === undefined ? undefined : await readIfThere(recorded.agentPath, readAgentFile)
    return again ?? (await findAgent(profiles, recorded.agent))
  }
  const configured = wish.kind === "run" ? "defaults.agent" : "defaults.primary_agent"
  return findAgent(profiles, scene.config[configured])
}

/** Skills asked for must exist; those a profile names are skipped with a warning. Asked first, then the profile's. */
const resolveSkills = async (
  wish: LaunchWish,
  agent: AgentProfile | undefined,
  profiles: ProfileRequest,
  scene: LaunchScene,
): Promise<readonly Skill[]> => {
  const inherited = wish.skills.length === 0 && wish.agent === undefined ? wish.recorded : undefined
  const asked = inherited === undefined ? wish.skills : inherited.skills
  const named = inherited === undefined ? (agent?.skills ?? []) : []
  const wanted = [...new Set([...asked, ...named])]
  if (wanted.length === 0) return []
  const recordedSkills = await Promise.all(
    (inherited?.skillPaths ?? []).map((path) => readIfThere(path, readSkillFile)),
  )
  const byName = new Map<string, Skill>()
  const { found, warnings } = await listSkills(profiles)
  for (const skill of [...recordedSkills, ...found])
    if (skill !== undefined && !byName.has(skill.name)) byName.set(skill.name, skill)
  const missing = wanted.filter((name) => !byName.has(name))
  const refused = inherited === undefined ? missing.filter((name) => asked.includes(name)) : []
  if (refused.length > 0) {
    const suggestion = nearest(refused[0] ?? "", byName.keys())
    throw new Failure("SKILL_NOT_FOUND", {
      skills: refused.join(", "),
      ...(suggestion === undefined ? {} : { suggestion }),
    })
  }
  if (missing.length > 0) {
    for (const { code, facts } of warnings) scene.world.warn(code, facts)
    scene.world.warn("SKILLS_SKIPPED", {
      agent: agent?.name ?? wish.recorded?.agent ?? "",
      skills: missing.join(", "),
    })
  }
  return wanted.flatMap((name) => byName.get(name) ?? [])
}

interface Chosen {
  readonly harness: HarnessId
  readonly model: string
  readonly harnessModel?: string
  readonly effort?: string
}

const resolveRoute = async (
  wish: LaunchWish,
  agent: AgentProfile | undefined,
  scene: LaunchScene,
): Promise<Chosen> => {
  const { models, warnings } = await loadCatalogue(scene.place.root)
  for (const { code, facts } of warnings) scene.world.warn(code, facts)
  const explicitAgent = wish.agent === undefined ? undefined : agent?.model
  const name =
    filled(wish.model) ??
    explicitAgent ??
    filled(wish.recorded?.model) ??
    agent?.model ??
    filled(scene.config["defaults.model"])
  if (name !== undefined) {
    const route = routeModel(models, name)
    if (route.tag === "unknown") throw unknownModel(route)
    const recordedHarness = wish.recorded?.model === name ? harnessOf(wish.recorded.harness) : undefined
    if (!route.listed && !name.includes("/"))
      scene.world.warn("MODEL_NOT_LISTED", { model: name, harness: route.harness })
    return { ...route, harness: recordedHarness ?? route.harness }
  }
  const harness = harnessOf(wish.recorded?.harness ?? "") ?? scene.config["harness.default"]
  const model = wish.recorded === undefined ? defaultModel(models, harness) : undefined
  if (model === undefined) return { harness, model: "" }
  const route = routeModel(models, model.id)
  return route.tag === "unknown" ? { harness, model: "" } : route
}

export const unknownModel = (route: Extract<Route, { readonly tag: "unknown" }>): Failure =>
  new Failure("MODEL_UNKNOWN", {
    model: route.model,
    ...(route.suggestion === undefined ? {} : { suggestion: route.suggestion }),
  })

const harnessOf = (text: string): HarnessId | undefined =>
  (["claude", "codex", "opencode", "direct"] as const).find((id) => id === text)

const filled = (text: string | undefined): string | undefined => (text === "" ? undefined : text)

const LARGEST_REFERENCE_BYTES = 4_194_304

const referencePath = (file: string, wish: PromptWish): string => {
  if (!file.startsWith("@")) return resolve(wish.cwd, file)
  const name = file.slice(1)
  if (name === "")
    throw new Failure("USAGE", {
      problem: "Reference path after '@' must not be empty.",
      next: "use '-f @name' for a file in the space's fs folder.",
    })
  if (wish.spaceFs === undefined) throw new Failure("SPACE_REQUIRED")
  const path = join(wish.spaceFs, name)
  if (isAbsolute(name) || !path.startsWith(`${wish.spaceFs}/`))
    throw new Failure("REFERENCE_UNREADABLE", { path: file, problem: "it is outside the space's fs folder" })
  return path
}

const readReference = async (path: string): Promise<{ readonly path: string; readonly content: string }> => {
  const info = await stat(path).catch(() => undefined)
  if (info === undefined) throw new Failure("REFERENCE_NOT_FOUND", { path })
  const refuse = (problem: string): Failure => new Failure("REFERENCE_UNREADABLE", { path, problem })
  if (!info.isFile()) throw refuse("it is not a file")
  if (info.size > LARGEST_REFERENCE_BYTES) throw refuse("it is larger than 4 MiB")
  const content = await readFile(path, "utf8").catch((error: unknown) => {
    throw refuse(error instanceof Error ? error.message : String(error))
  })
  if (content.includes("\0")) throw refuse("it is not a text file")
  return { path, content }
}

const resolveVariable = async (assignment: string, cwd: string): Promise<readonly [string, string]> => {
  const read = readVariable(assignment)
  switch (read.tag) {
    case "wrong":
      throw new Failure("VARIABLE_INVALID", { assignment })
    case "text":
      return [read.name, read.value]
    case "file": {
      const path = resolve(cwd, read.path)
      const info = await stat(path).catch(() => undefined)
      if (info?.isFile() !== true) throw new Failure("VARIABLE_FILE_MISSING", { name: read.name, path })
      return [read.name, (await readReference(path)).content.trimEnd()]
    }
  }
}

const readIfThere = async <T>(path: string, read: (path: string) => Promise<T>): Promise<T | undefined> => {
  try {
    return await read(path)
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined
    throw error
  }
}
