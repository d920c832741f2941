/** What an engine was opened with, checked and completed once. */
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
    /** Summarises instead of the session's own model. */
    readonly model: string | undefined
    readonly prompt: string | undefined
    readonly timeoutMs: number
    /** Old tool results make room before a compaction does. */
    readonly prune: boolean
  }
  readonly rules: readonly PermissionRule[]
  /** Of sessions and agents that do not say. */
  readonly recovery: RecoveryPolicy
  /** Of every session. */
  readonly caps: Caps | undefined
  readonly agents: ReadonlyMap<string, Agent>
  readonly models: ReadonlyMap<string, Model>
  readonly defaultModel: string | undefined
  readonly places: Places
  /** How fragments of other nodes come here. */
  readonly followPeer: FollowPeer | undefined
  /** For values that a prompt asks for. */
  readonly openValueCheck: OpenValueCheck
}

/** Who may work as an agent: people choose a primary one, other agents call a sub one, and `all` are both. */
export type AgentMode = "primary" | "sub" | "all"

export interface Agent {
  readonly name: string
  /** For people, and for agents that may call it. */
  readonly description?: string
  /** Stands before everything else the model is told. */
  readonly prompt?: string
  /** Read after the engine's rules, so they win. */
  readonly rules: readonly PermissionRule[]
  /** Only tools that one of these patterns fits are offered; without any, all. */
  readonly tools?: readonly string[]
  readonly model?: string
  readonly settings: RequestSettings
  /** Provider turns of one activity at most. */
  readonly steps?: number
  readonly mode: AgentMode
  /** In no list for people; whoever knows its name can choose it. */
  readonly hidden: boolean
  readonly recovery?: RecoveryPolicy
  /** Of every session while it works in it. */
  readonly caps?: Caps
}

export const DEFAULT_AGENT = "build"

/** It stands in lists for people. */
export const isForPeople = ({ mode, hidden }: Agent): boolean => mode !== "sub" && !hidden
