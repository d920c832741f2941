/** The Effect face, for programs that are written in Effect themselves: the same verbs as services. */
export { engineLayer } from "./engine.ts"
export { Extensions } from "./extensions.ts"
export { Permissions } from "./permissions.ts"
export { Questions } from "./questions.ts"
export { Sessions } from "./sessions.ts"
