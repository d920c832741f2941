/** The Effect face, for programs written with Effect: the same verbs as services. */
export { engineLayer } from "./engine.ts"
export { Extensions } from "./extensions.ts"
export { Permissions } from "./permissions.ts"
export { Questions } from "./questions.ts"
export { Sessions } from "./sessions.ts"
