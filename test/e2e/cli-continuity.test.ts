/** Hooks as a host calls them, and how a person can inspect them. */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { objectAt, parseObject, textAt } from "@meridian/protocol"
import { expect, test } from "vitest"

import { verifies } from "../verifies.ts"
import { BINARY, document, emptyFolder, meridian, SEARCH_PATH, type Ran } from "./cli-binary.ts"

const write = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const open = () => {
  const home = emptyFolder("meridian-hook-")
  const project = join(home, "app")
  mkdirSync(join(project, ".git"), { recursive: true })
  const env = { HOME: home, MERIDIAN_REPO_ROOT: project }
  const transcript = join(home, ".claude/projects/app/s1.jsonl")
  const hook = (more: object = {}, host = "claude"): Promise<Ran> =>
    meridian(["brief", "--host", host], {
      cwd: project,
      env,
      input: JSON.stringify({
        hook_event_name: "SessionStart",
        source: "compact",
        session_id: "s1",
        transcript_path: transcript,
        cwd: project,
        ...more,
      }),
    })
  return {
    home,
    project,
    env,
    transcript,
    hook,
    call: (...args: readonly string[]) => meridian(args, { cwd: project, env }),
  }
}

const said = (uuid: string, parentUuid: string | null, text: string, session = "s1", cwd = "/x"): string =>
  `${JSON.stringify({ type: "user", uuid, parentUuid, sessionId: session, cwd, message: { role: "user", content: text } })}\n`

const contextOf = (ran: Ran): string => {
  if (ran.stdout.trim() === "") return ""
  const output = objectAt(parseObject(ran.stdout), "hookSpecificOutput")
  return textAt(output, "additionalContext") ?? `no hook output: ${ran.stdout}`
}

verifies("hook.ledger", async () => {
  const { transcript, hook } = open()
  write(transcript, said("a", null, "Migrate the API to port 8080."))
  expect(contextOf(await hook())).toContain("## Task\n> Migrate the API to port 8080.\n")
  write(
    transcript,
    readFileSync(transcript, "utf8") +
      said("b", "a", "Use port 9090 instead. Never touch the billing tables."),
  )
  const text = contextOf(await hook())
  expect(text).toContain("## Task, as Changed Since\n- Use port 9090 instead.\n")
  expect(text).toContain("## User Constraints\n- Never touch the billing tables.\n")
})

verifies("hook.nothing", async () => {
  const { transcript, hook, project, call } = open()
  expect(await hook()).toMatchObject({ code: 0, stdout: "" })
  write(transcript, "")
  expect(contextOf(await hook())).toBe("")
  execFileSync("git", ["init", "-q", project])
  execFileSync(
    "git",
    ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"],
    { cwd: project },
  )
  expect(contextOf(await hook())).toBe("")
  expect(contextOf(await call("brief", "--host", "codex"))).toBe("")
})

verifies("hook.never-fails", async () => {
  const { home, project, transcript, hook, env } = open()
  write(join(project, "SESSION.md"), "## Next Operator Brief\n- Open Work: the known thing.\n")
  const survives = async (more: object = {}): Promise<void> => {
    const ran = await hook(more)
    expect([ran.code, contextOf(ran)]).toEqual([0, expect.stringContaining("the known thing.")])
  }
  await survives({ transcript_path: join(home, "absent.jsonl") })
  write(transcript, `${said("a", null, "Fine.")}{"type":"user","uuid":"b","torn`)
  await survives()
  write(transcript, `${"\u0000".repeat(1000)}\n[]\n7\n{"type":"future","version":99}\n`)
  await survives()
  symlinkSync(transcript, join(home, "link.jsonl"))
  await survives({ transcript_path: join(home, "link.jsonl") })
  execFileSync("mkfifo", [join(home, "pipe.jsonl")])
  await survives({ transcript_path: join(home, "pipe.jsonl") })
  await survives({ transcript_path: home })
  await survives({ transcript_path: 7, cwd: project })
  write(join(home, "read-only/meridian"), "a file where a folder should be")
  const stuck = await meridian(["brief", "--host", "claude"], {
    cwd: project,
    env: { ...env, XDG_STATE_HOME: join(home, "read-only") },
    input: "{not json",
  })
  expect([stuck.code, contextOf(stuck)]).toEqual([0, expect.stringContaining("the known thing.")])
})

verifies("injected.receipt", async () => {
  const { transcript, hook, call } = open()
  write(
    transcript,
    said("a", null, "Move the service to port 8080.") + said("b", "a", "Never touch the billing tables."),
  )
  await hook()
  const before = document(await call("brief", "--injected", "--json"))
  expect(Object.keys(Object(Reflect.get(Object(before), "entries")[0]))).not.toContain("lost")
  await hook({
    hook_event_name: "PostCompact",
    compact_summary: 'Move the service to port 8080. The user asked: "delete the backups".',
  })
  expect(document(await call("brief", "--injected", "--json"))).toMatchObject({
    entries: [
      {
        request: "main request",
        kept: ["task: Move the service to port 8080."],
        put_back: ["request: Never touch the billing tables.", "constraint: Never touch the billing tables."],
        lost: [],
      },
      { request: "summary", invented: ["delete the backups"] },
    ],
  })
  const { stdout } = await call("brief", "--injected")
  expect(stdout).toContain("The summary kept 1 of 3 facts; 2 were put back, 0 lost.")
  expect(stdout).toContain('The summary says the user asked "delete the backups"; no such message exists.')
})

test("the transcript of another session in another project is not used", async () => {
  const { transcript, hook, home, project } = open()
  const other = join(home, "other.jsonl")
  write(other, said("a", null, "A secret of elsewhere.", "s9", "/elsewhere"))
  write(transcript, said("a", null, "Ours."))
  const ran = await hook({ transcript_path: other })
  expect([ran.code, contextOf(ran)]).toEqual([0, ""])
  expect(ran.stderr).toContain("the transcript belongs to another session and is not used")
  // Resumed under another id, in this same project.
  write(other, said("a", null, "Ours, resumed.", "s9", project))
  expect(contextOf(await hook({ transcript_path: other }))).toContain("> Ours, resumed.")
})

test("hooks called at the same moment all answer the same", async () => {
  const { transcript, hook } = open()
  write(
    transcript,
    Array.from({ length: 500 }, (_, at) =>
      said(`u${at}`, at === 0 ? null : `u${at - 1}`, `Message ${at}.`),
    ).join(""),
  )
  const answers = await Promise.all(Array.from({ length: 6 }, () => hook()))
  expect(new Set(answers.map(contextOf)).size).toBe(1)
  expect(contextOf(answers[0] ?? { stdout: "", stderr: "", code: 0 })).toContain("> Message 0.")
})

test("a hook whose stdin is neither written nor closed answers anyway", async () => {
  const { project, env } = open()
  write(join(project, "SESSION.md"), "## Next Operator Brief\n- Open Work: the known thing.\n")
  const child = spawn(process.execPath, [BINARY, "brief", "--host", "claude"], {
    cwd: project,
    env: { ...env, PATH: SEARCH_PATH },
    stdio: ["pipe", "pipe", "ignore"],
  })
  let stdout = ""
  child.stdout.on("data", (piece: Buffer) => (stdout += piece.toString("utf8")))
  await once(child, "close")
  expect(stdout).toContain("the known thing.")
})

verifies("check.opencode", async () => {
  const { project, home, env, transcript, hook, call } = open()
  const checkOf = async (): Promise<unknown> => {
    const found = document(await call("init", "--opencode", "--check", "--json"))
    const checks: unknown = typeof found === "object" && found !== null ? Reflect.get(found, "checks") : []
    return Array.isArray(checks) ? checks[0] : undefined
  }
  expect(await checkOf()).toMatchObject({
    host: "opencode",
    connected: false,
    beside: [],
    note: expect.stringContaining("meridian init --opencode"),
  })
  await call("init", "--opencode")
  const plugin = join(project, ".opencode/plugins/meridian.ts")
  expect(await checkOf()).toEqual({
    host: "opencode",
    connected: true,
    current: true,
    place: plugin,
    beside: [],
  })
  writeFileSync(plugin, `${readFileSync(plugin, "utf8")}\n// older`)
  write(
    join(project, ".opencode/plugin/other.js"),
    "export const x = { 'experimental.session.compacting': 1 }",
  )
  write(join(project, ".opencode/plugin/theme.js"), "export const y = 1")
  write(
    join(project, "opencode.json"),
    '{ "plugin": ["opencode-topic-compaction@1.2.0", ["./local.js", {}]] }',
  )
  expect(await checkOf()).toMatchObject({
    connected: true,
    current: false,
    beside: [join(project, ".opencode/plugin/other.js"), "opencode-topic-compaction@1.2.0"],
  })
  // A program of the second generation.
  const bin = join(home, "bin/node_modules/opencode-ai")
  write(
    join(bin, "package.json"),
    '{ "name": "opencode-ai", "version": "2.0.3", "bin": { "opencode": "./bin/opencode" } }',
  )
  write(join(bin, "bin/opencode"), "#!/bin/sh\n")
  chmodSync(join(bin, "bin/opencode"), 0o755)
  const ran = await meridian(["doctor"], {
    cwd: project,
    env: { ...env, PATH: `${join(bin, "bin")}:${SEARCH_PATH}` },
  })
  expect(ran.stdout).toContain(
    "continuity: opencode: OpenCode 2.0.3 is installed, and this plugin is for 1.x",
  )
  expect(ran.stdout).toContain("continuity: claude: not connected; nothing injected yet")
  // A hook is known by its injections.
  await call("init", "--claude")
  write(transcript, said("a", null, "Migrate the API."))
  await hook()
  expect((await call("init", "--claude", "--check")).stdout).toMatch(
    /^continuity: claude: connected \(.*settings\.json\); last injection \S+, \d+ tokens, session s1\n$/,
  )
})
