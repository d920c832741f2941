/** Builds what is shipped: one rolldown bundle per entry, and type declarations beside the libraries. */
import { spawnSync } from "node:child_process"
import { chmodSync, cpSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"

import { rolldown, type RolldownOptions } from "rolldown"

import { lazyBuiltins } from "./lazy-builtins.ts"
import { thirdPartyNotices } from "./third-party.ts"

interface Bundle {
  readonly input: Readonly<Record<string, string>>
  readonly directory: string
  /** Left to the user's own node_modules. */
  readonly external?: readonly (string | RegExp)[]
  readonly platform?: "node" | "browser"
  /** Put before the code: a shebang, a compile cache. */
  readonly banner?: string
  readonly minify?: boolean
  /**
   * A program: the entry gets a shebang and is made executable, and Node's builtins are loaded only when they are called.
   */
  readonly executable?: boolean
  /** File name -> modules that become one file together with all their static imports. Fewer files load faster. */
  readonly together?: Readonly<Record<string, RegExp>>
  /** One file only, whatever is imported lazily (for a plugin that is copied around). */
  readonly single?: boolean
}

/** One row per thing we ship. */
const BUNDLES: readonly Bundle[] = [
  { input: { index: "packages/engine/src/package.entry.ts" }, directory: "packages/engine/dist" },
  // Effect programs supply their own Effect: two copies in one program would not know each other.
  {
    input: { effect: "packages/engine/src/effect.ts" },
    directory: "packages/engine/dist/effect",
    external: ["effect", /^effect\//],
  },
  {
    input: { meridian: "packages/cli/src/meridian.entry.ts" },
    directory: "packages/cli/dist",
    minify: true,
    executable: true,
    together: {
      start: /cli\/src\/main\.ts$/,
      state: /spaces\/src\/operation\/(sweep|find-run|run-document|text-table)\.ts$/,
    },
  },
  {
    input: { meridian: "packages/opencode-plugin/src/index.ts" },
    directory: "packages/opencode-plugin/dist",
    banner: "/*! meridian for OpenCode: https://opencode.ai/docs/plugins (one self-contained file) */",
    minify: true,
    single: true,
  },
  {
    input: { index: "packages/server/src/client/index.ts" },
    directory: "packages/server/dist/client",
    platform: "browser",
    single: true,
  },
  {
    input: { page: "packages/web/src/view/page.entry.tsx" },
    directory: "packages/web/dist",
    platform: "browser",
    minify: true,
    single: true,
  },
]

const build = async (bundle: Bundle): Promise<void> => {
  rmSync(bundle.directory, { recursive: true, force: true })
  const options: RolldownOptions = {
    input: { ...bundle.input },
    platform: bundle.platform ?? "node",
    external: [...(bundle.external ?? [])],
    resolve: {
      conditionNames: ["meridian-source", "import", bundle.platform ?? "node", "default"],
      // ES modules before UMD, because UMD hides its requires from a bundler (jsonc-parser).
      mainFields: ["module", "main"],
      // Callers require it as the class that it is; as an ES module it would be an object with a class inside.
      alias: { "pg-pool": createRequire(import.meta.url).resolve("pg-pool") },
    },
    plugins: bundle.executable === true ? [lazyBuiltins()] : [],
    logLevel: "warn",
  }
  const graph = await rolldown(options)
  const { output } = await graph.write({
    dir: bundle.directory,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunk/[name]-[hash].js",
    minify: bundle.minify ?? false,
    codeSplitting:
      bundle.together === undefined
        ? bundle.single !== true
        : {
            groups: Object.entries(bundle.together).map(([name, test], index) => ({
              name,
              test,
              priority: 10 - index,
              includeDependenciesRecursively: true,
            })),
          },
    ...(bundle.banner === undefined ? {} : { banner: bundle.banner }),
  })
  await graph.close()
  const notices = thirdPartyNotices(output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : [])))
  if (notices !== "") writeFileSync(`${bundle.directory}/THIRD-PARTY-NOTICES.txt`, notices)
  if (bundle.executable === true)
    for (const name of Object.keys(bundle.input)) chmodSync(`${bundle.directory}/${name}.js`, 0o755)
}

const shippedManifest = (source: string): string => {
  const { version, license, type, engines } = JSON.parse(source)
  const manifest = { name: "meridian", version, license, type, bin: { meridian: "meridian.js" }, engines }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

for (const bundle of BUNDLES) await build(bundle)
// Everything is in the bundle, so the shipped package has no dependencies.
writeFileSync(
  "packages/cli/dist/package.json",
  shippedManifest(readFileSync("packages/cli/package.json", "utf8")),
)
// The page: its frame unchanged, and one style sheet with the plot library's first.
cpSync("packages/web/src/index.html", "packages/web/dist/index.html")
// What makes it installable: manifest and icons.
cpSync("packages/web/src/app", "packages/web/dist", { recursive: true })
writeFileSync(
  "packages/web/dist/page.css",
  ["node_modules/uplot/dist/uPlot.min.css", "packages/web/src/page.css"]
    .map((file) => readFileSync(file, "utf8"))
    .join("\n"),
)
// `meridian init --opencode` installs the plugin, so the command's package contains it.
cpSync("packages/opencode-plugin/dist", "packages/cli/dist/opencode-plugin", { recursive: true })
// `meridian serve --http` serves the page from its own folder.
cpSync("packages/web/dist", "packages/cli/dist/web", { recursive: true })
const declarations = spawnSync(process.execPath, ["tools/declarations.ts"], { stdio: "inherit" })
if (declarations.status !== 0) process.exitCode = 1
