/** Compacting a session: when, and how. */
export { compact } from "./compact.ts"
export { compactOnRequest, makeRoom, pauseWhenStuck } from "./make-room.ts"
