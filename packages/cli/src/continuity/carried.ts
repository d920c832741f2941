/**
 * What a launch adds so that facts survive a compaction, if neither the project nor the user has set that up:
 * settings with our hooks for Claude Code, our plugin for OpenCode. Codex only runs hooks that a person has trusted
 * by hand, so a launch cannot add one. Nothing is written anywhere, and a launch never fails because of it.
 */
import { pathToFileURL } from "node:url"

import { objectAt, OFFER_FILE, parseObject, type JsonObject } from "@meridian/protocol"
import type { LaunchContinuity } from "@meridian/spaces"

import { checkHost } from "./check-hosts.ts"
import { addHooks } from "./host-hooks.ts"
import { builtPlugin } from "./plugin-file.ts"
import { quotedProgram } from "./program-line.ts"

export interface CarryQuery {
  readonly harness: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly program: readonly string[]
  /** For a run: after a tool, its agent is told the words sent since. */
  readonly isRun?: boolean
}

/** Set to `off` by a person who wants launches without it. */
const SWITCH = "MERIDIAN_CONTINUITY"

export const carriedContinuity = ({
  harness,
  cwd,
  env,
  program,
  isRun = false,
}: CarryQuery): LaunchContinuity | undefined => {
  try {
    // The engine does this itself.
    if (harness === "direct") return undefined
    if (env[SWITCH] === "off") return { missing: `${SWITCH} is off` }
    if (harness !== "claude" && harness !== "codex" && harness !== "opencode")
      return { missing: "an agent over ACP takes no hook" }
    const isConnected = checkHost(harness, { cwd, env, harnesses: [] }).connected
    if (isConnected && !(isRun && harness === "claude")) return undefined
    if (harness === "codex")
      return {
        missing: "Codex runs only hooks that a person has trusted; 'meridian init --codex' sets one up",
      }
    if (harness === "opencode") return { plugin: pathToFileURL(builtPlugin()).href }
    const launcher = env["MERIDIAN_COMMAND"]
    const words = quotedProgram(launcher === undefined ? program : [launcher])
    return {
      settings: JSON.stringify({
        hooks: { ...(isConnected ? {} : pinning(words)), ...(isRun ? steering(words) : {}) },
      }),
    }
  } catch (error) {
    return { missing: error instanceof Error ? error.message : String(error) }
  }
}

const pinning = (program: string): JsonObject => {
  const hooks = addHooks(undefined, "claude", program)
  return (hooks.kind === "write" ? objectAt(parseObject(hooks.text), "hooks") : undefined) ?? {}
}

const steering = (program: string): JsonObject => ({
  PostToolUse: [
    {
      matcher: "*",
      hooks: [
        {
          type: "command",
          command: `if [ -e "${OFFER}" ]; then ${program} brief --host claude; else cat >/dev/null; fi`,
          timeout: 10,
        },
      ],
    },
  ],
})

/** The shell checks for this file, so our program only starts if there is something to say. */
const OFFER = `$MERIDIAN_STATE_ROOT/.spaces/$MERIDIAN_SPACE_ID/runs/$MERIDIAN_PARENT_RUN_ID/${OFFER_FILE}`
