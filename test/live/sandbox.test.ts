/** The real CLIs in bubblewrap: their edits land in the project and nowhere else, and their runs end well. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import type { JsonObject } from "@meridian/protocol"
import { expect, test } from "vitest"

import { canSandbox } from "../scene/sandbox.ts"
import { liveScene, type RealName } from "./harness-scene.ts"
import { meridianIn } from "./meridian-command.ts"

interface Call {
  readonly name: string
  readonly input: JsonObject
}

interface Case {
  readonly model: string
  readonly write: (path: string) => Call
  readonly shell: (command: string) => Call
}

const CASES: Readonly<Record<RealName, Case>> = {
  claude: {
    model: "sonnet",
    write: (path) => ({ name: "Write", input: { file_path: path, content: "made\n" } }),
    shell: (command) => ({ name: "Bash", input: { command, description: "x" } }),
  },
  codex: {
    model: "gpt-5.3-codex",
    write: (path) => ({
      name: "exec_command",
      input: { cmd: `echo made > '${path}'`, yield_time_ms: 30_000 },
    }),
    shell: (command) => ({ name: "exec_command", input: { cmd: command, yield_time_ms: 30_000 } }),
  },
  opencode: {
    model: "fake/small",
    write: (path) => ({ name: "write", input: { filePath: path, content: "made\n" } }),
    shell: (command) => ({ name: "bash", input: { command, description: "x" } }),
  },
}

/** Without a sandbox, a run is refused before a harness starts: `sandbox.absent` proves that. */
test.runIf(canSandbox).for<RealName>(["claude", "opencode", "codex"])(
  "%s works in the sandbox",
  async (name) => {
    const scene = await liveScene(name)
    try {
      const { model, write, shell } = CASES[name]
      const home = scene.environment["HOME"] ?? ""
      mkdirSync(join(home, ".ssh"))
      writeFileSync(join(home, ".ssh/id"), "a secret key")
      const inside = join(scene.project, "inside.txt")
      const outside = join(home, "outside.txt")
      const script = [
        { tools: [write(inside)] },
        { tools: [shell(`echo x > ${outside}; cat ${home}/.ssh/id; echo by-shell > shell.txt`)] },
        { tools: [write(outside)] },
        { text: "Done." },
      ]
      await scene.provide(script, async (provider) => {
        const words = ["run", "spawn", "-m", model, "--permission", "danger", "--sandbox"]
        const run = await meridianIn(scene)(...words, "-p", "Work.", "--json")
        expect(run).toMatchObject({ exitCode: 0 })
        // oxlint-disable-next-line eslint/no-restricted-properties -- the document of our own command
        expect(JSON.parse(run.stdout)).toMatchObject({
          status: "succeeded",
          sandbox: { by: "bubblewrap", network: "on" },
        })
        const asked = provider.requests.map(({ body }) => JSON.stringify(body)).join("\n")
        // Requests are too long to show when one lacks this. Every shell has its own spelling.
        expect(/read-only file system/i.test(asked)).toBe(true)
        expect(asked.includes("a secret key")).toBe(false)
        expect(readFileSync(inside, "utf8")).toBe("made\n")
        expect(readFileSync(join(scene.project, "shell.txt"), "utf8")).toBe("by-shell\n")
        expect(existsSync(outside)).toBe(false)
      })
    } finally {
      scene.close()
    }
  },
)
