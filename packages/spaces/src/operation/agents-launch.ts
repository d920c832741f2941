/**
 * Everything a launch must know before it asks a harness: model and harness, agent, skills and rights. It only reads.
 * `start`, `run spawn`, `run continue` and every dry run share it.
 *
 * In order of precedence: an explicit flag, the record of a continued chat, the agent's profile, the configuration.
 * The harness always follows the winning model. Rights have separate rules: `domain/rights.ts`.
 */
import { isInside } from "@meridian/continuity/files"
import { Failure, nearest } from "@meridian/protocol"

import type { AgentProfile } from "../domain/agent-profile.ts"
import { toolsWithin } from "../domain/allowed-tools.ts"
import type { Ceilings } from "../domain/config-claims.ts"
import type { Config } from "../domain/config-option.ts"
import type { Model } from "../domain/model-catalogue.ts"
import { routeModel, type Route } from "../domain/model-route.ts"
import { decideRights } from "../domain/rights.ts"
import type { Skill } from "../domain/skill-file.ts"
import type { PermissionTier } from "../domain/tier.ts"
import { isCovered } from "../domain/trust.ts"
import { HARNESS_IDS, isAcp, type HarnessId } from "../port/harness.ts"
import { loadCatalogue } from "../store/catalogue.ts"
import type { StatePlace } from "../store/place.ts"
import { readAgentFile, readSkillFile, type ProfilePath } from "../store/profile-file.ts"
import { findAgent, listAgents, listSkills, recordedPath, type ProfileRequest } from "../store/profiles.ts"
import { agentClaim } from "./folder-claims.ts"
import { trustOf } from "./folder-trust.ts"
import type { World } from "./world.ts"

export interface LaunchWish {
  /** `-m`. */
  readonly model?: string | undefined
  /** `--harness`: takes precedence over the harness that the model's name implies. */
  readonly harness?: HarnessId | undefined
  /** `-a`. */
  readonly agent?: string | undefined
  /** `-s`. */
  readonly skills: readonly string[]
  /** `--permission`. */
  readonly permission?: PermissionTier | undefined
  /** The tier of the run or chat that starts this one. */
  readonly parentTier?: PermissionTier | undefined
  /** `run` uses `defaults.agent` and the read-only tier, `primary` (start) uses `defaults.primary_agent`. */
  readonly kind: "run" | "primary"
  /** The record of the continued chat: used unless a flag overrides it, and read from the recorded paths. */
  readonly recorded?: RecordedLaunch | undefined
}

export interface RecordedLaunch {
  /** Its name in messages: `Chat c1`. */
  readonly name: string
  readonly harness: string
  readonly model: string
  readonly agent?: string | undefined
  readonly agentPath?: string | undefined
  readonly skills: readonly string[]
  readonly skillPaths: readonly string[]
  readonly permission?: PermissionTier | undefined
}

export interface ResolvedLaunch {
  readonly harness: HarnessId
  /** As recorded: the id, with aliases resolved. "" if the harness chooses. */
  readonly model: string
  /** For `LaunchRequest.model` and `.effort`. */
  readonly harnessModel?: string
  readonly effort?: string
  readonly agent?: AgentProfile
  readonly skills: readonly Skill[]
  /** Undefined only for `primary`: the harness asks as it always does. */
  readonly permission?: PermissionTier
  /** The profile's list, limited to what the tier allows. It replaces the tools the tier would allow. */
  readonly allowedTools?: readonly string[]
  /** The profile's checks, if they count. */
  readonly checks?: readonly string[]
}

export interface LaunchScene {
  readonly place: StatePlace
  readonly config: Config
  readonly ceilings: Ceilings
  readonly world: Pick<World, "env" | "warn">
}

export const resolveLaunch = async (wish: LaunchWish, scene: LaunchScene): Promise<ResolvedLaunch> => {
  const profiles = profileRequest(scene)
  const agent = await resolveAgent(wish, profiles, scene)
  const skills = await resolveSkills(wish, agent, profiles, scene)
  const route = await resolveRoute(wish, agent, scene)
  if (route.harness === "direct" && agent !== undefined && agent.servers.length > 0)
    scene.world.warn("PROFILE_SERVERS_UNUSED", { agent: agent.name, servers: agent.servers.join(", ") })
  const permission = resolveTier(wish, agent, scene)
  const allowedTools = resolveTools(wish, agent, { permission, scene })
  const checks = resolveChecks(agent, scene)
  const effort = agent?.effort ?? route.effort
  requireNoFlag("model", route.harnessModel ?? route.model)
  requireNoFlag("effort", effort)
  return {
    harness: route.harness,
    model: route.model,
    skills,
    ...(route.harnessModel === undefined ? {} : { harnessModel: route.harnessModel }),
    ...(effort === undefined ? {} : { effort }),
    ...(agent === undefined ? {} : { agent }),
    ...(permission === undefined ? {} : { permission }),
    ...(allowedTools === undefined ? {} : { allowedTools }),
    ...(checks === undefined ? {} : { checks }),
  }
}

/** Checks are programs, so a folder's count only if the user trusts it with exactly this profile. */
const resolveChecks = (
  agent: AgentProfile | undefined,
  scene: LaunchScene,
): readonly string[] | undefined => {
  if (agent?.checks === undefined || isOwnProfile(agent, scene)) return agent?.checks
  const { place, world } = scene
  const claim = agentClaim(agent, place.project)
  if (claim === undefined || isCovered(claim, trustOf(place, world.env))) return agent.checks
  world.warn("CHECKS_UNTRUSTED", { agent: agent.name, checks: agent.checks.join(", ") })
  return undefined
}

const resolveTier = (
  wish: LaunchWish,
  agent: AgentProfile | undefined,
  scene: LaunchScene,
): PermissionTier | undefined => {
  const { config, ceilings } = scene
  const ceiling = wish.kind === "run" ? ceilings.run : ceilings.primary
  const { tier, denied } = decideRights(
    {
      flag: wish.permission,
      recorded: wish.recorded?.permission,
      agent:
        agent?.permission === undefined
          ? undefined
          : { tier: agent.permission, isOwn: isOwnProfile(agent, scene) },
      configured: config[wish.kind === "run" ? "permissions.default_tier" : "primary.permission_tier"],
    },
    { ceiling, parent: wish.parentTier },
  )
  if (denied !== undefined) {
    const { by, wished, because } = denied
    const who = {
      flag: "--permission",
      record: wish.recorded?.name ?? "The record",
      agent: `Agent '${agent?.name ?? ""}' (${agent?.path ?? ""})`,
      configuration: "permissions.default_tier",
    }[by]
    scene.world.warn("TIER_CAPPED", {
      who,
      wished,
      got: tier ?? "what you answer when the harness asks",
      ...(because === "parent" ? PARENT_ADVICE : ceilingAdvice(wished)),
    })
  }
  return tier
}

const PARENT_ADVICE = {
  why: "nothing gets more rights than what it was started from",
  next: "start it yourself, or from a run that may do as much.",
}

const ceilingAdvice = (wished: PermissionTier) => ({
  why: "files of a folder only lower what you gave",
  next:
    wished === "danger"
      ? "give --permission danger if you mean it."
      : `give --permission ${wished}, or run 'meridian trust --tier ${wished}'.`,
})

/** The user's own profiles are in the user's home. Profiles inside the project belong to the project. */
const isOwnProfile = ({ path }: AgentProfile, { place, world }: LaunchScene): boolean => {
  const home = world.env["HOME"] ?? ""
  return (
    home !== "" && isInside(home, path) && ![place.project, place.root].some((root) => isInside(root, path))
  )
}

/** Requested rights take precedence over the profile's own list. */
const resolveTools = (
  wish: LaunchWish,
  agent: AgentProfile | undefined,
  { permission, scene }: { readonly permission: PermissionTier | undefined; readonly scene: LaunchScene },
): readonly string[] | undefined => {
  if (wish.permission !== undefined || agent?.allowedTools === undefined) return undefined
  return isOwnProfile(agent, scene) ? agent.allowedTools : toolsWithin(agent.allowedTools, permission)
}

export const profileRequest = (scene: Omit<LaunchScene, "ceilings">): ProfileRequest => ({
  project: scene.place.project,
  root: scene.place.root,
  home: scene.world.env["HOME"],
  config: scene.config,
})

/** An explicit agent must exist. A recorded one is read from its recorded path. A configured one is used if it exists. */
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
    const again = await readRecorded(recorded.agentPath, profiles, readAgentFile)
    const agent = again ?? (await findAgent(profiles, recorded.agent))
    if (agent === undefined)
      scene.world.warn("AGENT_GONE", {
        agent: recorded.agent,
        ...(recorded.agentPath === undefined ? {} : { path: recorded.agentPath }),
      })
    return agent
  }
  const configured = wish.kind === "run" ? "defaults.agent" : "defaults.primary_agent"
  return findAgent(profiles, scene.config[configured])
}

/**
 * Requested skills must exist. Skills that a profile names are skipped with a warning. Requested ones come first,
 * then the profile's.
 */
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
    (inherited?.skillPaths ?? []).map((path) => readRecorded(path, profiles, readSkillFile)),
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
  const { models, warnings } = await loadCatalogue(scene.place.root, scene.world.env)
  for (const { code, facts } of warnings) scene.world.warn(code, facts)
  const explicitAgent = wish.agent === undefined ? undefined : agent?.model
  const name =
    filled(wish.model) ??
    explicitAgent ??
    filled(wish.recorded?.model) ??
    agent?.model ??
    filled(scene.config["defaults.model"])
  const asked = askedHarness(wish, models, name)
  if (asked !== undefined) return asked
  if (name !== undefined) {
    requireName(name)
    const route = routeModel(models, name)
    if (route.tag === "unknown") throw unknownModel(route)
    const recordedHarness = wish.recorded?.model === name ? harnessOf(wish.recorded.harness) : undefined
    if (!route.listed && !name.includes("/"))
      scene.world.warn("MODEL_NOT_LISTED", { model: name, harness: route.harness })
    return { ...route, harness: recordedHarness ?? route.harness }
  }
  // No model was requested: the harness uses the one its user configured there.
  return { harness: harnessOf(wish.recorded?.harness ?? "") ?? scene.config["harness.default"], model: "" }
}

/**
 * `--harness`: a model requested with it is that harness's own name for one, unless the catalogue knows better. A
 * model from the profile or the configuration counts only if it belongs to the harness.
 */
const askedHarness = (
  { harness, model: asked }: LaunchWish,
  models: readonly Model[],
  name: string | undefined,
): Chosen | undefined => {
  if (harness === undefined) return undefined
  if (name !== undefined) requireName(name)
  const route = name === undefined ? undefined : routeModel(models, name)
  if (route?.tag === "routed" && route.harness === harness) return route
  if (filled(asked) !== undefined) {
    const known = route?.tag === "routed" && route.listed ? route : undefined
    const explicit = known?.model ?? filled(asked) ?? ""
    return {
      harness,
      // A name that implies its harness, so that a continuation finds it again.
      model: harness === "direct" ? `direct/${explicit}` : explicit,
      harnessModel: explicit,
      ...(known?.effort === undefined ? {} : { effort: known.effort }),
    }
  }
  return { harness, model: "" }
}

const requireNoFlag = (what: string, name: string | undefined): void => {
  if (name?.startsWith("-") === true) throw new Failure("NAME_LIKE_FLAG", { what, name })
}

/** `direct/` alone names the harness but no model. */
const requireName = (name: string): void => {
  if (name === "direct/")
    throw new Failure("USAGE", {
      problem: "direct/ names no model",
      next: "write direct/PROVIDER/MODEL, or --harness direct without a model; 'meridian models list' shows them.",
    })
}

export const unknownModel = (route: Extract<Route, { readonly tag: "unknown" }>): Failure =>
  new Failure("MODEL_UNKNOWN", {
    model: route.model,
    ...(route.suggestion === undefined ? {} : { suggestion: route.suggestion }),
  })

const harnessOf = (text: string): HarnessId | undefined =>
  isAcp(text) ? text : HARNESS_IDS.find((id) => id === text)

const filled = (text: string | undefined): string | undefined => (text === "" ? undefined : text)

/** A record is part of the folder, so it must not make us read a file anywhere else. */
const readRecorded = <T>(
  path: string | undefined,
  profiles: ProfileRequest,
  read: (place: ProfilePath) => Promise<T | undefined>,
): Promise<T | undefined> => {
  const place = path === undefined ? undefined : recordedPath(path, profiles)
  return place === undefined ? Promise.resolve(undefined) : read(place)
}
