/** `meridian init`. */
import { implement, initConfig } from "@meridian/spaces"

import { INIT } from "./init.meta.ts"

export const init = implement(INIT, {
  run: (_input, world) => initConfig(world),
  text: ({ path, created }) => `${created ? "created" : "exists"}: ${path}`,
})
