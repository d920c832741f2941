/** The options an engine was opened with, checked and completed once. */
import type { Caps, RecoveryPolicy, RequestSettings } from "@meridian/protocol"
import { Context } from "effect"

import type { CompactionSettings } from "../domain/budget.ts"
import type { EngineLimits } from "../domain/limits.ts"
import type { PermissionRule } from "../domain/permission.ts"
import type { RetrySettings } from "../domain/retry.ts"
import type { Places } from "../domain/workspaces.ts"
import type { Model } from "../port/model.ts"
import type { FollowPeer } from "../port/store.ts"
import type { OpenValueCheck } from "../port/value-check.ts"

export class Settings extends Context.Service<Settings, SettingsValue>()("meridian/Settings") {}

export interface SettingsValue {
  readonly limits: EngineLimits
  readonly retry: RetrySettings
  readonly compaction: CompactionSettings & {
    /** The model that summarises instead of the session's own. */
    readonly model: string | undefined
    readonly prompt: string | undefined
    readonly timeoutMs: number
    /** Whether old tool results are pruned before a compaction. */
    readonly prune: boolean
  }
  readonly titles: {
    /** Without a model, sessions are titled by the words of their first prompt. */
    readonly model: string | undefined
    readonly timeoutMs: number
  }
  readonly rules: readonly PermissionRule[]
  /** For sessions and agents without a policy. */
  readonly recovery: RecoveryPolicy
  /** Apply to every session. */
  readonly caps: Caps | undefined
  readonly agents: ReadonlyMap<string, Agent>
  readonly models: ReadonlyMap<string, Model>
  readonly defaultModel: string | undefined
  readonly places: Places
  /** How fragments of other nodes get here. */
  readonly followPeer: FollowPeer | undefined
  /** Checks values that a prompt asks for. */
  readonly openValueCheck: OpenValueCheck
}

/** Who may choose an agent: people choose a primary one, other agents call a sub one, `all` allows both. */
export type AgentMode = "primary" | "sub" | "all"

export interface Agent {
  readonly name: string
  /** For people, and for agents that may call it. */
  readonly description?: string
  /** Comes before everything else the model is told. */
  readonly prompt?: string
  /** Read after the engine's rules, so these win. */
  readonly rules: readonly PermissionRule[]
  /** Patterns. Only tools that match one are offered; without patterns, all. */
  readonly tools?: readonly string[]
  readonly model?: string
  readonly settings: RequestSettings
  /** The most provider turns of one activity. */
  readonly steps?: number
  readonly mode: AgentMode
  /** Absent from lists for people, but can be chosen by name. */
  readonly hidden: boolean
  readonly recovery?: RecoveryPolicy
  /** Apply to every session while the agent works in it. */
  readonly caps?: Caps
}

export const DEFAULT_AGENT = "build"

/** The agent appears in lists for people. */
export const isForPeople = ({ mode, hidden }: Agent): boolean => mode !== "sub" && !hidden
