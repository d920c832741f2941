/**
 * Trust as the user meets it: the commands, the question, the line without a terminal, and the user's own configuration.
 */
import { chmodSync, chownSync, existsSync, mkdirSync, renameSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { installPretendHarness } from "@meridian/testkit"
import { expect, onTestFinished, test } from "vitest"

import { verifies } from "../verifies.ts"
import { BINARY, document, emptyFolder, meridian, SEARCH_PATH } from "./cli-binary.ts"
import { openPseudoTerminal, type PseudoTerminal } from "./pseudo-terminal.ts"

const PROGRAM = '[harness]\nclaude = "./tools/claude"\n'

const scene = (config = "") => {
  const base = emptyFolder("trust ")
  const [home, project, bin] = [join(base, "home"), join(base, "project"), join(base, "bin")]
  for (const folder of [home, join(project, ".git"), join(project, ".meridian")])
    mkdirSync(folder, { recursive: true })
  const write = (text: string): void => writeFileSync(join(project, ".meridian/config.toml"), text)
  if (config !== "") write(config)
  const onPath = installPretendHarness(bin, { as: "claude" })
  const own = installPretendHarness(join(project, "tools"), { as: "claude" })
  const env = {
    PATH: `${bin}:${dirname(process.execPath)}:${SEARCH_PATH}`,
    HOME: home,
    MERIDIAN_REPO_ROOT: "",
  }
  const user = join(home, ".config/meridian/config.toml")
  return {
    base,
    home,
    project,
    env,
    write,
    store: join(home, ".local/state/meridian/trust"),
    writeUser: (text: string): void => {
      mkdirSync(dirname(user), { recursive: true })
      writeFileSync(user, text)
    },
    user,
    /** How often each program started: the one on PATH, and the project's own. */
    started: () => [onPath.calls().length, own.calls().length],
    lastWords: () => [...onPath.calls(), ...own.calls()].at(-1)?.argv.join(" ") ?? "",
    run: (words: readonly string[], more: Readonly<Record<string, string>> = {}, cwd = project) =>
      meridian(words, { cwd, env: { ...env, ...more } }),
    terminal: (...words: readonly string[]): PseudoTerminal => {
      const opened = openPseudoTerminal(process.execPath, [BINARY, ...words], {
        cwd: project,
        env,
        columns: 200,
      })
      onTestFinished(() => opened.kill("SIGKILL"))
      return opened
    },
  }
}

const SPAWN = ["run", "spawn", "-p", "hi"]

verifies("trust.commands", async () => {
  const { run, project, started } = scene(PROGRAM)
  await run(SPAWN)
  const shown = await run(["trust", "--dry-run"])
  expect(shown.stdout).toBe(
    `${project} decides:\n  program  harness.claude = ./tools/claude  (${project}/.meridian/config.toml:2)\n`,
  )
  expect((await run(["trust", "list"])).stdout).toBe("(no folders)\n")
  expect((await run(["trust"])).stdout).toBe(
    `trusted: ${project} (up to read-only)\n  program  harness.claude = ./tools/claude  (${project}/.meridian/config.toml:2)\n`,
  )
  const spawned = await run(SPAWN)
  expect(spawned.stderr).not.toContain("FOLDER_UNTRUSTED")
  expect(document(await run(["trust", "list", "--json"]))).toMatchObject({
    folders: [{ path: project, tier: "read-only", values: ["harness.claude"] }],
  })
  expect((await run(["untrust"])).stdout).toBe(`no longer trusted: ${project}\n`)
  await run(SPAWN)
  expect(started()).toEqual([2, 1])
  expect((await run(["untrust"])).stdout).toBe(`was not trusted: ${project}\n`)
})

verifies(
  "trust.commands",
  async () => {
    const { run, project, started } = scene(PROGRAM)
    const made = await run(["init", "--tier", "workspace-write"])
    expect(made).toEqual({
      stdout: `exists: ${project}/.meridian/config.toml\n`,
      stderr: `trusted: ${project} (up to workspace-write)\n  program  harness.claude = ./tools/claude  (${project}/.meridian/config.toml:2)\n`,
      code: 0,
    })
    await run(SPAWN)
    expect(started()).toEqual([0, 1])
  },
  "init",
)

test("trust of a folder is not trust of another: not of a copy, a parent, a child or the same folder moved", async () => {
  const { run, project, base, started } = scene(PROGRAM)
  await run(["trust"])
  const inner = join(project, "inner")
  mkdirSync(join(inner, ".meridian"), { recursive: true })
  mkdirSync(join(inner, "tools"))
  writeFileSync(join(inner, ".meridian/config.toml"), PROGRAM)
  expect((await run(SPAWN, {}, inner)).stderr).toContain(`[FOLDER_UNTRUSTED]: ${inner} is not trusted`)
  const moved = join(base, "moved")
  renameSync(project, moved)
  expect((await run(SPAWN, {}, moved)).stderr).toContain(`[FOLDER_UNTRUSTED]: ${moved} is not trusted`)
  expect(started()).toEqual([2, 0])
})

test("untrust accepts a folder that is gone, and trust refuses a missing one", async () => {
  const { run, project, base } = scene(PROGRAM)
  await run(["trust", project], {}, base)
  renameSync(project, join(base, "moved"))
  expect((await run(["untrust", "project"], {}, base)).stdout).toBe(`no longer trusted: ${project}\n`)
  const refused = await run(["trust", "project"], {}, base)
  expect([refused.code, refused.stderr]).toEqual([
    2,
    `ERROR [DIRECTORY_NOT_FOUND]: Working directory ${project} does not exist. Next: create it, or give another one with --cwd.\n`,
  ])
})

verifies("trust.store", async () => {
  const { run, project, store, home } = scene(PROGRAM)
  await run(["trust"])
  expect([statSync(store).mode & 0o777, statSync(dirname(store)).mode & 0o777]).toEqual([0o600, 0o700])
  expect(existsSync(join(project, ".local"))).toBe(false)
  const elsewhere = join(home, "elsewhere/trust")
  const there = { MERIDIAN_TRUST: elsewhere }
  expect((await run(["trust", "list"], there)).stdout).toBe("(no folders)\n")
  await run(["trust"], there)
  expect([statSync(elsewhere).mode & 0o777, (await run(["trust", "list"], there)).stdout]).toEqual([
    0o600,
    `${project}  read-only  harness.claude\n`,
  ])
  const state = { XDG_STATE_HOME: join(home, "state") }
  await run(["trust"], state)
  expect(statSync(join(home, "state/meridian/trust")).mode & 0o777).toBe(0o600)
})

test.each([
  ["others can write it", (store: string) => chmodSync(store, 0o666), "other users can write it"],
  ["it is not JSON", (store: string) => writeFileSync(store, "{"), "it is not a JSON object"],
  [
    "it is of a later version",
    (store: string) => writeFileSync(store, '{"version":2}'),
    "its version is 2, not 1",
  ],
])("a trust store is refused when %s", async (_name, spoil, why) => {
  const { run, store, started } = scene(PROGRAM)
  await run(["trust"])
  spoil(store)
  for (const words of [SPAWN, ["trust", "list"], ["config", "show"]]) {
    const ran = await run(words)
    expect([ran.code, ran.stderr]).toEqual([
      1,
      `ERROR [TRUST_UNUSABLE]: ${store} cannot be used as the trust store: ${why}. Next: repair or remove it (folders are then trusted again with 'meridian trust'), or correct MERIDIAN_TRUST.\n`,
    ])
  }
  expect(started()).toEqual([0, 0])
})

test("a trust store named by a relative path is refused: it would depend on the current folder", async () => {
  const { run } = scene(PROGRAM)
  expect((await run(["trust"], { MERIDIAN_TRUST: "trust" })).stderr).toContain(
    "ERROR [TRUST_UNUSABLE]: trust cannot be used as the trust store: MERIDIAN_TRUST is not an absolute path.",
  )
})

test.each([["trust"], ["untrust"]])("an agent cannot call meridian %s", async (command) => {
  const { run, store } = scene(PROGRAM)
  const ran = await run([command], { MERIDIAN_SPACE_ID: "s1" })
  expect([ran.code, ran.stderr.split(":")[0], existsSync(store)]).toEqual([
    1,
    "ERROR [TRUST_NEEDS_PERSON]",
    false,
  ])
})

test("values an agent inits or sets in a folder are not trusted", async () => {
  const { run, store } = scene()
  const inside = { MERIDIAN_SPACE_ID: "s1" }
  await run(["init"], inside)
  const set = await run(["config", "set", "harness.claude", "./tools/claude"], inside)
  expect([set.code, set.stderr.includes("FOLDER_UNTRUSTED"), existsSync(store)]).toEqual([0, true, false])
})

verifies("trust.values", async () => {
  const { run, write, project, started } = scene(PROGRAM)
  await run(["trust"])
  await run(SPAWN)
  write('[harness]\nclaude = "./tools/other"\n')
  const changed = await run(SPAWN)
  expect(changed.stderr).toContain(
    `WARNING [FOLDER_CHANGED]: harness.claude changed since you trusted ${project}, and is ignored.`,
  )
  write(`${PROGRAM}[providers.lab]\nbase_url = "http://127.0.0.1:9"\n`)
  const added = await run(SPAWN)
  expect(added.stderr).toContain("WARNING [FOLDER_CHANGED]: providers.lab.base_url changed")
  write(PROGRAM)
  expect((await run(SPAWN)).stderr).not.toContain("WARNING [FOLDER")
  expect(started()).toEqual([1, 3])
})

test("a program that a person sets for a folder counts there, but nothing else in the folder does", async () => {
  const { run, started } = scene('[providers.x]\nbase_url = "http://127.0.0.1:9"\n')
  const set = await run(["config", "set", "harness.claude", "./tools/claude"])
  expect(set.stderr).toContain("WARNING [FOLDER_CHANGED]: providers.x.base_url changed")
  await run(SPAWN)
  expect(started()).toEqual([0, 1])
})

verifies("trust.untrusted-line", async () => {
  const { run, project, user } = scene(PROGRAM)
  const { stderr } = await run(SPAWN)
  expect(stderr.split("\n").filter((line) => line.includes("trusted"))).toEqual([
    `WARNING [FOLDER_UNTRUSTED]: ${project} is not trusted, so its files do not decide harness.claude. Next: run 'meridian trust --dry-run' to see what they say and 'meridian trust' to allow it, or set it in ${user}.`,
  ])
})

verifies(
  "trust.untrusted-line",
  async () => {
    const { run, write } = scene()
    const quiet = async (): Promise<boolean> => !(await run(SPAWN)).stderr.includes("trust")
    expect(await quiet()).toBe(true)
    // A project's decisions about itself need no trust.
    write(
      '[start]\nauto_resume = false\n[harness]\ndefault = "claude"\n[defaults]\nmodel = "opus"\n[permissions]\ndefault_tier = "read-only"\n[search_paths]\nagents = ["agents"]\n[models."anthropic/x"]\ncontext_window = 1000\n',
    )
    expect(await quiet()).toBe(true)
  },
  "none for a folder that decides nothing",
)

test("a file that names hundreds of things is reported in one line of bounded length", async () => {
  const rows = Array.from(
    { length: 300 },
    (_, index) => `[providers.p${index}]\nbase_url = "http://127.0.0.1:9"\n`,
  )
  const { run } = scene(rows.join(""))
  const { stderr } = await run(["config", "show"])
  expect(stderr.split("\n").filter(Boolean)).toHaveLength(1)
  expect(stderr).toContain("providers.p4.base_url and 295 more.")
  const refused = await run(["trust"])
  expect([refused.code, refused.stderr.split(":")[0]]).toEqual([1, "ERROR [TRUST_TOO_MUCH]"])
})

verifies("trust.question", async () => {
  const { terminal, started, project } = scene(PROGRAM)
  const first = terminal("start", "--new")
  await first.until(`${project} is not trusted yet. Its files would decide:`)
  await first.until("program  harness.claude = ./tools/claude")
  await first.until("Trust this folder with that, and with rights up to read-only? [y/N]")
  first.type("y\r")
  await first.exited
  expect(started()).toEqual([0, 1])
  const second = terminal("start", "--new")
  await second.exited
  expect([started(), second.text().includes("Trust this folder")]).toEqual([[0, 2], false])
})

verifies(
  "trust.question",
  async () => {
    const { terminal, started, write } = scene(PROGRAM)
    const first = terminal("start", "--new")
    await first.until("[y/N]")
    first.type("\r")
    await first.exited
    const second = terminal("start", "--new")
    await second.exited
    expect([started(), second.text().includes("[y/N]"), second.text().includes("FOLDER_UNTRUSTED")]).toEqual([
      [2, 0],
      false,
      true,
    ])
    write('[harness]\nclaude = "./tools/../tools/claude"\n')
    const third = terminal("start", "--new")
    await third.until("[y/N]")
    third.type("y\r")
    await third.exited
    expect(started()).toEqual([2, 1])
  },
  "no is an answer too, and a changed value asks again",
)

verifies(
  "trust.question",
  async () => {
    const { terminal, project } = scene("")
    for (const [file, content] of [
      [
        ".claude/agents/boss.md",
        '---\nname: boss\nsandbox: unrestricted\nallowed-tools: "Bash, Edit"\n---\nDo it.\n',
      ],
      [".claude/agents/quiet.md", "---\nname: quiet\n---\nLook.\n"],
      [".claude/settings.json", "{}"],
      [".mcp.json", "{}"],
    ] as const) {
      mkdirSync(dirname(join(project, file)), { recursive: true })
      writeFileSync(join(project, file), content)
    }
    const first = terminal("start", "--new")
    await first.until("agent  agent boss = full-access; tools Bash, Edit")
    await first.until("hook   .claude/settings.json = Claude Code may run what it names")
    await first.until("hook   .mcp.json = Claude Code may run what it names")
    await first.until("[y/N]")
    first.type("\r")
    await first.exited
    const second = terminal("start", "--new")
    await second.exited
    expect([first.text().includes("quiet"), second.text().includes("[y/N]")]).toEqual([false, false])
  },
  "agents that ask for rights and files that run programs are shown, and asked about once",
)

test("the question does not come to an agent, to a dry run, or without a terminal", async () => {
  const { terminal, run, env, project } = scene(PROGRAM)
  const dry = terminal("start", "--new", "--dry-run")
  await dry.exited
  expect(dry.text()).not.toContain("[y/N]")
  expect((await run(["start", "--new", "--yes"])).stderr).toContain("FOLDER_UNTRUSTED")
  const agent = openPseudoTerminal(process.execPath, [BINARY, "start", "--new"], {
    cwd: project,
    env: { ...env, MERIDIAN_SPACE_ID: "s1" },
  })
  await agent.exited
  expect(agent.text()).not.toContain("[y/N]")
})

verifies("trust.user-layer", async () => {
  const { run, writeUser, write, user, project, started } = scene("[runs]\nmax_parallel = 5\n")
  writeUser('[runs]\nmax_parallel = 6\n[defaults]\nmax_depth = 7\n[harness]\nclaude = "./tools/claude"\n')
  const shown = document(await run(["config", "show", "--json"]))
  expect(shown).toMatchObject({
    user_path: user,
    path: join(project, ".meridian/config.toml"),
    trusted: false,
  })
  const get = async (key: string) => document(await run(["config", "get", key, "--json"]))
  expect(await get("runs.max_parallel")).toMatchObject({ value: 5, source: "file" })
  expect(await get("defaults.max_depth")).toEqual({
    key: "defaults.max_depth",
    value: 7,
    source: "user",
    path: user,
    line: 4,
  })
  await run(SPAWN)
  expect(started()).toEqual([0, 1])
  write('[harness]\nclaude = "elsewhere"\n')
  expect(document(await run(["config", "show", "--json"]))).toMatchObject({
    ignored: [
      {
        key: "harness.claude",
        value: "elsewhere",
        where: `${project}/.meridian/config.toml:2`,
        why: "the folder is not trusted",
      },
    ],
  })
  expect(await get("harness.claude")).toMatchObject({ value: "./tools/claude", source: "user" })
})

test("config set and reset --user change the user's own file, which may hold a key", async () => {
  const { run, user } = scene()
  expect((await run(["config", "set", "--user", "permissions.default_tier", "workspace-write"])).stdout).toBe(
    `set permissions.default_tier = workspace-write in ${user}\n`,
  )
  expect((await run(["config", "set", "--user", "providers.lab.api_key", "sk-0123456789abcdef"])).code).toBe(
    0,
  )
  expect((await run(["config", "get", "permissions.default_tier"])).stdout).toBe("workspace-write\n")
  expect((await run(["config", "reset", "--user", "permissions.default_tier"])).stdout).toContain("(removed)")
  expect((await run(["config", "get", "permissions.default_tier"])).stdout).toBe("read-only\n")
  const { XDG_CONFIG_HOME: other } = { XDG_CONFIG_HOME: join(dirname(user), "other") }
  expect(
    (await run(["config", "set", "--user", "runs.max_parallel", "9"], { XDG_CONFIG_HOME: other })).stdout,
  ).toContain(`in ${other}/meridian/config.toml`)
})

const tierOf = (words: string): string =>
  words.includes("--dangerously-skip-permissions")
    ? "danger"
    : words.includes("Bash,WebFetch")
      ? "full-access"
      : words.includes("acceptEdits")
        ? "workspace-write"
        : words.includes("--permission-mode default")
          ? "read-only"
          : "none"

verifies("trust.tier", async () => {
  const { run, write, writeUser, lastWords } = scene()
  const spawned = async (...more: readonly string[]): Promise<string> => {
    await run([...SPAWN, ...more])
    return tierOf(lastWords())
  }
  write('[permissions]\ndefault_tier = "full-access"\n')
  const tiers = [await spawned(), await spawned("--permission", "workspace-write")]
  await run(["trust", "--tier", "workspace-write"])
  // Still above the granted tier: the value does not count at all.
  tiers.push(await spawned())
  write('[permissions]\ndefault_tier = "workspace-write"\n')
  tiers.push(await spawned())
  await run(["untrust"])
  tiers.push(await spawned())
  writeUser('[permissions]\ndefault_tier = "full-access"\n')
  tiers.push(await spawned())
  write("")
  tiers.push(await spawned())
  expect(tiers).toEqual([
    "read-only",
    "workspace-write",
    "read-only",
    "workspace-write",
    "read-only",
    "workspace-write",
    "full-access",
  ])
})

test("a tier above the granted one is reported with the place to set it", async () => {
  const { run, write, project, user } = scene()
  write('[permissions]\ndefault_tier = "full-access"\n')
  await run(["trust"])
  expect((await run(SPAWN)).stderr).toContain(
    `WARNING [TIER_CAPPED]: permissions.default_tier of ${project}/.meridian/config.toml:2 asks for full-access and gets read-only at most: that is the tier you gave this folder. Next: run 'meridian trust --tier full-access', or set it in ${user}.`,
  )
})

/** A folder of another user: made if we may, else an existing one (root's own). */
const foreignRoot = (project: string): { readonly root: string; readonly owner: number } => {
  if (process.getuid?.() !== 0) return { root: "/usr/share", owner: 0 }
  const root = join(project, ".meridian")
  chownSync(root, 12_345, 12_345)
  return { root, owner: 12_345 }
}

verifies("trust.foreign-state", async () => {
  const { run, project, started } = scene()
  const { root, owner } = foreignRoot(project)
  const env = { MERIDIAN_STATE_ROOT: root }
  for (const words of [
    SPAWN,
    ["run", "list", "--space", "s1"],
    ["config", "show"],
    ["init"],
    ["doctor"],
    ["start"],
  ]) {
    const ran = await run(words, env)
    expect([ran.code, ran.stderr]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(
          `^ERROR \\[STATE_FOREIGN\\]: ${root} belongs to the user with the id ${owner}, not to you`,
        ),
      ),
    ])
  }
  expect(started()).toEqual([0, 0])
})

verifies(
  "trust.foreign-state",
  async () => {
    const { run, project } = scene()
    const inner = join(project, "a/b")
    mkdirSync(inner, { recursive: true })
    const { root } = foreignRoot(project)
    const env = process.getuid?.() === 0 ? {} : { MERIDIAN_STATE_ROOT: root }
    expect((await run(["config", "show"], env, inner)).stderr).toContain(
      `ERROR [STATE_FOREIGN]: ${root} belongs`,
    )
    expect((await run(["--allow-foreign", "config", "show"], env, inner)).code).toBe(0)
  },
  "also of a folder above; the flag lets root, and what belongs to root, through",
)

test("a folder whose name would command the terminal, or forge a line, is shown plainly", async () => {
  const { project, env } = scene()
  const folder = join(project, "a\u001b[2J\nERROR [FORGED]: pay me\u202e")
  mkdirSync(join(folder, ".meridian"), { recursive: true })
  writeFileSync(join(folder, ".meridian/config.toml"), PROGRAM)
  const terminal = openPseudoTerminal(process.execPath, [BINARY, ...SPAWN], {
    cwd: folder,
    // A terminal that cannot move up gets no sequence of ours either, so every sequence found is foreign.
    env: { ...env, TERM: "dumb" },
    columns: 400,
  })
  await terminal.exited
  expect(terminal.bytes()).toContain("FOLDER_UNTRUSTED")
  // oxlint-disable-next-line eslint/no-control-regex -- what is looked for
  expect(/[\u0000-\u0008\u000b-\u000c\u000e-\u001f\u007f-\u009f\u202e]/.exec(terminal.bytes())).toBeNull()
  expect(
    terminal
      .text()
      .split("\n")
      .some((row) => row.startsWith("ERROR [FORGED]")),
  ).toBe(false)
})

test("a pipe gets a report word for word, a terminal plainly", async () => {
  const base = emptyFolder("report ")
  const evil = "\u001b[2Jdone\u009b31m"
  installPretendHarness(join(base, "bin"), { as: "claude", behaviour: { answer: evil } })
  const env = { PATH: `${join(base, "bin")}:${dirname(process.execPath)}:${SEARCH_PATH}`, HOME: base }
  expect((await meridian(SPAWN, { cwd: base, env })).stdout).toBe(`${evil}\n`)
})

test("serve --permission refuses danger", async () => {
  const { run } = scene()
  const ran = await run(["serve", "--permission", "danger"])
  expect([ran.code, ran.stderr.split(":")[0]]).toEqual([2, "ERROR [USAGE]"])
})
