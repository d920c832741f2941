/** The HTTP documents as types, for the pure code of the page. */
export type {
  AgentDocument,
  ModelDocument,
  OpenQuestionDocument as OpenQuestion,
  PermissionRequestDocument as OpenPermissionRequest,
  SavedPermissionDocument as SavedPermission,
  SessionChanges,
  SessionDocument as SessionInfo,
  SessionStatus,
  SessionStay,
} from "./documents.ts"
export type {
  CommentedLine,
  DiffFile,
  DiffHunk,
  RunAppliedDocument,
  RunDiffDocument,
  RunDiscardedDocument,
  RunToldDocument,
} from "./run-work.ts"
export type {
  ChatDocument,
  HostCompactionDocument,
  RunDocument,
  RunRow,
  RunStatus,
  SpaceDocument,
  SpaceRow,
} from "./spaces.ts"
