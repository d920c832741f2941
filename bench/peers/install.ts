/** Installs the libraries that people would use instead, at exact versions, into the user's cache. */
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"

const DEPENDENCIES = {
  "@earendil-works/pi-coding-agent": "0.87.1",
  "@openai/agents": "0.20.0",
  "@langchain/core": "1.2.13",
  "@langchain/langgraph": "1.4.18",
  "@langchain/langgraph-checkpoint-sqlite": "1.0.4",
  "@langchain/openai": "1.6.0",
  zod: "4.6.7",
} as const

/**
 * Older versions of the first compile themselves during installation; this one ships its binaries. Newer versions of the
 * second want a package that this LangGraph does not know.
 */
const OVERRIDES = { "better-sqlite3": "13.0.3", "@langchain/langgraph-sdk": "1.12.0" }

const ROOT = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "meridian-bench-peers")

export const VERSIONS = {
  pi: DEPENDENCIES["@earendil-works/pi-coding-agent"],
  "openai-agents": DEPENDENCIES["@openai/agents"],
  langgraph: DEPENDENCIES["@langchain/langgraph"],
} as const

/** Returns the folder of the programs. Installs the libraries first unless these versions are there already. */
export const installPeers = (): string => {
  const manifest = `${JSON.stringify({ private: true, type: "module", dependencies: DEPENDENCIES, overrides: OVERRIDES })}\n`
  const stamp = join(ROOT, "installed")
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== manifest) {
    rmSync(ROOT, { recursive: true, force: true })
    mkdirSync(ROOT, { recursive: true })
    writeFileSync(join(ROOT, "package.json"), manifest)
    const { status, stderr } = spawnSync(
      "npm",
      ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"],
      { cwd: ROOT, encoding: "utf8", timeout: 600_000 },
    )
    if (status !== 0) throw new Error(`npm install failed in ${ROOT}: ${stderr}`)
    writeFileSync(stamp, manifest)
  }
  cpSync(join(import.meta.dirname, "programs"), ROOT, { recursive: true })
  return ROOT
}
