/** One turn and its calls. */
export type { Occasion } from "./begin-turn.ts"
export { takeTurn } from "./take-turn.ts"
export {
  AskPermission,
  type OpenPermissionRequest,
  type PermissionAnswer,
  type SavedPermission,
} from "./permissions.ts"
export { AskQuestion, type OpenQuestion, type QuestionAnswer } from "./questions.ts"
export { Tasks } from "./tasks.ts"
export { Titles } from "./titles.ts"
export { readAnswer } from "./read-answer.ts"
export { resumeCalls } from "./resume-calls.ts"
