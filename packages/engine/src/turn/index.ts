/** One turn and its calls. */
export { takeTurn } from "./take-turn.ts"
export {
  AskPermission,
  type OpenPermissionRequest,
  type PermissionAnswer,
  type SavedPermission,
} from "./permissions.ts"
export { resumeCalls } from "./resume-calls.ts"
