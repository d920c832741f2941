/** Writes the type declarations of the libraries beside their bundles. Programs that import a bundle are checked with them. */
import { spawnSync } from "node:child_process"
import { cpSync } from "node:fs"

const types = spawnSync("tsc", ["-p", "tsconfig.declarations.json"], { encoding: "utf8" })
if (types.status !== 0) {
  process.stderr.write(`${types.stdout}${types.stderr}`)
  process.exitCode = 1
}
for (const library of ["engine", "protocol", "continuity", "server"])
  cpSync(`node_modules/.cache/declarations/${library}/src`, `packages/${library}/dist`, { recursive: true })
