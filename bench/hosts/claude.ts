/** Claude Code, headless: one process per round, resumed by its session id; our hook from `meridian init --claude`. */
import type { ScriptTool } from "@meridian/engine/script"

import { installHarness } from "../../test/live/install-harnesses.ts"
import { hookTime } from "./hook-time.ts"
import type { MeasuredHost } from "./host.ts"
import { openScene } from "./scene.ts"
import { scriptOf, type Dialect } from "./script.ts"
import { AGENT, skillFile, type Act, type TodoEntry } from "./tale.ts"
import { versionOf } from "./version.ts"

const SESSION = "6f9d2c9e-6d5a-4d1c-9a52-0a5f7a3a1b11"

const ARGS = [
  "-p",
  "--output-format",
  "stream-json",
  "--verbose",
  "--autocompact",
  "100000",
  "--agents",
  JSON.stringify({ [AGENT]: { description: "d", prompt: "You scout." } }),
  "--agent",
  AGENT,
]
const TOOLS = ["Bash", "Read", "Skill", "TaskCreate", "TaskUpdate"]

const dialect = (): Dialect => {
  let known: readonly TodoEntry[] = []
  return {
    asksForSummary: { body: "detailed summary|<summary>" },
    summary: (text) => `<analysis>none</analysis><summary>${text}</summary>`,
    small: 5_000,
    overflow: 150_000,
    tools: (act) => {
      if (act.kind !== "todo") return [toolOf(act)]
      const calls = tasksOf(known, act.items)
      known = act.items
      return calls
    },
  }
}

const bash = (command: string): ScriptTool => ({ name: "Bash", input: { command, description: "work" } })

const toolOf = (act: Exclude<Act, { kind: "todo" }>): ScriptTool => {
  switch (act.kind) {
    case "say":
      return bash("true")
    case "shell":
      return bash(act.command)
    case "read":
      return { name: "Read", input: { file_path: act.path } }
    case "skill":
      return { name: "Skill", input: { skill: act.name } }
  }
}

/** Tasks are created once and changed by number. */
const tasksOf = (known: readonly TodoEntry[], items: readonly TodoEntry[]): readonly ScriptTool[] => [
  ...items.slice(known.length).map(({ content }) => ({
    name: "TaskCreate",
    input: { subject: content, description: content },
  })),
  ...items.flatMap(({ status }, index) =>
    status === (known[index]?.status ?? "pending")
      ? []
      : [
          {
            name: "TaskUpdate",
            input: { taskId: String(index + 1), status: status === "cancelled" ? "deleted" : status },
          },
        ],
  ),
]

export const claude: MeasuredHost = {
  name: "Claude Code",
  canBeAlone: true,
  version: () => versionOf("claude"),
  live: async (telling) => {
    const scene = await openScene(scriptOf(telling, dialect()), skillFile(".claude/skills"))
    try {
      if (telling.withUs) await scene.meridian("init", "--claude")
      for (const [index, { prompt }] of telling.rounds.entries())
        await scene.run(
          installHarness("claude"),
          [
            ...ARGS,
            ...(index === 0 ? ["--session-id", SESSION] : ["--resume", SESSION]),
            "--allowedTools",
            ...TOOLS,
          ],
          {
            input: prompt,
            environment: {
              ANTHROPIC_BASE_URL: scene.url,
              ANTHROPIC_API_KEY: "fake",
              CLAUDE_CONFIG_DIR: `${scene.home}/.claude`,
              CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
              CLAUDE_CODE_ENABLE_TODO_TOOLS: "1",
              CLAUDE_CODE_MAX_RETRIES: "1",
              DISABLE_AUTOUPDATER: "1",
              DISABLE_ERROR_REPORTING: "1",
              DISABLE_TELEMETRY: "1",
            },
          },
        )
      const ms = await hookTime(scene)
      return telling.rounds.map((_, index) => scene.after(index + 1, ms))
    } finally {
      await scene.close()
    }
  },
}
