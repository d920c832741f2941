/** Whom a call may ask: for a permission, or for anything else; and who keeps the files it changes. */
import type { FilePlaces } from "../port/file-trees.ts"
import type { AskPermission } from "./permissions.ts"
import type { AskQuestion } from "./questions.ts"
import type { Tasks } from "./tasks.ts"

export type Asking = AskPermission | AskQuestion | Tasks | FilePlaces
