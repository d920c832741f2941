/** Every command, in the order of help: the operations of spaces and what only the binary can do. */
import { OPERATIONS, register, type Registration } from "@meridian/spaces"

import { ACP_AGENT } from "./command/acp-agent.meta.ts"
import { ACP } from "./command/acp.meta.ts"
import { ANSWER, QUESTIONS } from "./command/answer.meta.ts"
import { BRIEF } from "./command/brief.meta.ts"
import { COMPLETE } from "./command/complete.meta.ts"
import { COMPLETION } from "./command/completion.meta.ts"
import { CLUSTER, DATABASE_CHECK, DATABASE_MIGRATE } from "./command/database.meta.ts"
import { DIRECT } from "./command/direct.meta.ts"
import { INIT } from "./command/init.meta.ts"
import { PERMISSIONS_LIST, PERMISSIONS_REVOKE } from "./command/permissions.meta.ts"
import { QUESTIONS_ANSWER, QUESTIONS_LIST } from "./command/questions.meta.ts"
import { EXPAND, RECALL } from "./command/recall.meta.ts"
import { SEARCH } from "./command/search.meta.ts"
import { SERVE } from "./command/serve.meta.ts"
import { SESSION_COPY } from "./command/session-copy.meta.ts"
import { SESSION_EXPORT } from "./command/session-export.meta.ts"
import { SESSION_ARCHIVE, SESSION_DELETE, SESSION_RENAME } from "./command/session-keep.meta.ts"
import { SESSION_FILES, SESSION_FORK, SESSION_REDO, SESSION_UNDO } from "./command/session-undo.meta.ts"
import { SESSION_COMPACTIONS, SESSION_IMPORT, SESSION_LIST, SESSION_RESTORE } from "./command/session.meta.ts"

export const COMMANDS: readonly Registration[] = [
  ...OPERATIONS,
  register(INIT, async () => (await import("./command/init.ts")).init),
  register(BRIEF, async () => (await import("./command/brief.ts")).brief),
  register(RECALL, async () => (await import("./command/recall.ts")).recall),
  register(EXPAND, async () => (await import("./command/recall.ts")).expand),
  register(SEARCH, async () => (await import("./command/search.ts")).search),
  register(PERMISSIONS_LIST, async () => (await import("./command/permissions.ts")).permissionsList),
  register(PERMISSIONS_REVOKE, async () => (await import("./command/permissions.ts")).permissionsRevoke),
  register(QUESTIONS, async () => (await import("./command/answer.ts")).questions),
  register(ANSWER, async () => (await import("./command/answer.ts")).answer),
  register(QUESTIONS_LIST, async () => (await import("./command/questions.ts")).questionsList),
  register(QUESTIONS_ANSWER, async () => (await import("./command/questions.ts")).questionsAnswer),
  register(SESSION_LIST, async () => (await import("./command/session.ts")).sessionList),
  register(SESSION_COMPACTIONS, async () => (await import("./command/session.ts")).sessionCompactions),
  register(SESSION_RESTORE, async () => (await import("./command/session.ts")).sessionRestore),
  register(SESSION_IMPORT, async () => (await import("./command/session-import.ts")).sessionImport),
  register(SESSION_COPY, async () => (await import("./command/session-copy.ts")).sessionCopy),
  register(SESSION_EXPORT, async () => (await import("./command/session-export.ts")).sessionExport),
  register(SESSION_RENAME, async () => (await import("./command/session-keep.ts")).sessionRename),
  register(SESSION_ARCHIVE, async () => (await import("./command/session-keep.ts")).sessionArchive),
  register(SESSION_DELETE, async () => (await import("./command/session-keep.ts")).sessionDelete),
  register(SESSION_UNDO, async () => (await import("./command/session-undo.ts")).sessionUndo),
  register(SESSION_REDO, async () => (await import("./command/session-undo.ts")).sessionRedo),
  register(SESSION_FILES, async () => (await import("./command/session-undo.ts")).sessionFiles),
  register(SESSION_FORK, async () => (await import("./command/session-undo.ts")).sessionFork),
  register(DATABASE_CHECK, async () => (await import("./command/database.ts")).databaseCheck),
  register(DATABASE_MIGRATE, async () => (await import("./command/database.ts")).databaseMigrate),
  register(CLUSTER, async () => (await import("./command/database.ts")).cluster),
  register(SERVE, async () => (await import("./command/serve.ts")).serve),
  register(ACP, async () => (await import("./command/acp.ts")).acp),
  register(ACP_AGENT, async () => (await import("./command/acp-agent.ts")).acpAgent),
  register(DIRECT, async () => (await import("./command/direct.ts")).direct),
  register(COMPLETE, async () => (await import("./command/complete.ts")).complete),
  register(COMPLETION, async () => (await import("./command/completion.ts")).completion),
]
