/** Reading sessions: events, live fragments, changes, pages, receipts, recall. */
export { changedSessions, type SessionChanges } from "./changes.ts"
export { liveItems, type LiveItem } from "./live.ts"
export { readPage, type Page, type PageRequest } from "./pages.ts"
export { openPeerLive } from "./peer-live.ts"
export { readReceipts, requestCompaction, restoreCheckpoint, untilCompacted } from "./receipts.ts"
export { framesAfter, tailEvents, tailFrames } from "./tail.ts"
