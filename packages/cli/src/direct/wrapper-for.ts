/** Wraps the commands of an engine in a sandbox: that of its launch, or the configured one. */
import type { EngineOptions } from "@meridian/engine"
import { chooseSandbox, openPlace, wrapInSandbox, type Config, type World } from "@meridian/spaces"

/** Undefined: no sandbox. Throws SANDBOX_UNAVAILABLE if one is required. */
export const wrapperFor = async (
  told: "on" | "off" | undefined,
  config: Config,
  world: World,
): Promise<EngineOptions["wrapCommand"]> => {
  const use =
    told === undefined
      ? await configured(config, world)
      : { network: told, writable: config["sandbox.writable"] }
  if (use === undefined) return undefined
  const place = openPlace(world.env, world.cwd)
  return (argv, directory) => wrapInSandbox({ use, place, env: world.env, directory, isAlone: false }, argv)
}

const configured = async (config: Config, world: World) => {
  const harness = { id: "direct", name: "Direct" }
  const asked = { config, harness, isBound: false, isOnTerminal: false, what: "The engine" }
  return (await chooseSandbox(asked, world)).use
}
