/** The system's npm on the project's Node, in separate folders, without a network. */
import { spawnSync } from "node:child_process"
import { globSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { emptyFolder, SEARCH_PATH } from "./cli-binary.ts"

const NODE_FOLDER = dirname(process.execPath)

/** Uses none of the developer's npm settings, cache or home. */
const npmEnvironment = (home: string): Record<string, string> => ({
  PATH: `${NODE_FOLDER}:${SEARCH_PATH}`,
  HOME: home,
  npm_config_cache: join(home, ".npm"),
  npm_config_offline: "true",
  npm_config_audit: "false",
  npm_config_fund: "false",
  npm_config_update_notifier: "false",
})

export interface Command {
  readonly cwd: string
  readonly home: string
  readonly env?: Readonly<Record<string, string>>
}

export const run = (
  { cwd, home, env }: Command,
  program: string,
  ...args: readonly string[]
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } => {
  const ran = spawnSync(program, args, {
    cwd,
    env: { ...npmEnvironment(home), ...env },
    encoding: "utf8",
    timeout: 100_000,
  })
  return { status: ran.status, stdout: ran.stdout, stderr: ran.stderr }
}

/** Throws with npm's whole output. */
export const npm = (command: Command, ...args: readonly string[]): string => {
  const { status, stdout, stderr } = run(command, "npm", ...args)
  if (status !== 0) throw new Error(`npm ${args.join(" ")}: ${stdout}${stderr}`)
  return stdout
}

/** The three tarballs by package, made by `npm run pack` from the build or by `npm pack` in each folder. */
export const packAll = (how: "npm run pack" | "npm pack"): ReadonlyMap<string, string> => {
  const home = emptyFolder("meridian pack ")
  const folder = join(home, "tarballs")
  mkdirSync(folder)
  if (how === "npm run pack") {
    const packed = run({ cwd: process.cwd(), home }, process.execPath, "tools/pack.ts", folder)
    if (packed.status !== 0) throw new Error(packed.stderr)
  } else
    for (const name of ["cli", "engine", "opencode-plugin"])
      // npm would build first. These tests already run on that build.
      npm({ cwd: join("packages", name), home }, "pack", "--ignore-scripts", "--pack-destination", folder)
  const found = globSync("*.tgz", { cwd: folder })
  return new Map(found.map((file) => [file.replace(/^meridian-(.*)-\d.*$/, "$1"), join(folder, file)]))
}

/** An empty folder with only this tarball installed. */
export const installAlone = (tarball: string): Command => {
  const home = emptyFolder("meridian home ")
  const cwd = emptyFolder("meridian installed ")
  writeFileSync(join(cwd, "package.json"), '{"type":"module"}\n')
  npm({ cwd, home }, "install", tarball)
  return { cwd, home }
}
