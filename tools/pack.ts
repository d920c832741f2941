/**
 * `npm run pack`: the command, the engine and the plugin as tarballs in `dist/`, made from the build's output. Each stands
 * alone: no workspace, no dependency. `node tools/pack.ts FOLDER` writes them elsewhere.
 */
import { execFileSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

import { shippedManifest } from "./shipped-manifest.ts"

/** Package -> what it runs on. The plugin runs inside OpenCode, with whatever that is built on. */
const PACKED: Readonly<Record<string, { readonly node: string } | undefined>> = {
  cli: { node: ">=24.15" },
  engine: { node: ">=24.15" },
  "opencode-plugin": undefined,
}

const destination = resolve(process.argv[2] ?? "dist")
rmSync(destination, { recursive: true, force: true })
mkdirSync(destination)
for (const [name, engines] of Object.entries(PACKED)) {
  const source = resolve("packages", name)
  const stage = mkdtempSync(join(tmpdir(), "meridian-pack-"))
  try {
    for (const part of ["dist", "README.md", "LICENSE"])
      cpSync(join(source, part), join(stage, part), { recursive: true })
    const manifest = shippedManifest(JSON.parse(readFileSync(join(source, "package.json"), "utf8")), {
      has: (path) => existsSync(join(source, path)),
      ...(engines === undefined ? {} : { engines }),
    })
    writeFileSync(join(stage, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
    const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", destination], {
      cwd: stage,
      encoding: "utf8",
    })
    process.stdout.write(`${join(destination, packed.trim())}\n`)
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}
