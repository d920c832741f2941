/**
 * The real coding agents, at exact versions, in a folder of this checkout. Apart from npm's caches, nothing global is read
 * or written, and removing `node_modules` removes them. Installing again costs one file read.
 */
import { spawnSync } from "node:child_process"
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

interface Installable {
  readonly npm: string
  readonly version: string
  /** The work of its install script, done here: npm runs no install scripts. */
  readonly prepare?: readonly [folder: string, script: string]
}

const INSTALLABLE = {
  opencode: {
    npm: "opencode-ai",
    version: "1.18.33",
    prepare: ["node_modules/opencode-ai", "postinstall.mjs"],
  },
  claude: {
    npm: "@anthropic-ai/claude-code",
    version: "2.1.325",
    prepare: ["node_modules/@anthropic-ai/claude-code", "install.cjs"],
  },
  codex: { npm: "@openai/codex", version: "0.166.0" },
  "mcp-inspector": { npm: "@modelcontextprotocol/inspector", version: "2.12.0" },
  bun: { npm: "bun", version: "1.3.14", prepare: ["node_modules/bun", "install.js"] },
} as const satisfies Record<string, Installable>

export type Harness = keyof typeof INSTALLABLE

export const versionOf = (name: Harness): string => INSTALLABLE[name].version

const ROOT = resolve(import.meta.dirname, "../../node_modules/.cache/harnesses")

/** The absolute path of the program. Installs it first when this checkout lacks that version. */
export const installHarness = (name: Harness): string => {
  const wanted: Installable = INSTALLABLE[name]
  const folder = join(ROOT, name)
  const program = join(folder, "node_modules/.bin", name)
  const stamp = join(folder, "installed")
  const identity = `${wanted.npm}@${wanted.version}`
  const complete = `${identity} with what it needs beside it`
  if (existsSync(program) && existsSync(stamp) && readFileSync(stamp, "utf8") === complete) return program
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "package.json"), `{ "private": true }\n`)
  run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", identity], folder)
  if (wanted.prepare !== undefined) {
    const [where, script] = wanted.prepare
    run(process.execPath, [script], join(folder, where))
  }
  if (name === "codex") linkSandbox(folder)
  writeFileSync(stamp, complete)
  return program
}

/** The search path of a real harness. */
export const HARNESS_PATH = `${dirname(process.execPath)}:${join(ROOT, "codex/helpers")}:/usr/bin:/bin`

/**
 * Inside the sandbox of an older system bubblewrap, Codex starts itself again by this name. It puts the name on the search
 * path itself, except when its home is among temporary files, as in these tests.
 */
const linkSandbox = (folder: string): void => {
  const [program] = globSync("node_modules/@openai/codex-*/vendor/*/bin/codex", { cwd: folder })
  if (program === undefined) throw new Error(`Codex lies somewhere else in ${folder} than it did`)
  const helpers = join(folder, "helpers")
  mkdirSync(helpers)
  symlinkSync(join(folder, program), join(helpers, "codex-linux-sandbox"))
}

const run = (command: string, args: readonly string[], cwd: string): void => {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    timeout: 280_000,
  })
  if (status === 0) return
  throw new Error(
    `${command} ${args.join(" ")} failed in ${cwd}: ${error?.message ?? ""}\n${stdout}\n${stderr}`,
  )
}
