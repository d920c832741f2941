/** The work of prompts: showing its files, undoing it, redoing it. */
export { changedFiles } from "./changed-files.ts"
export { findForkPlace } from "./fork-place.ts"
export { redoSession, undoSession, type Undone, type UndoServices } from "./undo-session.ts"
export type { RestoredFile } from "./restore-plan.ts"
