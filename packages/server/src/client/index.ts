export { createClient, type CallOptions, type Client, type ClientOptions } from "./client.ts"
export type { EventFrame, FollowOptions, StreamOptions } from "./follow.ts"
export { HttpFailure } from "./http-failure.ts"
export type {
  AgentDocument,
  ChatDocument,
  HostCompactionDocument,
  ModelDocument,
  OpenPermissionRequest,
  OpenQuestion,
  RunDocument,
  RunRow,
  RunStatus,
  SavedPermission,
  SessionChanges,
  SessionInfo,
  SessionStatus,
  SpaceDocument,
  SpaceRow,
} from "../contract/index.ts"
