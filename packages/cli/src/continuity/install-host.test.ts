import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { Failure, parseObject } from "@meridian/protocol"
import { afterEach, beforeEach, expect, test } from "vitest"

import { carriedContinuity, checkHost, installHost, makeBrief } from "./index.ts"

let root = ""
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "meridian-install-"))
  mkdirSync(join(root, ".git"))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const install = (host: string, remove = false, path = "") =>
  installHost({ cwd: root, env: { PATH: path }, program: ["/opt/no de", "/opt/meridian.js"], host, remove })

const failureOf = (act: () => unknown): string => {
  try {
    act()
    return "none"
  } catch (error) {
    return error instanceof Failure ? error.code : String(error)
  }
}

test("the command is this program if no meridian is on the PATH, and the short name if one is", () => {
  install("claude")
  expect(readFileSync(join(root, ".claude/settings.json"), "utf8")).toContain(
    String.raw`"command": "\"/opt/no de\" \"/opt/meridian.js\" brief --host claude"`,
  )
  mkdirSync(join(root, "bin"))
  writeFileSync(join(root, "bin/meridian"), "", { mode: 0o755 })
  expect(install("claude", false, join(root, "bin")).action).toBe("updated")
  expect(readFileSync(join(root, ".claude/settings.json"), "utf8")).toContain(
    `"command": "meridian brief --host claude"`,
  )
})

test("a meridian that npx put on the PATH is not taken for an installed one", () => {
  mkdirSync(join(root, "node_modules/.bin"), { recursive: true })
  writeFileSync(join(root, "node_modules/.bin/meridian"), "", { mode: 0o755 })
  install("claude", false, join(root, "node_modules/.bin"))
  expect(readFileSync(join(root, ".claude/settings.json"), "utf8")).toContain("/opt/meridian.js")
})

test("from a folder inside the project the settings of the project change", () => {
  mkdirSync(join(root, "src/deep"), { recursive: true })
  const { path } = installHost({
    cwd: join(root, "src/deep"),
    env: {},
    program: ["n"],
    host: "codex",
    remove: false,
  })
  expect(path).toBe(join(root, ".codex/hooks.json"))
})

test("an invalid file is an error and keeps its bytes", () => {
  mkdirSync(join(root, ".claude"))
  writeFileSync(join(root, ".claude/settings.json"), "{ oops")
  expect(failureOf(() => install("claude"))).toBe("HOOK_SETTINGS_INVALID")
  expect(readFileSync(join(root, ".claude/settings.json"), "utf8")).toBe("{ oops")
})

test("a linked settings file stays a link and keeps its mode", () => {
  mkdirSync(join(root, ".claude"))
  writeFileSync(join(root, "shared.json"), "{}")
  chmodSync(join(root, "shared.json"), 0o640)
  symlinkSync("../shared.json", join(root, ".claude/settings.json"))
  expect(install("claude").action).toBe("installed")
  expect(readFileSync(join(root, "shared.json"), "utf8")).toContain("SessionStart")
  expect(statSync(join(root, "shared.json")).mode & 0o777).toBe(0o640)
})

test("a byte order mark at the beginning of the file is harmless and stays", () => {
  mkdirSync(join(root, ".claude"))
  const before = '\uFEFF{\n  "model": "opus"\n}\n'
  writeFileSync(join(root, ".claude/settings.json"), before)
  expect(install("claude").action).toBe("installed")
  expect(install("claude", true).action).toBe("removed")
  expect(readFileSync(join(root, ".claude/settings.json"), "utf8")).toBe(before)
})

test("another plugin file is neither overwritten nor removed", () => {
  mkdirSync(join(root, ".opencode/plugins"), { recursive: true })
  writeFileSync(join(root, ".opencode/plugins/meridian.ts"), "export default {}")
  expect(failureOf(() => install("opencode", true))).toBe("PLUGIN_NOT_OURS")
})

test("an unknown host is an error", async () => {
  expect(failureOf(() => install("emacs"))).toBe("HOST_UNKNOWN")
  await expect(makeBrief({ cwd: root, env: {}, host: "emacs" })).rejects.toMatchObject({
    code: "HOST_UNKNOWN",
  })
})

test("the brief for a hook is the JSON both agents read, and empty if nothing is known", async () => {
  const nobody = { cwd: root, env: {}, hook: () => Promise.resolve(undefined) }
  expect(await makeBrief({ ...nobody, host: "codex" })).toMatchObject({ output: "", tokens: 0 })
  writeFileSync(
    join(root, "SESSION.md"),
    "[Focus: auth] 2026-04-01\n- done it\n\n## Next Operator Brief\n- Open Work: finish it\n",
  )
  const text = await makeBrief({ cwd: root, env: {} })
  expect(text.output.startsWith("## Stage-Aware Continuation\n")).toBe(true)
  const hook = await makeBrief({ ...nobody, host: "codex" })
  expect(JSON.parse(hook.output)).toEqual({
    hookSpecificOutput: {
      hookEventName: "SessionStart",
      additionalContext: `## Stage-Aware Continuation
Preserve the canonical workflow names exactly. Treat this as the authoritative resume brief for compaction continuity.
Older history is not lost: search it with the MCP tool \`recall\` or \`meridian recall WORDS\`, read it with \`expand\`.

## Primary Objective
- Finish it

## Current Work
- Focus: auth
- Open work: finish it

## Next Action
- finish it`,
    },
  })
})

test.each(["claude", "codex", "opencode"] as const)(
  "%s connected for the user is connected in every project, and the project stays untouched",
  (host) => {
    const env = { HOME: join(root, "home"), PATH: "" }
    const scene = { cwd: root, env, harnesses: [] }
    const input = { cwd: root, env, program: ["/opt/node", "/opt/meridian.js"], host, user: true }
    expect(checkHost(host, scene)).toMatchObject({ connected: false, current: false })
    const { path, action } = installHost({ ...input, remove: false })
    expect([path.startsWith(join(root, "home")), action]).toEqual([true, "installed"])
    expect(checkHost(host, scene)).toMatchObject({ connected: true, current: true, place: path })
    expect(installHost({ ...input, remove: false }).action).toBe("unchanged")
    expect(readdirSync(root).toSorted()).toEqual([".git", "home"])
    expect(installHost({ ...input, remove: true }).action).toBe("removed")
    expect(checkHost(host, scene)).toMatchObject({ connected: false })
  },
)

test("D13: a launch adds hook or plugin if they are not set up, and nothing if they are", () => {
  const env = { HOME: join(root, "home"), PATH: "", MERIDIAN_COMMAND: "/cache/a b/meridian" }
  const query = { cwd: root, env, program: ["/opt/node", "/opt/meridian.js"] }
  expect(parseObject(carriedContinuity({ ...query, harness: "claude" })?.settings ?? "")).toEqual({
    hooks: {
      SessionStart: [
        {
          matcher: "compact",
          hooks: [{ type: "command", command: '"/cache/a b/meridian" brief --host claude', timeout: 10 }],
        },
      ],
      PostCompact: [
        {
          hooks: [
            {
              type: "command",
              command: '"/cache/a b/meridian" brief --host claude',
              async: true,
              timeout: 10,
            },
          ],
        },
      ],
    },
  })
  expect(carriedContinuity({ ...query, harness: "opencode" })?.plugin).toMatch(/^file:\/\/.*\/meridian\.js$/)
  expect(carriedContinuity({ ...query, harness: "codex" })).toEqual({
    missing: expect.stringContaining("only hooks that a person has trusted"),
  })
  expect(carriedContinuity({ ...query, harness: "direct" })).toBeUndefined()
  for (const host of ["claude", "opencode"]) {
    const off = { ...query, env: { ...env, MERIDIAN_CONTINUITY: "off" }, harness: host }
    expect(carriedContinuity(off)).toEqual({ missing: "MERIDIAN_CONTINUITY is off" })
    installHost({ ...query, host, remove: false })
    expect(carriedContinuity({ ...query, harness: host })).toBeUndefined()
  }
})
