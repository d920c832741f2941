/** One session, folded and at work: what the parts of the runner share. */
export { askText, NO_USAGE, type TextAnswer } from "./ask-text.ts"
export { Casting, findModel, isOutdated, requireModel, requirePrimaryAgent, type Cast } from "./cast.ts"
export { ensureEpoch, followContext, type ContextUpdate } from "./epochs.ts"
export { entriesOf, finishUndo } from "./finish-undo.ts"
export type { Decision } from "./decision.ts"
export { FoldedSessions } from "./folded-sessions.ts"
export { openInbox } from "./inbox.ts"
export { Locations, locationsLayer } from "./locations.ts"
export { noteFailures, noteTrouble } from "./note-failures.ts"
export { buildRequest, weighRequest } from "./request.ts"
export { openSessions, type SessionHandle, type WithSession } from "./session-handle.ts"
export {
  DEFAULT_AGENT,
  isForPeople,
  Settings,
  type Agent,
  type AgentMode,
  type SettingsValue,
} from "./settings.ts"
export { Signals } from "./signals.ts"
export { capsOf, pauseWhenSpent, spendingBefore, warningsFor } from "./spending.ts"
export { isAt, type LateWork, type TurnScene } from "./turn-scene.ts"
export { openWantedAnswer, type AnswerReading } from "./wanted-answer.ts"
