/** Where Meridian keeps what belongs to the user and to no project: `$XDG_STATE_HOME/meridian`, `~/.local/state/meridian`. */
import { join } from "node:path"

export const stateFolder = (env: Readonly<Record<string, string | undefined>>): string | undefined => {
  const home = env["HOME"]
  const state = env["XDG_STATE_HOME"] || (home === undefined || home === "" ? "" : join(home, ".local/state"))
  return state === "" ? undefined : join(state, "meridian")
}
