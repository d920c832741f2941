/** `meridian serve`: MCP over this process's stdin and stdout. */
import { implement } from "@meridian/spaces"

import { COMMANDS } from "../commands.ts"
import { VERSION } from "../version.ts"
import { SERVE } from "./serve.meta.ts"

export const serve = implement(SERVE, {
  run: async (_input, world) => {
    const { serveMcp } = await import("@meridian/server")
    const { env, cwd, clock, uuid, configPath, program, signal } = world
    await serveMcp({
      operations: COMMANDS,
      version: VERSION,
      world: { env, cwd, clock, uuid, configPath, program },
      input: process.stdin,
      output: process.stdout,
      signal,
    })
    return {}
  },
  text: () => "",
})
