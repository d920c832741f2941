/**
 * The `meridian` that launched agents find. A shell's alias does not reach a harness, and another version on the PATH
 * would read our state differently. So every launch puts a tiny script first on the PATH, which starts this same
 * program on this same Node. The script is among the user's files, not in the project, where a run could rewrite it.
 * Its folder is named after its content, so several versions coexist and none is ever changed.
 */
import { createHash } from "node:crypto"
import { accessSync, constants, lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"

import { shellLine } from "./shell-words.ts"
import type { World } from "./world.ts"

type Environment = World["env"]

/** The environment a launch gives to a harness. Without a place for the script it stays as it is, with a warning. */
export const launchEnvironment = (world: Pick<World, "env" | "program" | "uuid" | "warn">): Environment => {
  const { env } = world
  const content = `#!/bin/sh\nexec ${shellLine(world.program)} "$@"\n`
  const folder = createHash("sha256").update(content).digest("hex").slice(0, NAME_LENGTH)
  for (const place of placesOf(env)) {
    const directory = join(place, folder)
    const command = join(directory, "meridian")
    if (!isMade({ directory, command, content, fresh: `${command}-${world.uuid()}` })) continue
    const others = (env["PATH"] || USUAL_PATH).split(delimiter).filter((entry) => entry !== directory)
    return { ...env, PATH: [directory, ...others].join(delimiter), MERIDIAN_COMMAND: command }
  }
  world.warn("LAUNCHER_UNAVAILABLE")
  return env
}

const NAME_LENGTH = 16
const USUAL_PATH = "/usr/local/bin:/usr/bin:/bin"

/** Even with a read-only home there is a temporary folder. */
const placesOf = (env: Environment): readonly string[] => {
  const cache = env["XDG_CACHE_HOME"] || (env["HOME"] && join(env["HOME"], ".cache"))
  return [
    ...(cache ? [join(cache, "meridian/bin")] : []),
    join(tmpdir(), `meridian-bin-${process.getuid?.() ?? "user"}`),
  ]
}

interface Script {
  readonly directory: string
  readonly command: string
  readonly content: string
  /** Written first, then renamed, so that half a script is never started. */
  readonly fresh: string
}

const isMade = ({ directory, command, content, fresh }: Script): boolean => {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    if (!isOurs(directory)) return false
    if (isOurs(command) && readFileSync(command, "utf8") === content) return isExecutable(command)
    writeFileSync(fresh, content, { mode: 0o755, flag: "wx" })
    renameSync(fresh, command)
    return isExecutable(command)
  } catch {
    return false
  }
}

/** No other user can change it. */
const isOurs = (path: string): boolean => {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined || found.isSymbolicLink()) return false
  return found.uid === (process.getuid?.() ?? found.uid) && (found.mode & WRITABLE_BY_OTHERS) === 0
}

const WRITABLE_BY_OTHERS = 0o022

/** False on a file system that executes nothing. */
const isExecutable = (command: string): boolean => {
  accessSync(command, constants.X_OK)
  return true
}
