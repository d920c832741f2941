/** Agents call `meridian` and must find the program that launched them. */
import { spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { installPretendHarness, type PretendName } from "@meridian/testkit"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { expect, test } from "vitest"

import { verifies } from "../verifies.ts"
import { BINARY, emptyFolder, meridian, SEARCH_PATH } from "./cli-binary.ts"

/** A folder with another `meridian`, and pretend harnesses, on the PATH. */
const scene = () => {
  const cwd = emptyFolder()
  const bin = join(emptyFolder(), "bin")
  mkdirSync(bin)
  writeFileSync(join(bin, "meridian"), "#!/bin/sh\necho somebody else\n", { mode: 0o755 })
  const env = { PATH: `${bin}:${dirname(process.execPath)}:${SEARCH_PATH}`, HOME: emptyFolder() }
  const install = (as: PretendName) => installPretendHarness(bin, { as, behaviour: { answer: "Done." } })
  return { cwd, env, install }
}

for (const harness of ["claude", "codex", "opencode"] as const)
  verifies(
    "launch.finds-meridian",
    async () => {
      const { cwd, env, install } = scene()
      const pretend = install(harness)
      const ran = await meridian(["run", "spawn", "--harness", harness, "-p", "x"], { cwd, env })
      expect(ran.code).toBe(0)
      const [call] = pretend.calls()
      const said = spawnSync("sh", ["-c", "meridian run list --format json; command -v meridian"], {
        cwd,
        env: call?.env ?? {},
        encoding: "utf8",
      })
      const [list = "", found] = said.stdout.split("\n")
      expect(JSON.parse(list)).toMatchObject({ runs: [{ run_id: "r1" }] })
      expect(found).toBe(call?.env["MERIDIAN_COMMAND"])
    },
    harness,
  )

test("Codex is told the PATH as a setting, since its login shell drops the variable; a dry run shows no PATH", async () => {
  const { cwd, env, install } = scene()
  const codex = install("codex")
  await meridian(["run", "spawn", "--harness", "codex", "-p", "x"], { cwd, env })
  const [call] = codex.calls()
  const setting = call?.argv.find((word) => word.startsWith("shell_environment_policy"))
  expect(setting).toBe(`shell_environment_policy.set.PATH=${JSON.stringify(call?.env["PATH"])}`)
  const dry = await meridian(["run", "spawn", "--harness", "codex", "-p", "x", "--dry-run"], { cwd, env })
  expect(dry.stdout).not.toContain("shell_environment_policy")
})

interface Pasted {
  readonly command: string
  readonly args: readonly string[]
}

/** For each host, how its configuration names the program. */
const READ: Readonly<Record<string, (config: string) => Pasted>> = {
  claude: (config) => JSON.parse(config).mcpServers.meridian,
  json: (config) => JSON.parse(config).mcpServers.meridian,
  opencode: (config) => {
    const [command, ...args] = JSON.parse(config).mcp.meridian.command
    return { command, args }
  },
  codex: (config) => ({
    command: JSON.parse(/^command = (.*)$/m.exec(config)?.[1] ?? ""),
    args: JSON.parse(/^args = (.*)$/m.exec(config)?.[1] ?? ""),
  }),
}

for (const [host, read] of Object.entries(READ))
  verifies(
    "serve.print-config",
    async () => {
      const cwd = emptyFolder()
      const printed = await meridian(["serve", "--print-config", host], { cwd })
      expect([printed.code, printed.stderr]).toEqual([0, ""])
      const { command, args } = read(printed.stdout)
      expect([command, args]).toEqual([process.execPath, [BINARY, "serve"]])
      const client = new Client({ name: "test", version: "1" })
      // A host with an empty PATH and another working directory.
      await client.connect(new StdioClientTransport({ command, args: [...args], env: { HOME: cwd }, cwd }))
      try {
        const { tools } = await client.listTools()
        expect(tools.map(({ name }) => name)).toContain("run_spawn")
      } finally {
        await client.close()
      }
    },
    host,
  )

test("--print-config takes one of four hosts, and is no business of --http", async () => {
  const wrong = await meridian(["serve", "--print-config", "emacs"])
  expect([wrong.code, wrong.stdout]).toEqual([2, ""])
  expect(wrong.stderr).toMatch(
    /^ERROR \[USAGE\]: --print-config must be one of claude, codex, opencode, json/,
  )
  expect((await meridian(["serve", "--print-config", "json", "--http"])).stderr).toMatch(
    /^ERROR \[USAGE\]: Cannot combine --print-config with --http/,
  )
})
