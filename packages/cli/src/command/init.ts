/** `meridian init`: the configuration file, or the connection to a harness. */
import { Failure } from "@meridian/protocol"
import { implement, initConfig } from "@meridian/spaces"

import { INIT } from "./init.meta.ts"

export const init = implement(INIT, {
  run: async (input, world) => {
    const asked = (["claude", "codex", "opencode"] as const).filter((host) => input[host])
    if (asked.length === 0 && input.remove)
      throw new Failure("USAGE", {
        problem: "--remove needs --claude, --codex or --opencode.",
        next: "run 'meridian init --help'.",
      })
    if (asked.length === 0) return initConfig(world)
    const { installHost } = await import("../continuity/index.ts")
    const { cwd, env, program } = world
    const hosts = asked.map((host) => installHost({ cwd, env, program, host, remove: input.remove }))
    return { hosts: hosts.map(({ host, path, action, notes }) => ({ host, path, action, notes })) }
  },
  text: ({ path, created, hosts }) =>
    hosts === undefined
      ? `${created === true ? "created" : "exists"}: ${path}`
      : hosts.map((host) => `${host.action}: ${host.path}`).join("\n"),
  notes: ({ hosts }) => (hosts ?? []).flatMap((host) => host.notes).join("\n"),
})
