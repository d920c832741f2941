/** What the server answers, as far as the page reads it. A test compares these with the server's contract. */
import type { PermissionReply, RecordedUsage } from "@meridian/protocol"

export type SessionStatus = "idle" | "running" | "waiting" | "interrupted" | "failed"

export interface SessionDocument {
  readonly id: string
  readonly location: { readonly directory: string }
  readonly agent: string
  readonly model?: string
  readonly title?: string
  readonly seq: number
  readonly status: SessionStatus
  readonly usage: RecordedUsage
  readonly cost: number
  readonly time: { readonly created: number; readonly updated: number }
}

export interface ModelDocument {
  readonly id: string
  readonly provider: string
  readonly contextWindow: number
  readonly maxOutput: number
  readonly isDefault: boolean
}

export interface PermissionDocument {
  readonly id: string
  readonly sessionID: string
  readonly action: string
  readonly resources: readonly string[]
  readonly title: string
  readonly time: number
}

export interface PermissionAnswer {
  readonly requestID: string
  readonly reply: PermissionReply
  /** With "reject": reaches the model. */
  readonly message?: string
}

export interface SpaceRowDocument {
  readonly spaceId: string
  readonly status: "active" | "closed" | "damaged"
  readonly name?: string
  readonly startedAt?: string
  readonly finishedAt?: string
  readonly lastActiveAt?: string
}

export interface ChatDocument {
  readonly chatId: string
  readonly alive: boolean
  readonly harness: string
  readonly model: string
  readonly startedAt: string
  readonly harnessSessionId?: string
  readonly agent?: string
  readonly runId?: string
  readonly stoppedAt?: string
  readonly resumeCommand?: string
}

export interface SpaceDocument {
  readonly spaceId: string
  readonly status: "active" | "closed" | "damaged"
  readonly startedAt: string
  readonly name?: string
  readonly finishedAt?: string
  readonly chats: readonly ChatDocument[]
  readonly runIds: readonly string[]
}

export type RunStatus = "queued" | "running" | "succeeded" | "failed" | "cancelled"

export interface RunRowDocument {
  readonly runId: string
  readonly status: RunStatus
  readonly model: string
  readonly spaceId: string
  readonly chatId?: string
  readonly parentRunId?: string
  readonly harness?: string
  readonly agent?: string
  readonly startedAt?: string
  readonly durationSecs?: number
  readonly costUsd?: number
}

export interface RunDocument extends RunRowDocument {
  readonly harnessSessionId?: string
  readonly continuedFrom?: string
  readonly finishedAt?: string
  readonly exitCode?: number
  readonly attempts?: number
  readonly failureReason?: string
  readonly message?: string
  readonly inputTokens?: number
  readonly cachedInputTokens?: number
  readonly outputTokens?: number
  readonly reportSummary?: string
  readonly report?: string
}

/** The engine's own harness works in the sessions of this very server. */
export const sessionOf = (document: {
  readonly harness?: string
  readonly harnessSessionId?: string
}): string | undefined => (document.harness === "direct" ? document.harnessSessionId : undefined)
