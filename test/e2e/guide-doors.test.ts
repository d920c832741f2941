/** The guides to the ways in: their blocks run as they stand, in a new home. */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { expect, test } from "vitest"

import { BINARY, emptyFolder, SEARCH_PATH } from "./cli-binary.ts"

const FIXTURES = join(import.meta.dirname, "../fixture/sessions")

const blocks = (guide: string, language: string): readonly string[] =>
  [
    ...readFileSync(`docs/guide/${guide}.md`, "utf8").matchAll(
      new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"),
    ),
  ].map(([, block = ""]) => block)

interface Home {
  readonly folder: string
  readonly put: (path: string, text: string) => void
  /** What it wrote; fails with the first line that fails. */
  readonly run: (script: string) => string
}

const newHome = (): Home => {
  const folder = emptyFolder()
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text, { mode: 0o755 })
  }
  put("bin/meridian", `#!/bin/sh\nexec '${process.execPath}' '${BINARY}' "$@"\n`)
  mkdirSync(join(folder, "project/.git"), { recursive: true })
  const env = { PATH: `${join(folder, "bin")}:${SEARCH_PATH}`, HOME: folder }
  return {
    folder,
    put,
    run: (script) => {
      const ran = spawnSync("bash", ["-ec", script], { cwd: join(folder, "project"), env, encoding: "utf8" })
      expect([script, ran.status, ran.stderr]).toEqual([script, 0, expect.any(String)])
      return ran.stdout
    },
  }
}

const isOurs = (block: string): boolean => !/^(?:npm|npx) /m.test(block)

test("every command of the guide to installing works in a new home", () => {
  const { folder, run } = newHome()
  const mine = blocks("install", "sh").filter(isOurs)
  expect(mine.length).toBe(2)
  // Codex has a folder by the time somebody writes its configuration.
  mkdirSync(join(folder, ".codex"))
  for (const block of mine) run(block)
  for (const file of [".zfunc/_meridian", ".config/fish/completions/meridian.fish", ".codex/config.toml"])
    expect([file, existsSync(join(folder, file))]).toEqual([file, true])
})

test("every command of the guide to search works on sessions of these names", () => {
  const { put, run, folder } = newHome()
  const claude = readFileSync(join(FIXTURES, "claude.jsonl"), "utf8")
    .replaceAll("0f0e0d0c-1111-4222-8333-444455556666", "8956b66f-3c1e-4d2a-9b7f-0a1b2c3d4e5f")
    .replaceAll("/home/dev/project", join(folder, "project"))
    .replaceAll("Read the README.", "Mind the retry budget: migration, rollback, deadlock.")
  put(".claude/projects/p/8956b66f-3c1e-4d2a-9b7f-0a1b2c3d4e5f.jsonl", claude)
  const codex = "rollout-2026-11-15T13-26-52-01a1df63-a841-74e2-ad6a-4f16f37c54bd.jsonl"
  const rollout = readFileSync(join(FIXTURES, "codex.jsonl"), "utf8")
    .replaceAll("/home/dev/project", join(folder, "project"))
    .replaceAll("Read the README.", "A deadlock.")
  put(`.codex/sessions/2026/11/15/${codex}`, rollout)
  run("echo hello | meridian direct --headless --session ses_1a2b")
  const [search = "", exported = ""] = blocks("search", "sh")
  expect(run(search)).toContain("claude:8956b66f-3c1e-4d2a-9b7f-0a1b2c3d4e5f")
  run(exported)
  expect(readFileSync(join(folder, "project/session.html"), "utf8")).toContain("retry budget")
  expect(readFileSync(join(folder, "project/session.md"), "utf8")).toContain("hello")
})

test("the configurations of the guides to editors and telemetry are read as they stand", () => {
  const { put, run } = newHome()
  const [settings = ""] = blocks("editors", "json")
  expect(JSON.parse(settings)).toMatchObject({
    agent_servers: { Meridian: { command: "meridian", args: ["acp"] } },
  })
  put("bin/gemini", "#!/bin/sh\n")
  put(
    ".config/meridian/config.toml",
    [...blocks("editors", "toml"), ...blocks("telemetry", "toml")].join("\n"),
  )
  expect(run("meridian doctor --json || true")).toContain("acp:gemini")
  expect(run("meridian start --harness acp:gemini --dry-run")).toContain("acp-agent gemini")
  expect(run("meridian config get telemetry.otlp")).toContain("http://localhost:4318")
  const [scrape = ""] = blocks("telemetry", "yaml")
  const place = /credentials_file: \/home\/me\/(\S+)\/FILE/.exec(scrape)?.[1]
  expect(readFileSync("packages/cli/src/command/token-place.ts", "utf8")).toContain("http-token")
  expect(place).toBe(".local/state/meridian/http-token")
})
