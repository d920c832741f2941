/** The same behaviour on Postgres. */
import { useServer } from "../postgres-scene.ts"

await useServer()
await import("../behaviour/engine-undo.test.ts")
