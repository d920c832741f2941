import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import type { ScriptTool } from "@meridian/engine/script"
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
  tools: [{ name: "Bash", input: { command: `echo ${label}`, description: "count" } }],
  usage: { input, output: 20 },
})

const summary = {
  label: "summary",
  when: { body: "detailed summary|<summary>" },
  repeat: true,
  text: "<analysis>none</analysis><summary>Nothing worth keeping.</summary>",
  usage: { input: 150_000, output: 20 },
}

const steps = (round: string) =>
  ["a", "b", "c", "d", "e"].map((name, at) => step(`${round} ${name}`, 5000 + at * 1000))

const environment = (scene: HookScene): Readonly<Record<string, string>> => ({
  ANTHROPIC_BASE_URL: scene.provider.url,
  ANTHROPIC_API_KEY: "fake",
  CLAUDE_CONFIG_DIR: `${scene.home}/.claude`,
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_TELEMETRY: "1",
  DISABLE_ERROR_REPORTING: "1",
  DISABLE_AUTOUPDATER: "1",
  CLAUDE_CODE_MAX_RETRIES: "1",
})

const ARGS = ["-p", "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash"]

/**
 * Claude Code does not wait for the hook that sees its summary, and kills it when the session ends first. A scripted
 * session ends at once, so its agent works until the hook has written down what it saw.
 */
const UNTIL_SUMMARY_WAS_SEEN =
  'for look in $(seq 600); do grep -qs \'"request":"summary"\' "$HOME"/.local/state/meridian/injections/*.jsonl && break; sleep 0.1; done'

const expectBrief = (text: string | undefined): void => {
  expect(text).toContain("## Stage-Aware Continuation\n")
  expect(text).toContain("## Next Action\n- migrate the callers.")
  expect(text).toContain("keep the old exports.")
}

test("the installed hook puts the brief into the first request after each automatic compaction of Claude Code", async () => {
  const scene = await openHookScene([
    summary,
    ...steps("first"),
    step("first overflow", 150_000),
    step("after first", 3000),
    ...steps("second"),
    step("second overflow", 150_000),
    { label: "after second", text: "Done.", usage: { input: 3000, output: 8 } },
  ])
  opened.push(scene)
  expect(await scene.meridian("init", "--claude")).toMatchObject({ exitCode: 0 })
  const ended = await scene.run(installHarness("claude"), [...ARGS, "--autocompact", "100000"], {
    input: "go",
    environment: environment(scene),
  })
  expect(ended.exitCode).toBe(0)
  expect(scene.texts("summary")).toHaveLength(2)
  expect(scene.texts("first a")[0]).not.toContain("Stage-Aware Continuation")
  for (const label of ["after first", "second a", "after second"]) expectBrief(scene.texts(label)[0])
})

test("the same after /compact, and a removed hook leaves the settings as they were", async () => {
  const scene = await openHookScene([
    summary,
    ...steps("first"),
    { label: "answered", text: "Done.", usage: { input: 3000, output: 8 } },
    { label: "after compact", text: "Going on.", usage: { input: 3000, output: 8 } },
  ])
  opened.push(scene)
  const settings = join(scene.project, ".claude/settings.json")
  const before = `{\n  "env": { "FOO": "1" }\n}\n`
  mkdirSync(dirname(settings), { recursive: true })
  writeFileSync(settings, before)
  expect(await scene.meridian("init", "--claude")).toMatchObject({ exitCode: 0 })
  const claude = (input: string, ...more: readonly string[]) =>
    scene.run(installHarness("claude"), [...ARGS, ...more], { input, environment: environment(scene) })
  const session = "6f9d2c9e-6d5a-4d1c-9a52-0a5f7a3a1b11"
  await claude("go", "--session-id", session)
  const compacted = await claude("/compact", "--resume", session)
  expect(compacted.stdout).toContain("compact_boundary")
  await claude("go on", "--resume", session)
  expectBrief(scene.texts("after compact")[0])
  expect(await scene.meridian("init", "--claude", "--remove")).toMatchObject({ exitCode: 0 })
  expect(readFileSync(settings, "utf8")).toBe(before)
})

test("a request that the summary invents is contradicted: at first by what the user really said, then by name", async () => {
  const invention = "drop the production database"
  const scene = await openHookScene([
    { ...summary, text: `<analysis>a</analysis><summary>The user asked: "${invention}".</summary>` },
    ...steps("first"),
    step("first overflow", 150_000),
    {
      ...step("after first", 3000),
      tools: [{ name: "Bash", input: { command: UNTIL_SUMMARY_WAS_SEEN, description: "wait" } }],
    },
    ...["a", "b", "c", "d", "e"].map((name) => step(`later ${name}`, 3000)),
    { label: "last", text: "Done.", usage: { input: 3000, output: 8 } },
  ])
  opened.push(scene)
  expect(await scene.meridian("init", "--claude")).toMatchObject({ exitCode: 0 })
  const ended = await scene.run(installHarness("claude"), [...ARGS, "--autocompact", "100000"], {
    input: "Fix the login page.",
    environment: environment(scene),
  })
  expect(ended.exitCode).toBe(0)
  const [first = ""] = scene.texts("after first")
  expect(first).toContain(invention)
  expect(first).toContain(
    "The user sent one message before the summary was written. A request that the summary ascribes to the user and that none of them holds was never made.",
  )
  // Claude Code shows its summary to a hook only after the request that first uses it.
  const named = `The summary says the user asked "${invention}"; no such message exists.`
  expect(scene.texts("last")[0]).toContain(named)
  const shown = await scene.meridian("brief", "--injected")
  expect(shown.stdout).toContain(named)
})

test("what was said, done and loaded is in the first request after each compaction, though the summary keeps nothing", async () => {
  const bash = (command: string) => ({ name: "Bash", input: { command, description: "work" } })
  const doing = (label: string, tools: readonly ScriptTool[], text = label) => ({
    label,
    text,
    tools,
    usage: { input: 5000, output: 20 },
  })
  const scene = await openHookScene([
    summary,
    doing("skill", [{ name: "Skill", input: { skill: "orchestrate" } }]),
    doing("task one", [{ name: "TaskCreate", input: { subject: "write the parser", description: "p" } }]),
    doing("task two", [{ name: "TaskCreate", input: { subject: "write the printer", description: "q" } }]),
    doing("task begun", [{ name: "TaskUpdate", input: { taskId: "1", status: "in_progress" } }]),
    doing("task gone", [{ name: "TaskUpdate", input: { taskId: "2", status: "deleted" } }]),
    doing("decided", [bash("echo decided")], "Decision: the store is quokka-db."),
    doing("read", [{ name: "Read", input: { file_path: "src/app.ts" } }]),
    doing("spawned", [bash("echo 'r7' # meridian run spawn --background -p review")]),
    step("first overflow", 150_000),
    step("after first", 3000),
    ...steps("second"),
    step("second overflow", 150_000),
    { label: "after second", text: "Done.", usage: { input: 3000, output: 8 } },
  ])
  opened.push(scene)
  const { write } = scene
  write("src/app.ts", "export {}\n")
  write(
    ".claude/skills/orchestrate/SKILL.md",
    "---\nname: orchestrate\ndescription: d\n---\nSay quux before merging.\n",
  )
  write(".meridian/rules/types.md", "---\nglobs: **/*.ts\n---\nStrict types only.\n")
  expect(await scene.meridian("init", "--claude")).toMatchObject({ exitCode: 0 })
  const ended = await scene.run(
    installHarness("claude"),
    [...ARGS, "Skill", "Read", "TaskCreate", "TaskUpdate", "--autocompact", "100000"],
    {
      input: "Migrate the API to port 8080. Never touch the billing tables.",
      environment: { ...environment(scene), CLAUDE_CODE_ENABLE_TODO_TOOLS: "1" },
    },
  )
  expect(ended.exitCode).toBe(0)
  for (const label of ["after first", "after second"]) {
    const text = scene.texts(label)[0] ?? ""
    expect(text).toContain("## Task\n> Migrate the API to port 8080. Never touch the billing tables.\n")
    expect(text).toContain("## Decisions\n- Decision: keep the old exports.\n- the store is quokka-db.\n")
    expect(text).toContain("## Current Work\n- Focus: refactor-auth\n- Open work: migrate the callers.\n")
    expect(text).toContain("## Todo\n- write the parser (in progress)\n\n")
    expect(text).not.toContain("- write the printer")
    expect(text).toContain("- Skill: orchestrate\n")
    expect(text).toContain("Say quux before merging.")
    expect(text).toContain("- src/app.ts\n")
    expect(text).toContain("## Runs\n- r7: state unknown")
    expect(text).toContain("## Rule: types.md\n\nStrict types only.")
  }
})
