export { createClient, type CallOptions, type Client, type ClientOptions } from "./client.ts"
export type { EventFrame, FollowOptions, StreamOptions } from "./follow.ts"
export { HttpFailure } from "./http-failure.ts"
export type {
  AgentDocument,
  ChatDocument,
  CommentedLine,
  DiffFile,
  DiffHunk,
  HostCompactionDocument,
  ModelDocument,
  OpenPermissionRequest,
  OpenQuestion,
  RunDiffDocument,
  RunDocument,
  RunRow,
  RunStatus,
  SavedPermission,
  SessionChanges,
  SessionInfo,
  SessionStay,
  SessionStatus,
  SpaceDocument,
  SpaceRow,
} from "../contract/index.ts"
