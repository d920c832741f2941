/** What a call may ask for, a permission or anything else, and the service that keeps the files it changes. */
import type { FilePlaces } from "../port/file-trees.ts"
import type { AskPermission } from "./permissions.ts"
import type { AskQuestion } from "./questions.ts"
import type { Tasks } from "./tasks.ts"

export type Asking = AskPermission | AskQuestion | Tasks | FilePlaces
