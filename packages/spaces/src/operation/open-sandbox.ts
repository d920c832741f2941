import { isInside } from "@meridian/continuity/files"
/** The only module that puts something into a sandbox: a harness, a command of the engine, or a check. */
import { Failure } from "@meridian/protocol"

import type { Config } from "../domain/config-option.ts"
import {
  SANDBOX_VARIABLE,
  sandboxCommand,
  stricterMode,
  stricterNetwork,
  type SandboxMode,
  type SandboxNetwork,
  type SandboxRecord,
  type SandboxUse,
  type SandboxWish,
} from "../domain/sandbox.ts"
import { findRepository } from "../repository/find-repository.ts"
import { allWorktrees, gitDirOfWorktree } from "../repository/worktree-place.ts"
import { findBubblewrap, isInSandbox, maySpeakForTerminal } from "../store/bubblewrap.ts"
import type { StatePlace } from "../store/place.ts"
import { sandboxSite, type GitSite } from "../store/sandbox-site.ts"
import type { World } from "./world.ts"

export interface SandboxChoice {
  /** Undefined: none. */
  readonly use: SandboxUse | undefined
  /** Undefined if none was requested. */
  readonly record: SandboxRecord | undefined
}

export interface SandboxAsked {
  readonly config: Config
  /** `--sandbox`: "" without a value. */
  readonly mode?: SandboxMode | "" | undefined
  readonly network?: SandboxNetwork | undefined
  /** The sandbox of the continued run. */
  readonly inherited?: SandboxUse | undefined
  /** A run or a server asks, so the request may only make the sandbox stricter. */
  readonly isBound: boolean
  readonly harness: { readonly id: string; readonly name: string }
  /** It shares a person's terminal. */
  readonly isOnTerminal: boolean
  /** Names the launch in a warning. */
  readonly what: string
}

/** Throws SANDBOX_UNAVAILABLE if a sandbox is required, and SANDBOX_NETWORK_NEEDED. */
export const chooseSandbox = async (asked: SandboxAsked, world: World): Promise<SandboxChoice> => {
  const wish = wishOf(asked)
  if (wish.mode === "off") return { use: undefined, record: undefined }
  const around = networkAround(world)
  // We are already inside a sandbox, and so is everything we start.
  if (around !== undefined) {
    if (wish.network === "off" && around === "on" && wish.mode === "required")
      throw unavailable("a sandbox within a sandbox cannot take the network away", "ask for it outside.")
    return { use: undefined, record: { by: "bubblewrap", network: around } }
  }
  if (wish.network === "off" && asked.harness.id !== "direct")
    throw new Failure("SANDBOX_NETWORK_NEEDED", { harness: asked.harness.name })
  const found = await findBubblewrap(world.env, wish.network)
  const missing =
    found.tag === "unusable"
      ? found
      : asked.isOnTerminal && maySpeakForTerminal()
        ? {
            why: "this kernel lets programs type into the terminal they share (dev.tty.legacy_tiocsti)",
            next: "set it to 0, or spawn a run instead of a conversation.",
          }
        : undefined
  if (missing === undefined)
    return {
      use: { network: wish.network, writable: asked.config["sandbox.writable"] },
      record: { by: "bubblewrap", network: wish.network },
    }
  if (wish.mode === "required") throw unavailable(missing.why, missing.next)
  world.warn("SANDBOX_ABSENT", { what: asked.what, why: missing.why, next: missing.next })
  return { use: undefined, record: { by: "none", why: missing.why } }
}

const unavailable = (why: string, next: string): Failure => new Failure("SANDBOX_UNAVAILABLE", { why, next })

/** A person's flags take precedence over the configuration. A run can only add to it. */
const wishOf = ({ config, mode, network, inherited, isBound }: SandboxAsked): SandboxWish => {
  const configured = { mode: config["sandbox.mode"], network: config["sandbox.network"] }
  const before =
    inherited === undefined
      ? configured
      : {
          mode: "required" as const,
          network: stricterNetwork(configured.network, inherited.network),
        }
  const said = mode === "" ? "required" : mode
  const wished = network === undefined && said === undefined ? undefined : { mode: said, network }
  if (wished === undefined) return before
  // A request about the network implies a sandbox.
  const wishedMode = wished.mode ?? (wished.network === "off" ? "required" : before.mode)
  if (!isBound) return { mode: wishedMode, network: wished.network ?? before.network }
  return {
    mode: stricterMode(before.mode, wishedMode),
    network: stricterNetwork(before.network, wished.network ?? "on"),
  }
}

const networkAround = ({ env }: Pick<World, "env">): SandboxNetwork | undefined => {
  const told = env[SANDBOX_VARIABLE] ?? ""
  return told === "" || !isInSandbox() ? undefined : told === "off" ? "off" : "on"
}

export interface SandboxedStart {
  readonly use: SandboxUse
  readonly place: StatePlace
  readonly env: World["env"]
  readonly directory: string
  readonly harness?: string | undefined
  /** Files and folders that must be visible inside. */
  readonly programs?: readonly string[] | undefined
  readonly isAlone: boolean
}

/**
 * The command line that starts this one in a sandbox. Throws SANDBOX_UNAVAILABLE: nothing runs without its promised
 * sandbox.
 */
export const wrapInSandbox = async (
  { use, place, env, directory, harness, programs = [], isAlone }: SandboxedStart,
  argv: readonly string[],
): Promise<readonly string[]> => {
  const found = await findBubblewrap(env, use.network)
  if (found.tag === "unusable") throw unavailable(found.why, found.next)
  const site = sandboxSite({
    env,
    project: place.project,
    stateRoot: place.root,
    directory,
    git: gitSiteOf(directory, place.project, env),
    harness,
    programs: [argv[0] ?? "", ...programs],
    writable: use.writable,
  })
  return sandboxCommand({ program: found.program, network: use.network, site, directory, isAlone }, argv)
}

/**
 * A `.git` that leads out of the project is believed only if the repository it leads to knows this checkout. A
 * program that writes in the project could name any repository.
 */
const gitSiteOf = (directory: string, project: string, env: World["env"]): GitSite | undefined => {
  const found = findRepository(directory)
  if (found === undefined) return undefined
  const { top, gitDir, commonDir } = found
  const worktrees = allWorktrees(env)
  const isKnown = gitDir !== commonDir && gitDirOfWorktree(commonDir, top) === gitDir
  const isOurs = isKnown && worktrees !== undefined && isInside(worktrees, top)
  if (!isKnown && !isInside(project, commonDir) && !isInside(top, commonDir)) return undefined
  return { top, gitDir, commonDir, isOurs }
}
