/** Sessions made from another one, or from a conversation held elsewhere. */
export { copySession, moveSession, type Copied } from "./copy-session.ts"
export { forkSession } from "./fork.ts"
export { importSession, type ImportRequest, type ImportSource } from "./import.ts"
