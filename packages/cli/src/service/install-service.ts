/**
 * Writes the file that makes the system keep a supervisor of this project running, or removes it. It starts nothing
 * itself.
 */
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { dirname } from "node:path"

import { Failure, systemCode } from "@meridian/protocol"
import { openPlace, type World } from "@meridian/spaces"

import { MARK, serviceFile, type ServiceFile } from "./service-file.ts"

export interface InstalledService {
  readonly path: string
  readonly action: "installed" | "updated" | "unchanged" | "removed" | "absent"
  /** Commands that the person must run. */
  readonly commands: readonly string[]
  readonly keys: string
}

export const installService = (
  { remove, platform }: { readonly remove: boolean; readonly platform: string },
  world: Pick<World, "env" | "cwd" | "program">,
): InstalledService => {
  const file = fileFor(platform, world)
  const before = readOurs(file.path)
  const done = (action: InstalledService["action"], commands: readonly string[]): InstalledService => ({
    path: file.path,
    action,
    commands,
    keys: file.keys,
  })
  if (remove) {
    if (before === undefined) return done("absent", [])
    rmSync(file.path)
    return done("removed", file.stop)
  }
  if (before === file.content) return done("unchanged", file.start)
  mkdirSync(dirname(file.path), { recursive: true })
  const draft = `${file.path}.${process.pid}.draft`
  writeFileSync(draft, file.content)
  renameSync(draft, file.path)
  return done(before === undefined ? "installed" : "updated", file.start)
}

const fileFor = (
  platform: string,
  { env, cwd, program }: Pick<World, "env" | "cwd" | "program">,
): ServiceFile => {
  if (platform !== "linux" && platform !== "darwin")
    throw new Failure("SERVICE_UNUSABLE", { why: `${platform} has neither systemd nor launchd` })
  const { project, root } = openPlace(env, cwd)
  const home = env["HOME"] || homedir()
  const configHome = env["XDG_CONFIG_HOME"] || undefined
  const path = env["PATH"] ?? ""
  const unusual = [project, root, home, configHome ?? "", path, ...program].find((text) =>
    /\p{Cc}/u.test(text),
  )
  if (unusual !== undefined)
    throw new Failure("SERVICE_UNUSABLE", { why: `${JSON.stringify(unusual)} has a control character` })
  const digest = createHash("sha256").update(root).digest("hex")
  return serviceFile({ platform, home, configHome, program, project, stateRoot: root, path, digest })
}

/** Undefined if the file does not exist. Throws SERVICE_NOT_OURS. */
const readOurs = (path: string): string | undefined => {
  let content: string
  try {
    content = readFileSync(path, "utf8")
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined
    throw error
  }
  if (!content.includes(MARK)) throw new Failure("SERVICE_NOT_OURS", { path })
  return content
}
