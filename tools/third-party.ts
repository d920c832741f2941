/** The licences of the bundled packages, which ask to be passed on with the code. */
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

/** One text for all packages of `node_modules` that the modules come from; "" when there are none. */
export const thirdPartyNotices = (modules: Iterable<string>): string => {
  const folders = new Set([...modules].flatMap(packageFolder))
  const notices = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
    const [file] = globSync("{LICENSE,LICENCE,license}*", { cwd: folder }).sort()
    const text = file === undefined ? "" : `\n\n${readFileSync(join(folder, file), "utf8").trim()}`
    return `${name} ${version} (${license})${text}\n`
  })
  if (notices.length === 0) return ""
  return `This package contains code of these, under their own licences.\n\n${notices.join(`\n${"-".repeat(72)}\n\n`)}`
}

/** The nearest folder whose manifest has a name: some packages mark sub-folders as ES modules with a separate manifest. */
const packageFolder = (module: string): readonly string[] => {
  if (!module.includes("/node_modules/")) return []
  for (let folder = dirname(module); !folder.endsWith("/node_modules"); folder = dirname(folder)) {
    const manifest = join(folder, "package.json")
    if (existsSync(manifest) && "version" in JSON.parse(readFileSync(manifest, "utf8"))) return [folder]
  }
  return []
}
