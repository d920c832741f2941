/**
 * Names, reports and records that try to command the terminal on which they are shown. Every command, on a real terminal.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { describe, expect, test } from "vitest"

import { BINARY } from "../e2e/cli-binary.ts"
import { openPseudoTerminal } from "../e2e/pseudo-terminal.ts"
import { openAttack, type AttackScene } from "./attack-scene.ts"

/** Clears the screen, sets the title, rings, hides text, reverses its direction, and uses the 8-bit forms of the same. */
const EVIL =
  "\u001b[2J\u001b]0;pwned\u0007\u001b[31mred\u001b[8m\u009b2J\u009d0;x\u009c\u202egpj\u0008\u0000\u007f"
const FORGED = `x${EVIL}`

/** What a terminal obeys. The pseudo-terminal itself adds only carriage returns. */
// oxlint-disable-next-line eslint/no-control-regex -- these are what is looked for
const OBEYED = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u

/** For TOML and YAML, whose strings may not contain raw control characters. */
const quoted = (text: string): string =>
  JSON.stringify(text).replaceAll(
    /[\u007f-\u009f]/g,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )

const line = (fields: object): string => `${JSON.stringify(fields)}\n`

/** A space in which an attacker wrote every text. */
const hostileState = (): Readonly<Record<string, string>> => {
  const at = "2026-11-16T08:00:00.000Z"
  const space = ".meridian/.spaces/s1"
  return {
    [`${space}/space.json`]: JSON.stringify({
      schema_version: 1,
      id: "s1",
      name: FORGED,
      status: "active",
      started_at: at,
      finished_at: null,
    }),
    [`${space}/sessions.jsonl`]:
      line({
        v: 1,
        event: "start",
        chat_id: "c1",
        harness: `claude${EVIL}`,
        harness_session_id: FORGED,
        model: FORGED,
        agent: FORGED,
        params: [FORGED],
        cwd: FORGED,
        started_at: at,
      }) + line({ v: 1, event: "stop", chat_id: "c1", stopped_at: at }),
    [`${space}/runs.jsonl`]:
      line({
        v: 1,
        event: "start",
        id: "r1",
        chat_id: "c1",
        model: FORGED,
        agent: FORGED,
        skills: [FORGED],
        harness: `claude${EVIL}`,
        status: "running",
        cwd: FORGED,
        started_at: at,
      }) +
      line({
        v: 1,
        event: "finalize",
        id: "r1",
        status: "failed",
        exit_code: 1,
        error: FORGED,
        message: FORGED,
        finished_at: at,
      }) +
      `not json ${EVIL}\n` +
      line({ v: 1, event: "update", id: "r1", harness_session_id: FORGED }),
    [`${space}/runs/r1/report.md`]: `The report. ${EVIL}\n`,
    [`${space}/runs/r1/events.jsonl`]: line({ v: 1, type: "file", path: FORGED, change: "written" }),
    ".meridian/config.toml": `[harness]\nclaude = ${quoted(FORGED)}\n[providers.evil]\nmodels = [${quoted(FORGED)}]\n`,
    ".meridian/models.toml": `[models.${quoted("m\u001b[2J")}]\nharness = "codex"\nrole = ${quoted(FORGED)}\nstrengths = ${quoted(FORGED)}\naliases = [${quoted("a\u001b[2J")}]\n`,
    ".claude/skills/plan/SKILL.md": `---\nname: plan\ndescription: ${quoted(FORGED)}\ntags: [${quoted(FORGED)}]\n---\nBody ${EVIL}\n`,
    ".claude/agents/agent.md": `---\nname: ${quoted(`agent${EVIL}`)}\ndescription: ${quoted(FORGED)}\nsandbox: full-access\nskills: [${quoted(FORGED)}]\n---\nBody\n`,
  }
}

/** Every byte that a terminal got, and how the command ended. */
const onTerminal = async (scene: AttackScene, words: readonly string[], answer?: string) => {
  const terminal = openPseudoTerminal(process.execPath, [BINARY, ...words], {
    cwd: scene.folder,
    // Live lines move the cursor with our own sequences. Without them, every sequence found is foreign.
    env: { ...scene.env, TERM: "dumb" },
    columns: 240,
    rows: 60,
  })
  if (answer !== undefined) {
    await terminal.until("[y/N]")
    terminal.type(answer)
  }
  const { code } = await terminal.exited
  return { bytes: terminal.bytes(), code }
}

const SPACE = ["--space", "s1"]

describe("no text of a record, file or name commands the terminal", () => {
  test.each([
    [[], "s1"],
    [["space", "list"], "s1"],
    [["space", "show", "s1"], "c1"],
    [["run", "list", ...SPACE], "r1"],
    [["run", "list", ...SPACE, "--json"], "r1"],
    [["run", "show", "r1", ...SPACE], "r1"],
    [["run", "show", "r1", ...SPACE, "--report"], "r1"],
    [["run", "show", "r1", ...SPACE, "--json", "--report"], "The report."],
    [["run", "wait", "r1", ...SPACE, "--report"], "r1"],
    [["run", "stats", ...SPACE], "total_runs"],
    [["run", "files", "r1", ...SPACE], "x"],
    [["run", "continue", "r1", ...SPACE, "-p", "hi"], "ERROR"],
    [["run", "spawn", "-p", "hi", "--dry-run"], "x"],
    [["start", "--continue", "c1", ...SPACE, "--dry-run"], "ERROR"],
    [["skills", "list", ...SPACE], "plan"],
    [["skills", "list", ...SPACE, "--json"], "plan"],
    [["skills", "show", "plan", ...SPACE], "Body"],
    [["models", "list"], "codex"],
    [["models", "show", "m\u001b[2J"], "codex"],
    [["config", "show"], "ignored"],
    [["config", "get", "harness.claude"], "claude"],
    [["trust", "--dry-run"], "harness.claude"],
    [["doctor"], "damaged_log"],
    [["space", "show", FORGED], "ERROR"],
    [["run", "show", FORGED, ...SPACE], "ERROR"],
    [[FORGED], "ERROR"],
    [["run", "spawn", "-m", FORGED, "-p", "hi"], "ERROR"],
  ] as const)("%j", async (words, shown) => {
    const scene = openAttack(hostileState())
    scene.harness("codex")
    const { bytes } = await onTerminal(scene, words)
    expect([bytes.includes(shown), OBEYED.exec(bytes)?.[0]]).toEqual([true, undefined])
  })

  test("the report of a run", async () => {
    const scene = openAttack()
    scene.harness("claude", { answer: `All done. ${EVIL}` })
    const { bytes, code } = await onTerminal(scene, ["run", "spawn", "-p", "hi"])
    expect([code, bytes.includes("All done."), OBEYED.exec(bytes)?.[0]]).toEqual([0, true, undefined])
  })

  test("the failure of a run", async () => {
    const scene = openAttack()
    scene.harness("claude", { exitCode: 1, stderr: `it broke ${EVIL}` })
    const { bytes, code } = await onTerminal(scene, ["run", "spawn", "-p", "hi"])
    expect([code, bytes.includes("status=failed"), OBEYED.exec(bytes)?.[0]]).toEqual([1, true, undefined])
  })

  test("the trust question", async () => {
    const scene = openAttack({
      ".meridian/config.toml": `[harness]\nclaude = ${quoted(FORGED)}\n`,
    })
    scene.harness("claude")
    const { bytes } = await onTerminal(scene, ["start"], "n\r")
    // The line editor moves the cursor itself.
    // oxlint-disable-next-line eslint/no-control-regex -- its own sequences
    const told = bytes.replaceAll(/\u001b\[(?:\d*G|0?J)/g, "")
    expect([told.includes("harness.claude = x"), OBEYED.exec(told)?.[0]]).toEqual([true, undefined])
  })
})

describe("no name forges a row or a line", () => {
  test("of a list", async () => {
    const scene = openAttack()
    const document = { schema_version: 1, id: "s1", status: "active", started_at: "2026-11-16T08:00:00.000Z" }
    const path = join(scene.folder, ".meridian/.spaces/s1/space.json")
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, JSON.stringify({ ...document, name: "x\ns9  active  yours", finished_at: null }))
    const ran = await scene.run(["space", "list"])
    expect(ran.stdout.trimEnd().split("\n")).toHaveLength(1)
  })

  test("of an error", async () => {
    const scene = openAttack()
    const ran = await scene.run(["run", "show", "r1\nERROR [FORGED]: pay me", "--space", "s1"])
    expect(ran.stderr.trimEnd().split("\n")).toHaveLength(1)
  })

  test("of a warning", async () => {
    const scene = openAttack({ ".meridian/config.toml": '["a\\nWARNING [FORGED]: b"]\nkey = 1\n' })
    const ran = await scene.run(["config", "get", "runs.max_parallel"])
    expect(ran.stderr.split("\n").filter((row) => row.startsWith("WARNING [FORGED]"))).toEqual([])
    expect(ran.stderr).toContain("CONFIG_KEY_UNKNOWN")
  })
})
