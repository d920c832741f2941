/** OpenCode, headless: one process per round, continued by its session; our plugin from `meridian init --opencode`. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import type { ScriptTool } from "@meridian/engine/script"

import { installHarness } from "../../test/live/install-harnesses.ts"
import { hookTime } from "./hook-time.ts"
import type { MeasuredHost } from "./host.ts"
import { openScene, type Scene } from "./scene.ts"
import { scriptOf, type Dialect } from "./script.ts"
import { AGENT, skillFile, type Act } from "./tale.ts"
import { versionOf } from "./version.ts"

const WINDOW = { context: 40_000, output: 4_000 }

const DIALECT: Dialect = {
  asksForSummary: { system: "^You are a context summarization agent" },
  small: 800,
  overflow: 39_000,
  side: [{ label: "title", when: { system: "title generator" }, repeat: true, text: "A title" }],
  tools: (act) => [toolOf(act)],
}

const bash = (command: string): ScriptTool => ({ name: "bash", input: { command, description: "work" } })

const toolOf = (act: Act): ScriptTool => {
  switch (act.kind) {
    case "say":
      return bash("true")
    case "shell":
      return bash(act.command)
    case "read":
      return { name: "read", input: { filePath: act.path } }
    case "skill":
      return { name: "skill", input: { name: act.name } }
    case "todo":
      return { name: "todowrite", input: { todos: act.items.map((item) => ({ ...item, priority: "high" })) } }
  }
}

const ARGS = ["run", "--format", "json", "--auto", "--agent", AGENT]

const files = (): Readonly<Record<string, string>> => ({
  ...skillFile(".opencode/skills"),
  [`.opencode/agent/${AGENT}.md`]: "---\nmode: primary\n---\nYou scout.\n",
})

const configure = (scene: Scene): void => {
  const model = { name: "Small", limit: WINDOW }
  const provider = {
    npm: "@ai-sdk/openai-compatible",
    name: "Fake",
    options: { baseURL: `${scene.url}/v1`, apiKey: "fake" },
    models: { small: model },
  }
  writeFileSync(
    join(scene.project, "opencode.json"),
    JSON.stringify({
      model: "fake/small",
      enabled_providers: ["fake"],
      share: "disabled",
      autoupdate: false,
      provider: { fake: provider },
    }),
  )
  // Without this OpenCode waits for the npm registry before it loads a plugin.
  const lock = JSON.stringify({ packages: { "": { dependencies: { "@opencode-ai/plugin": "*" } } } })
  for (const folder of [join(scene.project, ".opencode"), join(scene.home, ".config/opencode")]) {
    mkdirSync(join(folder, "node_modules"), { recursive: true })
    writeFileSync(join(folder, "package-lock.json"), lock)
  }
  // Loading a skill lists its folder with ripgrep, which OpenCode would download.
  mkdirSync(join(scene.home, "bin"))
  writeFileSync(join(scene.home, "bin/rg"), "#!/bin/sh\nfind . -type f | sed 's#^\\./##'\n")
  chmodSync(join(scene.home, "bin/rg"), 0o755)
}

export const opencode: MeasuredHost = {
  name: "OpenCode",
  canBeAlone: true,
  version: () => versionOf("opencode"),
  live: async (telling) => {
    const scene = await openScene(scriptOf(telling, DIALECT), files())
    try {
      configure(scene)
      if (telling.withUs) await scene.meridian("init", "--opencode")
      let session: string | undefined
      for (const { prompt } of telling.rounds) {
        const stdout = await scene.run(
          installHarness("opencode"),
          [...ARGS, "--dir", scene.project, ...(session === undefined ? [] : ["--session", session])],
          {
            input: prompt,
            environment: {
              PATH: `${join(scene.home, "bin")}:/usr/bin:/bin`,
              OPENCODE_DISABLE_AUTOUPDATE: "1",
              OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
              OPENCODE_DISABLE_MODELS_FETCH: "1",
              OPENCODE_DISABLE_SHARE: "1",
              npm_config_fetch_retries: "0",
            },
          },
        )
        session ??= /"sessionID":"(ses_[^"]+)"/.exec(stdout)?.[1]
      }
      const ms = await hookTime(scene)
      return telling.rounds.map((_, index) => scene.after(index + 1, ms))
    } finally {
      await scene.close()
    }
  },
}
