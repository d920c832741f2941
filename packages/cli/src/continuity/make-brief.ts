/** The brief of a directory, as each reader needs it: whole for a person, pinned facts for the hook of a host. */
import { estimateTokens, readBrief, type Brief } from "@meridian/continuity"
import { Failure } from "@meridian/protocol"

import { answerHook } from "./answer-hook.ts"
import { readHookInput, type HookInput } from "./hook-input.ts"
import { stateRootOf } from "./host-pin.ts"
import { projectRoot } from "./project-root.ts"

export const BRIEF_HOSTS = ["text", "opencode", "claude", "codex"] as const

export type BriefHost = (typeof BRIEF_HOSTS)[number]

export interface BriefInput {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly host?: string | undefined
  readonly maxTokens?: number | undefined
  /** What a host told its hook. Read from stdin unless given. */
  readonly hook?: () => Promise<HookInput | undefined>
}

export interface BriefOutput {
  readonly host: BriefHost
  readonly root: string
  /** `generic`, `workflow:spec/spec-execute`, ... */
  readonly mode: string
  readonly artifact: string | null
  readonly tokens: number
  readonly warnings: readonly string[]
  readonly output: string
}

export const makeBrief = async (input: BriefInput): Promise<BriefOutput> => {
  const host = hostOf(input.host ?? "text")
  const root = stateRootOf({ root: projectRoot(input.cwd), directory: input.cwd })
  const limits = input.maxTokens === undefined ? {} : { maxTokens: input.maxTokens }
  switch (host) {
    case "text":
    case "opencode": {
      const brief = await readBrief({ root, ...limits })
      return describe(host, root, brief, brief.text)
    }
    case "claude":
    case "codex": {
      const hook = await (input.hook ?? readHookInput)()
      const answer = await answerHook({
        host,
        cwd: input.cwd,
        env: input.env,
        input: hook,
        now: () => new Date(),
        clock: () => performance.now(),
        ...limits,
      })
      return { ...describe(host, root, answer, answer.text), output: answer.output }
    }
  }
}

const describe = (
  host: BriefHost,
  root: string,
  brief: Pick<Brief, "mode" | "artifact" | "warnings">,
  output: string,
): BriefOutput => ({
  host,
  root,
  mode: brief.mode,
  artifact: brief.artifact ?? null,
  tokens: estimateTokens(output),
  warnings: brief.warnings,
  output,
})

const hostOf = (name: string): BriefHost => {
  const host = BRIEF_HOSTS.find((known) => known === name)
  if (host === undefined) throw new Failure("HOST_UNKNOWN", { host: name, known: BRIEF_HOSTS.join(", ") })
  return host
}
