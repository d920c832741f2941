/** Our own engine, through the command that people use: a run of `direct`, continued once per round. */
import { readFileSync } from "node:fs"
import { resolve } from "node:path"

import type { ScriptTool } from "@meridian/engine/script"
import { parseObject, textAt } from "@meridian/protocol"

import type { MeasuredHost } from "./host.ts"
import { openScene } from "./scene.ts"
import { scriptOf, type Dialect } from "./script.ts"
import { AGENT, skillFile, type Act } from "./tale.ts"

const DIALECT: Dialect = {
  asksForSummary: { body: "Do not mention this task or the summarising" },
  small: 5_000,
  overflow: 1_200_000,
  tools: (act) => [toolOf(act)],
}

const bash = (command: string): ScriptTool => ({ name: "bash", input: { command } })

const toolOf = (act: Act): ScriptTool => {
  switch (act.kind) {
    case "say":
      return bash("true")
    case "shell":
      return bash(act.command)
    case "read":
      return { name: "read", input: { path: act.path } }
    case "skill":
      return { name: "skill", input: { name: act.name } }
    case "todo":
      return { name: "todo", input: { todos: act.items.map(({ content, status }) => ({ content, status })) } }
  }
}

const files = (): Readonly<Record<string, string>> => ({
  ...skillFile(".meridian/skills"),
  [`.meridian/agents/${AGENT}.md`]: `---\nname: ${AGENT}\ndescription: d\n---\nYou scout.\n`,
  ".meridian/config.toml": `[direct]\nmodel = "anthropic/claude-sonnet-4-6"\n`,
})

export const engine: MeasuredHost = {
  name: "our engine",
  canBeAlone: false,
  version: () =>
    textAt(
      parseObject(readFileSync(resolve(import.meta.dirname, "../../packages/engine/package.json"), "utf8")),
      "version",
    ) ?? "unknown",
  live: async (telling) => {
    const scene = await openScene(scriptOf(telling, DIALECT), files())
    try {
      const program = resolve(import.meta.dirname, "../../packages/cli/dist/meridian.js")
      let run: string | undefined
      for (const { prompt } of telling.rounds) {
        const words =
          run === undefined
            ? ["spawn", "--harness", "direct", "-a", AGENT]
            : ["continue", run, "--space", "s2"]
        const stdout = await scene.run(
          process.execPath,
          [program, "run", ...words, "--permission", "full-access", "--json", "-p", prompt],
          {
            environment: {
              ANTHROPIC_API_KEY: "sk-ant-test-000000000000",
              ANTHROPIC_BASE_URL: `${scene.url}/v1`,
              MERIDIAN_REPO_ROOT: scene.project,
              // In a separate space, because the run of the tale belongs to another conversation.
              MERIDIAN_SPACE_ID: "",
            },
          },
        )
        run = textAt(parseObject(stdout), "run_id")
      }
      return telling.rounds.map((_, index) => scene.after(index + 1))
    } finally {
      await scene.close()
    }
  },
}
