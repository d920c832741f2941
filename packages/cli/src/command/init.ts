/** `meridian init`: the configuration file, or the connection to a harness. */
import { Failure } from "@meridian/protocol"
import {
  checkHarnesses,
  claimLines,
  hostLines,
  implement,
  initConfig,
  trustHere,
  type World,
} from "@meridian/spaces"

import { INIT } from "./init.meta.ts"

export const init = implement(INIT, {
  run: async (input, world) => {
    const asked = (["claude", "codex", "opencode"] as const).filter((host) => input[host])
    const alone = (["remove", "user"] as const).find((flag) => input[flag])
    if (asked.length === 0 && alone !== undefined && !(input.service && alone === "remove"))
      throw new Failure("USAGE", {
        problem: `--${alone} needs --claude, --codex or --opencode.`,
        next: "run 'meridian init --help'.",
      })
    if (input.check) return { checks: await check(asked, world) }
    if (input.service && asked.length === 0) return { service: await service(input, world) }
    const written = asked.length === 0 ? await initConfig(world) : await connect(asked, input, world)
    // The user's own settings say nothing about this folder.
    const trusted = input.user ? undefined : await trustHere(world, input.tier)
    return {
      ...written,
      ...(input.service ? { service: await service(input, world) } : {}),
      ...(trusted === undefined ? {} : { trusted }),
    }
  },
  text: ({ path, created, hosts, checks, service: unit }) =>
    [
      ...(checks ?? []).flatMap(hostLines),
      ...(hosts ?? []).map((host) => `${host.action}: ${host.path}`),
      ...(path === undefined ? [] : [`${created === true ? "created" : "exists"}: ${path}`]),
      ...(unit === undefined ? [] : [`${unit.action}: ${unit.path}`]),
    ].join("\n"),
  notes: ({ hosts, trusted, service: unit }) =>
    [
      ...(hosts ?? []).flatMap((host) => host.notes),
      ...(unit === undefined || unit.commands.length === 0 ? [] : ["Now run:", ...unit.commands]),
      ...(trusted === undefined
        ? []
        : [`trusted: ${trusted.path} (up to ${trusted.tier})`, claimLines(trusted.decides)]),
    ]
      .filter((line) => line !== "")
      .join("\n"),
})

const service = async ({ remove }: { readonly remove: boolean }, world: World) => {
  const { installService } = await import("../service/install-service.ts")
  const { path, action, commands, keys } = installService({ remove, platform: process.platform }, world)
  const note = action === "removed" || action === "absent" ? [] : [`# keys that agents need: ${keys}`]
  return { path, action, commands: [...commands, ...note] }
}

type Host = "claude" | "codex" | "opencode"

/** Checks all three unless some are named. */
const check = async (asked: readonly Host[], world: World) => {
  const { checkHost, HOSTS } = await import("../continuity/index.ts")
  const { cwd, env } = world
  const harnesses = await checkHarnesses(world, undefined)
  return (asked.length === 0 ? HOSTS : asked).map((host) => checkHost(host, { cwd, env, harnesses }))
}

const connect = async (
  asked: readonly Host[],
  { remove, user }: { readonly remove: boolean; readonly user: boolean },
  { cwd, env, program }: World,
) => {
  const { installHost } = await import("../continuity/index.ts")
  const hosts = asked.map((host) => installHost({ cwd, env, program, host, remove, user }))
  return { hosts: hosts.map(({ host, path, action, notes }) => ({ host, path, action, notes })) }
}
