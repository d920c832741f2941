export type {
  AgentConfig,
  CreateInput,
  Engine,
  EngineOptions,
  EventsInput,
  EventFrames,
  ExtensionsApi,
  FilesInput,
  FilesResult,
  ForkInput,
  ImportInput,
  ImportResult,
  FollowPeer,
  LiveItem,
  Page,
  InputsRange,
  RedoInput,
  UndoInput,
  UndonePrompt,
  UndoResult,
  PageInput,
  PermissionsApi,
  PromptInput,
  QuestionsApi,
  SessionChanges,
  SessionEvent,
  SessionInfo,
  SessionStay,
  SessionsApi,
  SessionStatus,
  WaitingFor,
  WaitOptions,
} from "./api.ts"
export { PLAN_RULES } from "./built-in-agents.ts"
export { copySessions, type CopiedSession, type CopyRequest } from "./copy-sessions.ts"
export type { EmbedderSource } from "./context/embedder-source.ts"
export type { Reference } from "./context/references.ts"
export type { ImportCounts } from "./domain/import.ts"
export type { ImportPiece } from "./domain/import-piece.ts"
export type { Extension, ExtensionHooks, HookOptions } from "./extension/index.ts"
export type {
  CallView,
  CompactionView,
  RefusedCall,
  RequestView,
  ResultView,
  SuppliedSummary,
  TurnView,
} from "./port/hooks.ts"
export type { NodeStanding, SharedStep } from "./port/say-aloud.ts"
export { attachedText, promptText } from "./domain/prompt-parts.ts"
export type { EngineLimits } from "./domain/limits.ts"
export type { PermissionRule } from "./domain/permission.ts"
export type { RetryPolicy } from "./domain/retry.ts"
export type { Effort, ModelConfig } from "./model/config.ts"
export type { Reply, Respond, ScriptRequest, ScriptStep } from "./model/script.ts"
export { openEngine } from "./open-engine.ts"
export { salvageDatabase, type Salvaged, type SalvagedSession } from "./salvage-database.ts"
export {
  checkDatabase,
  isServerAddress,
  lookAtServer,
  migrateDatabase,
  readAddress,
  readCluster,
  requireKnownAddress,
  type Cluster,
  type ClusterNode,
  type Finding,
  type LookedSession,
  type ServerLook,
} from "./server-database.ts"
export { agentsForPeople, type AgentSummary } from "./read-agents.ts"
export { lookingRules } from "./tool/builtins.ts"
export type { EmbedderQuestion, EmbedderScene, EmbedderTool } from "./tool/embedder-tool.ts"
export type { McpConfiguration } from "./tool/mcp-servers.ts"
export type {
  OpenPermissionRequest,
  OpenQuestion,
  PermissionAnswer,
  QuestionAnswer,
  SavedPermission,
} from "./turn/index.ts"
