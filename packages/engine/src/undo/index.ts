/** What prompts led to: shown, taken back, brought back. */
export { changedFiles } from "./changed-files.ts"
export { findForkPlace } from "./fork-place.ts"
export { redoSession, undoSession, type Undone, type UndoServices } from "./undo-session.ts"
export type { RestoredFile } from "./restore-plan.ts"
