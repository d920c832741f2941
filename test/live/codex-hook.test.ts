import { writeFileSync } from "node:fs"
import { join } from "node:path"

import { afterEach, expect, test } from "vitest"

import { openHookScene, type HookScene } from "./hook-scene.ts"
import { installHarness } from "./install-harnesses.ts"

const opened: HookScene[] = []
afterEach(async () => {
  for (const scene of opened.splice(0)) await scene.close()
})

const step = (label: string, input: number) => ({
  label,
  text: label,
  tools: [{ name: "exec_command", input: { cmd: "true" } }],
  usage: { input, output: 20 },
})

const summary = {
  label: "summary",
  when: { body: "CONTEXT CHECKPOINT" },
  repeat: true,
  text: "Nothing worth keeping.",
  usage: { input: 600, output: 20 },
}

const settings = (scene: HookScene): readonly string[] =>
  [
    "model_provider=fake",
    "model=fake-model",
    "model_providers.fake.name=Fake",
    `model_providers.fake.base_url=${scene.provider.url}/v1`,
    "model_providers.fake.wire_api=responses",
    "model_providers.fake.request_max_retries=0",
    "model_providers.fake.stream_max_retries=0",
    "model_context_window=8000",
    "model_auto_compact_token_limit=7000",
    "otel.metrics_exporter=none",
    "analytics.enabled=false",
  ].flatMap((setting) => ["-c", setting])

test("the installed hook puts the brief into the first request after each automatic compaction of Codex", async () => {
  const scene = await openHookScene([
    summary,
    step("first overflow", 9000),
    step("after first", 1000),
    step("second overflow", 9000),
    { label: "after second", text: "Done.", usage: { input: 500, output: 8 } },
  ])
  opened.push(scene)
  expect(await scene.meridian("init", "--codex")).toMatchObject({ exitCode: 0 })
  // What a person does once in Codex: trust the folder. Trusting the hook itself is the flag below.
  writeFileSync(join(scene.home, "config.toml"), `[projects."${scene.project}"]\ntrust_level = "trusted"\n`)
  const args = [
    "exec",
    "--json",
    "-s",
    "read-only",
    "-C",
    scene.project,
    "--skip-git-repo-check",
    "--disable",
    "plugins",
  ]
  const ended = await scene.run(
    installHarness("codex"),
    [...args, "--dangerously-bypass-hook-trust", ...settings(scene), "-"],
    { input: "go", environment: { CODEX_HOME: scene.home } },
  )
  expect(ended.exitCode).toBe(0)

  expect(scene.texts("summary")).toHaveLength(2)
  expect(scene.texts("first overflow")[0]).not.toContain("Stage-Aware Continuation")
  for (const label of ["after first", "after second"]) {
    const [after = ""] = scene.texts(label)
    expect(after).toContain("## Stage-Aware Continuation\n")
    expect(after).toContain("## Next Action\n- migrate the callers.")
  }
})
