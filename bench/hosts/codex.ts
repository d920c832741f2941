/** Codex, headless: one process per round, resumed by its thread; our hook from `meridian init --codex`. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"

import type { ScriptTool } from "@meridian/engine/script"

import { installHarness } from "../../test/live/install-harnesses.ts"
import { hookTime } from "./hook-time.ts"
import type { MeasuredHost } from "./host.ts"
import { openScene, type Scene } from "./scene.ts"
import { scriptOf, type Dialect } from "./script.ts"
import { skillFile, type Act, type TodoEntry } from "./tale.ts"
import { versionOf } from "./version.ts"

const SKILLS = ".agents/skills"

const dialect = (): Dialect => {
  let hasGoal = false
  return {
    asksForSummary: { body: "CONTEXT CHECKPOINT" },
    small: 1_000,
    overflow: 39_000,
    tools: (act) => {
      if (act.kind !== "todo") return [toolOf(act)]
      const calls = goalsOf(hasGoal, act.items)
      hasGoal = true
      return calls
    },
  }
}

/** Codex keeps one goal and, for this model, no plan: the goal is what is open, and a new goal needs the old one done. */
const goalsOf = (hasGoal: boolean, items: readonly TodoEntry[]): readonly ScriptTool[] => {
  const open = items.filter(({ status }) => status === "pending" || status === "in_progress")
  const objective = open.map(({ content }) => content).join(", ")
  return [
    ...(hasGoal ? [{ name: "update_goal", input: { status: "complete" } }] : []),
    { name: "create_goal", input: { objective } },
  ]
}

const shell = (cmd: string): ScriptTool => ({ name: "exec_command", input: { cmd } })

const toolOf = (act: Exclude<Act, { kind: "todo" }>): ScriptTool => {
  switch (act.kind) {
    case "say":
      return shell("true")
    case "shell":
      return shell(act.command)
    case "read":
      return shell(`sed -n 1,20p ${act.path}`)
    case "skill":
      return shell(`cat ${SKILLS}/${act.name}/SKILL.md`)
  }
}

const ARGS = [
  "exec",
  "--json",
  "-s",
  "danger-full-access",
  "--disable",
  "plugins",
  "--dangerously-bypass-hook-trust",
]

const settings = (scene: Scene): readonly string[] =>
  [
    "model_provider=fake",
    "model=fake-model",
    "model_providers.fake.name=Fake",
    `model_providers.fake.base_url=${scene.url}/v1`,
    "model_providers.fake.wire_api=responses",
    "model_providers.fake.request_max_retries=0",
    "model_providers.fake.stream_max_retries=0",
    "model_context_window=40000",
    "model_auto_compact_token_limit=35000",
    "otel.metrics_exporter=none",
    "analytics.enabled=false",
  ].flatMap((setting) => ["-c", setting])

export const codex: MeasuredHost = {
  name: "Codex",
  canBeAlone: true,
  version: () => versionOf("codex"),
  live: async (telling) => {
    const scene = await openScene(scriptOf(telling, dialect()), skillFile(SKILLS))
    try {
      if (telling.withUs) await scene.meridian("init", "--codex")
      // What a user does once in Codex: trust the folder. The flag below trusts the hook itself.
      writeFileSync(
        join(scene.home, "config.toml"),
        `[projects."${scene.project}"]\ntrust_level = "trusted"\n`,
      )
      let thread: string | undefined
      for (const { prompt } of telling.rounds)
        await scene.run(
          installHarness("codex"),
          [
            ...ARGS,
            "-C",
            scene.project,
            ...settings(scene),
            ...(thread === undefined ? ["-"] : ["resume", thread, "-"]),
          ],
          {
            input: prompt,
            environment: { CODEX_HOME: scene.home },
            onOutput: (stdout) => {
              if (thread !== undefined) return
              thread = /"thread_id":"([^"]+)"/.exec(stdout)?.[1]
              // Codex has no agents. The agent that a conversation was launched with is in Meridian's record.
              if (thread !== undefined && telling.withUs) scene.recordLaunch(thread)
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
