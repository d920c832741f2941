/** The Effect face, for programs that are written in Effect themselves: the same verbs as services. */
export { engineLayer, Permissions } from "./engine.ts"
export { Sessions } from "./sessions.ts"
