/** Sessions made from another session, or from a foreign conversation. */
export { copySession, moveSession, type Copied } from "./copy-session.ts"
export { forkSession } from "./fork.ts"
export { importSession, type ImportRequest, type ImportSource } from "./import.ts"
