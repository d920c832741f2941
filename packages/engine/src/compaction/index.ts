/** When and how to compact a session. */
export { compact } from "./compact.ts"
export { compactOnRequest, makeRoom, pauseWhenStuck } from "./make-room.ts"
