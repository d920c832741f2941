/** `meridian serve`: MCP over this process's stdin and stdout, or HTTP with `--http`. */
import { Failure } from "@meridian/protocol"
import { enterFolder, implement, toolEnvironment } from "@meridian/spaces"

import { besideSupervisor } from "../beside-supervisor.ts"
import { COMMANDS } from "../commands.ts"
import { VERSION } from "../version.ts"
import { SERVE } from "./serve.meta.ts"

export const serve = implement(SERVE, {
  run: async (input, world) => {
    if (input.printConfig !== undefined) {
      if (input.http)
        throw new Failure("USAGE", {
          problem: "Cannot combine --print-config with --http: the configuration is that of the MCP server.",
          next: "leave out --http.",
        })
      const { mcpConfiguration } = await import("./mcp-configuration.ts")
      return { host: input.printConfig, ...mcpConfiguration(input.printConfig, world.program) }
    }
    await enterFolder(world).catch((error: unknown) => {
      // HTTP needs the configuration and reports the failure itself. Over MCP each call does.
      if (!(error instanceof Failure)) throw error
    })
    await besideSupervisor(world, async () => {
      if (input.http) return await (await import("./serve-http.ts")).serveUntilStopped(input, world)
      const { serveMcp } = await import("@meridian/server/mcp")
      return await serveMcp({
        operations: COMMANDS,
        version: VERSION,
        world: { ...world, env: await toolEnvironment(input.permission, world) },
        input: process.stdin,
        output: process.stdout,
        signal: world.signal,
      })
    })
    return {}
  },
  text: ({ config }) => config ?? "",
})
