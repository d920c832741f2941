/** Compacting a session: when, and how. */
export { compact } from "./compact.ts"
export { compactOnRequest, makeRoom } from "./make-room.ts"
