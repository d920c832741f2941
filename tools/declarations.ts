/**
 * Writes the type declarations of the libraries beside their bundles. Programs that import a bundle are checked with them.
 */
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"

import { shakeDeclarations } from "./shake-declarations.ts"

const MADE = "node_modules/.cache/declarations"

rmSync(MADE, { recursive: true, force: true })
const types = spawnSync("tsc", ["-p", "tsconfig.declarations.json"], { encoding: "utf8" })
if (types.status !== 0) {
  process.stderr.write(`${types.stdout}${types.stderr}`)
  process.exitCode = 1
}
for (const library of ["protocol", "continuity", "server"])
  cpSync(`${MADE}/${library}/src`, `packages/${library}/dist`, { recursive: true })

/**
 * The engine is also packed and installed alone. Its types are those that its entries reach, and types of the other
 * packages are among them, under `bundled/`.
 */
const engine = (entry: string, place: string, outsideAllowed: readonly string[]): void => {
  const placeOf = (file: string): string => {
    const [, library = "", path = ""] = /declarations\/([^/]+)\/src\/(.*)$/.exec(file) ?? []
    return join(place, library === "engine" ? path : `bundled/${library}/${path}`)
  }
  const { files, outside } = shakeDeclarations([join(MADE, "engine/src", entry)], {
    read: (file) => readFileSync(file, "utf8"),
    resolve: (specifier, from) => {
      if (specifier.startsWith(".")) return join(dirname(from), specifier).replace(/\.[jt]s$/, ".d.ts")
      return PACKAGES[specifier]
    },
    specifier: (to, from) => {
      const path = relative(dirname(placeOf(from)), placeOf(to)).replace(/\.d\.ts$/, ".js")
      return path.startsWith(".") ? path : `./${path}`
    },
  })
  const missing = [...outside].filter((name) => !name.startsWith("node:") && !outsideAllowed.includes(name))
  if (missing.length > 0)
    throw new Error(`The types of engine/${entry} need ${missing.join(", ")}, which nobody installs with it.`)
  for (const [file, text] of files) {
    mkdirSync(dirname(placeOf(file)), { recursive: true })
    writeFileSync(placeOf(file), text)
  }
}

const PACKAGES: Readonly<Record<string, string>> = {
  "@meridian/protocol": join(MADE, "protocol/src/index.d.ts"),
  "@meridian/continuity/ledger": join(MADE, "continuity/src/domain/ledger/index.d.ts"),
}

engine("index.d.ts", "packages/engine/dist", [])
// A separate tree: users of the other entry must not need Effect.
engine("effect.d.ts", "packages/engine/dist/effect", ["effect"])
