/** What rules may ask about, gathered only where the current rules do ask. */
import {
  promptPaths,
  readBranch,
  readProjects,
  touchPaths,
  withNearPaths,
  type Place,
  type Rule,
  type Situation,
} from "@meridian/continuity"

import type { ModelName } from "./history.ts"
import type { Host } from "./host.ts"
import type { Log } from "./log.ts"
import type { Session } from "./session.ts"
import type { HookTime, World } from "./world.ts"

const TOOLS_AGE_MS = 30_000

export interface Surroundings {
  readonly of: (
    session: Session,
    rules: readonly Rule[],
    time: HookTime,
    model: ModelName | undefined,
  ) => Promise<Situation>
}

export const openSurroundings = (place: Place, host: Host, log: Log, world: World): Surroundings => {
  let tools: readonly string[] = []
  let toolsUntil = Number.NEGATIVE_INFINITY
  const toolIds = async (): Promise<readonly string[]> => {
    if (world.clock() < toolsUntil) return tools
    const answer = await host.toolIds()
    // An empty answer came too late or not at all. Ask again at the next request.
    if (answer.length === 0) {
      log.warnOnce("meridian: the host did not list its tools; rules about tools use the last list")
      return tools
    }
    tools = answer
    toolsUntil = world.clock() + TOOLS_AGE_MS
    return tools
  }
  return {
    of: async (session, rules, time, latestModel) => {
      const asks = (name: "tools" | "branch" | "project"): boolean =>
        rules.some(({ activation }) => activation.kind === "when" && name in activation.conditions)
      const model = latestModel ?? session.model
      return {
        paths: withNearPaths(pathsOf(session, place), place),
        prompt: session.prompt,
        tools: asks("tools") ? await toolIds() : [],
        models: model === undefined ? [] : [model.modelID, `${model.providerID}/${model.modelID}`],
        agent: session.agent,
        command: session.command,
        projects: asks("project") ? readProjects(place.root, time.leftMs()) : [],
        branch: asks("branch") ? readBranch(place.root, time.leftMs()) : undefined,
        os: world.platform,
        ci: isCi(world.environment),
      }
    },
  }
}

/** Paths that tools touched or the latest prompt names: a rule for a new file is needed before that file is written. */
const pathsOf = ({ paths, prompt }: Session, place: Place): readonly string[] =>
  touchPaths(paths, promptPaths(prompt ?? ""), place)

const CI_MARKS = [
  "CONTINUOUS_INTEGRATION",
  "BUILD_NUMBER",
  "GITHUB_ACTIONS",
  "GITLAB_CI",
  "CIRCLECI",
  "TRAVIS",
  "JENKINS_URL",
  "BUILDKITE",
  "TEAMCITY_VERSION",
] as const

/** `CI` decides when it is set; otherwise any variable of a known service. */
const isCi = (environment: World["environment"]): boolean => {
  const isSet = (value: string | undefined): boolean =>
    value !== undefined && !["", "0", "false"].includes(value)
  const own = environment["CI"]
  return own === undefined ? CI_MARKS.some((name) => isSet(environment[name])) : isSet(own)
}
