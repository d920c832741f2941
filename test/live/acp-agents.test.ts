/** A real agent of the Agent Client Protocol as a harness: OpenCode, whose `acp` command speaks it. */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { expect, test } from "vitest"

import { liveScene } from "./harness-scene.ts"
import { meridianIn } from "./meridian-command.ts"

test("OpenCode over the protocol: a run that works in the folder, and its continuation in the same session", async () => {
  const scene = await liveScene("opencode")
  try {
    const home = scene.environment["HOME"] ?? ""
    const file = join(home, ".config/meridian/config.toml")
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `[harness.acp.opencode]\ncommand = ${JSON.stringify([scene.binary, "acp"])}\n`)
    const meridian = meridianIn(scene)
    const usage = { input: 1200, output: 7 }
    const script = [
      {
        text: "I look.",
        tools: [{ name: "read", input: { filePath: join(scene.project, "README.md") } }],
        usage,
      },
      { text: "It says lab.", usage },
      { text: "The number was 4711.", usage },
    ]
    await scene.provide(script, async (provider) => {
      const first = await meridian("run", "spawn", "--harness", "acp:opencode", "-p", "Look. 4711.", "--json")
      const run = JSON.parse(first.stdout)
      expect([first.stderr, run]).toMatchObject([
        expect.any(String),
        { status: "succeeded", harness: "acp:opencode", report: "It says lab." },
      ])
      const place = ["--space", run.space_id, "--json"]
      const second = await meridian("run", "continue", run.run_id, "-p", "Which number?", ...place)
      expect(JSON.parse(second.stdout)).toMatchObject({
        status: "succeeded",
        harness_session_id: run.harness_session_id,
        report: "The number was 4711.",
      })
      const last = JSON.stringify(provider.requests.at(-1)?.body)
      expect(last).toContain("Look. 4711.")
      expect(last).toContain("Which number?")
    })
  } finally {
    scene.close()
  }
})
