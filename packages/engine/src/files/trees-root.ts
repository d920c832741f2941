/** Where an engine keeps the trees of files. The next engine of this machine must find them there again. */
import { accessSync, constants, mkdirSync } from "node:fs"
import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"

export interface TreesRoot {
  readonly kind: "file" | "memory" | "server"
  /** The folder of long outputs. For a file it is beside it, otherwise it goes with the engine. */
  readonly outputs: string
  /** Names the database. */
  readonly identity: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Files stay on the node that changed them, so their trees do as well, whatever server has the sessions. */
export const treesRoot = (wish: TreesRoot): string => {
  const { kind, outputs } = wish
  if (kind === "file") return `${outputs}.trees`
  const temporary = join(outputs, "trees")
  return kind === "memory" ? temporary : (writableState(wish) ?? temporary)
}

const writableState = ({ identity, environment }: TreesRoot): string | undefined => {
  const given = environment["XDG_STATE_HOME"] ?? ""
  try {
    const state = isAbsolute(given) ? given : join(environment["HOME"] || homedir(), ".local/state")
    const folder = join(state, "meridian/trees", encodeURIComponent(identity))
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    accessSync(folder, constants.W_OK)
    return folder
  } catch {
    // This user has no folder to write to. Until the engine ends, a temporary one does.
    return undefined
  }
}
