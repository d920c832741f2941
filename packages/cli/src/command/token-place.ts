/**
 * The file of the `serve --http` token: among the user's files, not in the project, where the file tools of every run
 * could read it. One file for each state folder.
 */
import { createHash } from "node:crypto"
import { mkdirSync, realpathSync, rmSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"

import type { World } from "@meridian/spaces"

export const tokenFile = (stateRoot: string, env: World["env"]): string => {
  const state = env["XDG_STATE_HOME"] || join(env["HOME"] || homedir(), ".local/state")
  const key = createHash("sha256").update(canonical(stateRoot)).digest("hex").slice(0, KEY_LENGTH)
  return join(state, "meridian/http-token", key)
}

const KEY_LENGTH = 32

/** Earlier versions kept it in the state folder, where it could be read, so that token is void. */
export const removeOldToken = (stateRoot: string): void =>
  rmSync(join(stateRoot, "http-token"), { force: true })

/** An existing folder has one name, however it is reached. */
const canonical = (folder: string): string => {
  mkdirSync(folder, { recursive: true })
  return realpathSync(folder)
}
