import { spawn, spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { expect, test } from "vitest"

import { verifies } from "../verifies.ts"
import { BINARY, document, emptyFolder, meridian, SEARCH_PATH } from "./cli-binary.ts"
import { openPseudoTerminal } from "./pseudo-terminal.ts"

const AGENT = { MERIDIAN_SPACE_ID: "s1" }

test("the version is the package's, and the entry, the program and the package agree on it", async () => {
  const version = /"version": "([^"]+)"/.exec(readFileSync("packages/cli/package.json", "utf8"))?.[1]
  expect(await meridian(["--version"])).toEqual({ stdout: `${version}\n`, stderr: "", code: 0 })
  expect((await meridian(["models", "list", "--version"])).stdout).toBe(`${version}\n`)
})

/** The commands a help page lists. */
const listed = (help: string): readonly string[] =>
  [...help.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2,}\S/gm)].map((match) => match[1] ?? "").toSorted()

const FOR_AGENTS = [
  "doctor",
  "expand",
  "models list",
  "models show",
  "recall",
  "run apply",
  "run cancel",
  "run compare",
  "run continue",
  "run diff",
  "run discard",
  "run files",
  "run list",
  "run resume",
  "run show",
  "run spawn",
  "run stats",
  "run wait",
  "run worktree",
  "skills list",
  "skills show",
]

const FOR_PEOPLE = [
  "acp",
  "answer",
  "brief",
  "cluster",
  "completion",
  "config get",
  "config reset",
  "config set",
  "config show",
  "database check",
  "database migrate",
  "init",
  "models update",
  "questions",
  "questions answer",
  "questions list",
  "run pause",
  "run send",
  "run tail",
  "run watch",
  "schedule",
  "schedule list",
  "schedule pause",
  "schedule remove",
  "schedule resume",
  "search",
  "serve",
  "session archive",
  "permissions list",
  "permissions revoke",
  "session compactions",
  "session copy",
  "session delete",
  "session export",
  "session files",
  "session fork",
  "session import",
  "session list",
  "session redo",
  "session rename",
  "session restore",
  "session undo",
  "space close",
  "space list",
  "space rebind",
  "space show",
  "start",
  "trust",
  "trust list",
  "untrust",
  "up",
]

verifies("cli.human-mode", async () => {
  const { stdout, stderr, code } = await meridian(["--help"])
  expect([stderr, code]).toEqual(["", 0])
  expect(listed(stdout)).toEqual([...FOR_AGENTS, ...FOR_PEOPLE].toSorted())
  expect(stdout).toContain("MERIDIAN_SPACE_ID")
  expect(stdout).toContain("--human")
})

test.each([[[]], [["--help"]], [["help"]]])(
  "help for agents (%j) shows their commands only, and not --human",
  async (args) => {
    const { stdout, code } = await meridian(args, { env: AGENT })
    expect([code, listed(stdout), stdout.match(/--human|--config|--yes/g)]).toEqual([0, FOR_AGENTS, null])
  },
)

verifies("cli.human-flag", async () => {
  expect((await meridian(["--human"], { env: AGENT })).stdout).toBe((await meridian(["--help"])).stdout)
  expect((await meridian(["--human", "models", "list"], { env: AGENT })).stdout).toMatch(/^claude-opus/)
})

test("meridian alone tells a person how to continue", async () => {
  const { stdout, stderr, code } = await meridian([])
  expect([stderr, code]).toEqual(["", 0])
  expect(stdout).toContain("meridian --help")
  expect(stdout).toContain("Harnesses  ")
})

test("a command and a group have their own help, wherever the flag stands", async () => {
  const shown = await meridian(["models", "show", "--help"])
  expect(shown.stdout).toMatch(/^Usage: meridian models show MODEL \[flags\]\n/)
  expect(await meridian(["--help", "models", "show"])).toEqual(shown)
  expect(await meridian(["help", "models", "show"])).toEqual(shown)
  expect((await meridian(["models"])).stdout).toMatch(/^Usage: meridian models <command>/)
  expect(listed((await meridian(["space"], { env: AGENT })).stdout)).toEqual([
    "space close",
    "space list",
    "space rebind",
    "space show",
  ])
})

verifies("cli.agent-mode", async () => {
  expect(listed((await meridian(["--help"], { env: AGENT })).stdout)).toEqual(FOR_AGENTS)
  expect(document(await meridian(["models", "list"], { env: AGENT }))).toMatchObject({
    models: expect.any(Array),
  })
})

verifies("cli.removed-commands", async () => {
  for (const words of [
    "migrate run",
    "export space",
    "skills reindex",
    "space read",
    "space write",
    "space files",
    "fs read",
    "space start",
    "space resume",
    "run retry",
    "context list",
    "context pin",
    "diag repair",
  ]) {
    const { stderr, code } = await meridian(words.split(" "))
    expect([words, code, stderr.startsWith("ERROR [UNKNOWN_COMMAND]")]).toEqual([words, 2, true])
  }
})

verifies("cli.coded-errors", async () => {
  for (const words of ["", "run list", "run show r1", "space show s9", "start --space s9", "run continue"]) {
    const { stderr, code } = await meridian([...words.split(" ").filter(Boolean), "--nope"])
    expect([words, code]).toEqual([words, 2])
    expect(stderr).toMatch(/^ERROR \[USAGE\]: Unknown flag '--nope'[^\n]* Next: [^\n]+\n$/)
  }
})

test("output is text for people and one JSON document for agents, unless asked otherwise", async () => {
  const text = await meridian(["models", "show", "opus"])
  expect(text.stdout).toMatch(/^Model: claude-opus-5-5\nHarness: claude\n/)
  for (const [args, env] of [
    [["models", "show", "opus", "--json"], {}],
    [["--format", "json", "models", "show", "opus"], {}],
    [["models", "show", "opus"], AGENT],
  ] as const)
    expect(document(await meridian(args, { env }))).toMatchObject({
      model_id: "claude-opus-5-5",
      harness: "claude",
    })
  expect(await meridian(["models", "show", "opus", "--format=text"], { env: AGENT })).toEqual(text)
})

test.each([
  [["strat"], 2, "UNKNOWN_COMMAND", "Unknown command 'strat'."],
  [["models", "lits"], 2, "UNKNOWN_COMMAND", "Unknown command 'models lits'."],
  [["models", "list", "--jsn"], 2, "USAGE", "Unknown flag '--jsn', did you mean --json?"],
  [["models", "show"], 2, "USAGE", "MODEL is required."],
  [["models", "show", "a", "b"], 2, "USAGE", "Unexpected argument 'b'."],
  [["models", "list", "--format", "xml"], 2, "USAGE", '--format must be one of text, json, got "xml".'],
  [["completion", "tcsh"], 2, "USAGE", 'bash|zsh|fish must be one of bash, zsh, fish, got "tcsh".'],
  [["models", "show", "opuss"], 1, "MODEL_UNKNOWN", "Unknown model 'opuss'."],
  [["skills", "list"], 1, "SPACE_REQUIRED", "No MERIDIAN_SPACE_ID set."],
  [["config", "get", "nope"], 1, "CONFIG_KEY_UNKNOWN", "Unknown config key 'nope'."],
  [
    ["config", "set", "max_depth", "x"],
    2,
    "USAGE",
    `'defaults.max_depth' must be a whole number from 0 to 100, got "x".`,
  ],
  [["models", "list", "--config"], 2, "USAGE", "--config needs a value."],
  [["config", "show", "--config", "none.toml"], 1, "CONFIG_NOT_FOUND", "Configuration file not found: "],
])(
  "%j fails with exit code %i and %s, once, and in JSON as one object",
  async (args, code, name, message) => {
    const text = await meridian(args)
    expect([text.stdout, text.code]).toEqual(["", code])
    expect(text.stderr).toMatch(new RegExp(`^ERROR \\[${name}\\]: [^\\n]+ Next: [^\\n]+\\.\\n$`))
    const cwd = emptyFolder()
    const json = await meridian(["--json", ...args], { cwd })
    const same = await meridian(args, { cwd })
    expect(json.code).toBe(code)
    expect(json.stderr).toBe(same.stderr)
    expect(document(json)).toEqual({
      error: {
        code: name,
        message: expect.stringContaining(message),
        next: expect.any(String),
      },
      exit_code: code,
    })
  },
)

test("an agent gets errors as JSON without asking", async () => {
  const ran = await meridian(["frobnicate"], { env: AGENT })
  expect(document(ran)).toMatchObject({ error: { code: "UNKNOWN_COMMAND" }, exit_code: 2 })
  expect(ran.stderr).toMatch(/^ERROR \[UNKNOWN_COMMAND\]/)
})

test("bash completes commands, flags and values from the same table as help", async () => {
  const complete = await bashCompletion({})
  expect(complete("meridian ru")).toBe("run")
  expect(complete("meridian run s")).toBe("spawn show stats send")
  expect(complete("meridian --json run spawn --ba")).toBe("--background")
  expect(complete("meridian run list --status f")).toBe("failed")
  expect(complete("meridian --format text run li")).toBe("list")
  expect(complete("meridian completion z")).toBe("zsh")
  expect(complete("meridian --format ")).toBe("text json")
  expect(complete("meridian run list --status f")).toBe("failed")
  // Flags come on request, or if there is nothing else.
  expect(complete("meridian completion ")).toBe("bash zsh fish")
  expect(complete("meridian doctor ")).toContain("--json")
  // A command that also has others below it.
  expect(complete("meridian schedule re")).toBe("resume remove")
  expect(complete("meridian schedule --z")).toBe("--zone")
  expect(complete("meridian schedule list --z")).toBe("")
  // The same flag means something else elsewhere.
  expect(complete("meridian search --harness e")).toBe("engine")
  expect(complete("meridian start --harness e")).toBe("")
})

verifies("completion.names", async () => {
  const project = emptyFolder()
  const env = { MERIDIAN_REPO_ROOT: project }
  for (const name of ["s1/runs/r1", "s1/runs/r2", "s2/runs/r10", "s1/runs/not a run"])
    mkdirSync(join(project, ".meridian/.spaces", name), { recursive: true })
  writeFileSync(join(project, "session.jsonl"), "")
  const names = async (kind: string) =>
    (await meridian(["complete", kind], { cwd: project, env })).stdout.split("\n").slice(0, -1)
  expect(await names("space")).toEqual(["s2", "s1"])
  expect(await names("run")).toEqual(["@latest", "@last-failed", "@last-completed", "r10", "r2", "r1"])
  expect(await names("model")).toEqual(expect.arrayContaining(["opus"]))
  expect(await names("session")).toEqual([])
  expect(await names("schedule")).toEqual([])
  // The scripts request them while a user types.
  const complete = await bashCompletion({ cwd: project, env: withMeridian(project, env) })
  expect(complete("meridian run show r1")).toBe("r10 r1")
  expect(complete("meridian run list --space s")).toBe("s2 s1")
  expect(complete("meridian run list --space=s")).toBe("s2 s1")
  expect(complete("meridian session import ses")).toBe("session.jsonl")
  for (const shell of ["zsh", "fish"])
    expect((await meridian(["completion", shell])).stdout).toMatch(
      /meridian complete (\$1|run) 2>\/dev\/null/,
    )
})

test("sessions of every harness complete for commands that take them, and those of this project for commands that continue them", async () => {
  const project = emptyFolder()
  const env = { MERIDIAN_REPO_ROOT: project, HOME: project }
  const ids = ["0f0e0d0c-1111-4222-8333-444455556666", "1f0e0d0c-1111-4222-8333-444455556666"] as const
  for (const [index, id] of ids.entries()) {
    const where = [project, "/somewhere/else"][index] ?? ""
    const lines = readFileSync(join(FIXTURES, "claude.jsonl"), "utf8").replaceAll("/home/dev/project", where)
    put(project, `.claude/projects/p${index}/${id}.jsonl`, lines.replaceAll(ids[0], id))
  }
  put(project, `.codex/sessions/2026/11/15/rollout-2026-11-15T13-26-52-${ids[0]}.jsonl`, "half wr")
  put(project, `.pi/agent/sessions/p/2026-11-15T10-00-00_${ids[0]}.jsonl`, "")
  put(project, ".local/share/opencode/opencode.db", "no database")
  const names = async (kind: string) =>
    (await meridian(["complete", kind], { cwd: project, env })).stdout.split("\n").slice(0, -1)
  const all = [`claude:${ids[0]}`, `claude:${ids[1]}`, `codex:${ids[0]}`, `pi:${ids[0]}`]
  expect((await names("any-session")).toSorted()).toEqual(all)
  // Before any search, their folders are unknown.
  expect((await names("continuable")).toSorted()).toEqual(all.slice(0, 3))
  await meridian(["search", "README"], { cwd: project, env })
  expect((await names("any-session"))[0]).toBe(`claude:${ids[0]}\tRead the README.`)
  expect((await names("continuable")).toSorted()).toEqual([
    `claude:${ids[0]}\tRead the README.`,
    `codex:${ids[0]}`,
  ])
  const complete = await bashCompletion({ cwd: project, env: withMeridian(project, env) })
  expect(complete("meridian session export claude:0f")).toBe(ids[0])
  expect(complete("meridian start --continue claude:")).toBe(ids[0])
  // An unreadable index does not block other names.
  writeFileSync(join(project, ".cache/meridian/search.sqlite"), "rubbish")
  expect((await names("any-session")).toSorted()).toEqual(all)
})

test("start continues a session held without it, in its folder and with its harness", async () => {
  const project = emptyFolder()
  const id = "0f0e0d0c-1111-4222-8333-444455556666"
  const place = join(project, "sub")
  mkdirSync(place)
  put(
    project,
    `.claude/projects/p/${id}.jsonl`,
    readFileSync(join(FIXTURES, "claude.jsonl"), "utf8").replaceAll("/home/dev/project", place),
  )
  put(
    project,
    `.pi/agent/sessions/p/2026-11-15T10-00-00_${id}.jsonl`,
    readFileSync(join(FIXTURES, "pi.jsonl"), "utf8"),
  )
  const env = withMeridian(project, { MERIDIAN_REPO_ROOT: project })
  writeFileSync(join(project, "bin/claude"), '#!/bin/sh\necho "$PWD $*" > "$HOME/told"\n', { mode: 0o755 })
  mkdirSync(join(project, ".git"))
  const { MERIDIAN_REPO_ROOT: _told, ...here } = env
  const start = (...words: readonly string[]) =>
    meridian(["start", "--continue", ...words], { cwd: project, env: here })
  expect((await start(`claude:${id}`, "--harness", "codex")).stderr).toContain(
    "is one of claude. Next: omit --harness.",
  )
  expect((await start(`claude:${id}`)).code).toBe(0)
  expect(readFileSync(join(project, "told"), "utf8")).toMatch(new RegExp(`^${place} .*--resume ${id}\n$`))
  const chats = readFileSync(join(project, ".meridian/.spaces/s1/sessions.jsonl"), "utf8")
  expect(chats).toContain(`"harness_session_id":"${id}"`)
  // The session is now a chat, and is found as one.
  expect((await start(`claude:${id}`, "--dry-run", "--json")).stdout).toContain('"chat_id":"c1"')
  for (const [words, code, problem] of [
    [[`claude:${id}`, "--harness", "codex"], 1, "HARNESS_MISMATCH"],
    [[`pi:${id}`], 2, "Meridian does not start pi. Next: import the session: meridian session import pi:"],
    [["claude:none"], 1, "CHAT_NOT_FOUND"],
  ] as const) {
    const ran = await start(...words)
    expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining(problem)])
  }
  const other = emptyFolder()
  const elsewhere = await meridian(["start", "--continue", `claude:${id}`], { cwd: other, env: here })
  expect([elsewhere.code, elsewhere.stderr]).toEqual([
    2,
    expect.stringContaining(`cd '${place}' && meridian start`),
  ])
  expect(
    (await meridian(["session", "import", `pi:${id}`, "--json"], { cwd: project, env: here })).code,
  ).toBe(0)
})

const FIXTURES = join(import.meta.dirname, "../fixture/sessions")

const put = (folder: string, path: string, text: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

test("a completing shell never runs a name that a folder brings", async () => {
  const project = emptyFolder()
  const env = { MERIDIAN_REPO_ROOT: project }
  mkdirSync(join(project, ".meridian"))
  const evil = [
    "$(touch owned)",
    "`touch owned`",
    "$(touch${IFS}owned)",
    ";touch${IFS}owned",
    "good:name",
    "*",
  ]
  writeFileSync(
    join(project, ".meridian/models.toml"),
    `[[models]]\nid = "mine/model"\nharness = "claude"\naliases = ${JSON.stringify(evil)}\n`,
  )
  const names = (await meridian(["complete", "model"], { cwd: project, env })).stdout.split("\n")
  expect(names.filter((name) => /[^\w./:-]/.test(name))).toEqual([])
  const complete = await bashCompletion({ cwd: project, env: withMeridian(project, env) })
  expect(complete("meridian start -m good")).toBe("good:name")
  expect(complete("meridian start -m good:n")).toBe("name")
  expect(complete("meridian start -m ")).toContain("mine/model")
  // Nor does the script itself, whatever its input.
  writeFileSync(join(project, "bin/meridian"), "#!/bin/sh\necho '$(touch owned)'\necho '*'\n")
  expect(complete("meridian start -m ")).toBe("$(touch owned) *")
  expect(existsSync(join(project, "owned"))).toBe(false)
})

test("in a real bash, file names keep their spaces and folders can be extended", async () => {
  const project = emptyFolder()
  mkdirSync(join(project, "folder"))
  writeFileSync(join(project, "a file.jsonl"), "")
  writeFileSync(join(project, "completion"), (await meridian(["completion", "bash"])).stdout)
  const terminal = openPseudoTerminal("bash", ["--norc", "--noprofile", "-i"], {
    cwd: project,
    env: { ...withMeridian(project, {}), PS1: "$ ", INPUTRC: "/dev/null" },
  })
  await terminal.until("$")
  terminal.type(". ./completion; echo rea''dy\r")
  await terminal.until("ready\n$")
  terminal.type("meridian session import a\t")
  await terminal.until(/import a\\ file\.jsonl/)
  terminal.type("\u0015meridian start --cwd fol\t")
  await terminal.until("--cwd folder/")
  terminal.type("\u0015exit\r")
  await terminal.exited
})

/** The shipped script's offers for a line, in a bash without a terminal. */
const bashCompletion = async (where: {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}): Promise<(line: string) => string> => {
  const script = (await meridian(["completion", "bash"])).stdout
  return (line) =>
    spawnSync("bash", ["-c", `${script}\n_meridian; echo "\${COMPREPLY[*]}"`], {
      encoding: "utf8",
      cwd: where.cwd ?? emptyFolder(),
      env: { PATH: SEARCH_PATH, ...where.env, COMP_LINE: line, COMP_POINT: String(line.length) },
    }).stdout.trim()
}

/** The environment of a shell that finds the command. */
const withMeridian = (project: string, env: Readonly<Record<string, string>>): Record<string, string> => {
  mkdirSync(join(project, "bin"))
  writeFileSync(join(project, "bin/meridian"), `#!/bin/sh\nexec '${process.execPath}' '${BINARY}' "$@"\n`, {
    mode: 0o755,
  })
  return { PATH: `${join(project, "bin")}:${SEARCH_PATH}`, HOME: project, ...env }
}

test.each(["zsh", "fish"])("the script of %s names every command", async (shell) => {
  const { stdout, code } = await meridian(["completion", shell])
  expect(code).toBe(0)
  for (const word of [...FOR_AGENTS, ...FOR_PEOPLE].flatMap((command) => command.split(" ")))
    expect(stdout).toContain(word)
})

test("fish knows which command a line is about, and flags before any command", async () => {
  const script = (await meridian(["completion", "fish"])).stdout
  const offers = (command: string): readonly string[] =>
    script.split("\n").flatMap((line) => {
      const start = `complete -c meridian -n "__meridian_at${command}" `
      return line.startsWith(start) ? [line.slice(start.length).replace(/ -d '.*/, "")] : []
    })
  expect(offers("")).toEqual(
    expect.arrayContaining(["-f -a run", '-l format -x -a "text json"', "-l json -f"]),
  )
  expect(offers(" run")).toContain("-f -a spawn")
  expect(offers(" schedule")).toEqual(expect.arrayContaining(["-f -a list", "-l zone -x"]))
  expect(offers(" schedule list")).not.toContain("-l zone -x")
  expect(offers(" run show")).toContain('-f -a "(meridian complete run 2>/dev/null)"')
  expect(offers(" start")).toContain('-l model -x -a "(meridian complete model 2>/dev/null)"')
})

test("zsh takes values after a space and after '=', and flags before any command", async () => {
  const script = (await meridian(["completion", "zsh"])).stdout
  expect(script).toMatch(/'--space=\[[^\]]+\]:space:\{_meridian_names space\}'/)
  expect(script).toMatch(/\[\[ "\$words\[2\]" == -\* \]\]; then\n +_arguments -s '--json\[/)
})

/** Shells on this machine; bash is always there. */
const present = (shell: string): readonly string[] =>
  spawnSync(shell, ["-c", "exit 0"]).status === 0 ? [shell] : []

/** A project with a run, the script of a shell, and its environment. */
const completingProject = async (shell: string) => {
  const project = emptyFolder()
  mkdirSync(join(project, ".meridian/.spaces/s1/runs/r7"), { recursive: true })
  writeFileSync(join(project, "_meridian"), (await meridian(["completion", shell])).stdout)
  const own = { MERIDIAN_REPO_ROOT: project, TERM: "xterm", LANG: "C.UTF-8", PS1: "> " }
  return { project, env: withMeridian(project, own) }
}

test.each(present("fish"))("a real %s offers current names", async (shell) => {
  const { project, env } = await completingProject(shell)
  const offered = (line: string): readonly string[] =>
    spawnSync("fish", ["--no-config", "-c", `source _meridian; complete -C '${line}'`], {
      encoding: "utf8",
      cwd: project,
      env,
    })
      .stdout.split("\n")
      .flatMap((row) => row.split("\t")[0] ?? [])
      .filter((name) => name !== "")
  expect(offered("meridian run show r")).toEqual(["r7"])
  expect(offered("meridian run list --space ")).toEqual(["s1"])
  expect(offered("meridian --format ")).toEqual(["json", "text"])
  expect(offered("meridian --format text run li")).toEqual(["list"])
  expect(offered("meridian run list --space schedule --st")).toEqual(["--status"])
  expect(offered("meridian schedule list --zo")).toEqual([])
})

test.each(present("zsh"))("a real %s offers current names", async (shell) => {
  const { project, env } = await completingProject(shell)
  const terminal = openPseudoTerminal("zsh", ["-f", "-i"], { cwd: project, env })
  await terminal.until(">")
  terminal.type("fpath=($PWD $fpath); autoload -Uz compinit && compinit -D -u; echo rea''dy\r")
  await terminal.until(/^ready/m)
  terminal.type("meridian run show r\t")
  await terminal.until("run show r7")
  terminal.type("\u0015meridian run list --space=\t")
  await terminal.until("--space=s1")
  terminal.type("\u0015meridian --format t\t")
  await terminal.until("--format text")
  terminal.type("\u0015exit\r")
  await terminal.exited
})

test("a reader that goes away is no error", async () => {
  const child = spawn(process.execPath, [BINARY, "completion", "zsh"], {
    stdio: ["ignore", "pipe", "pipe"],
    cwd: emptyFolder(),
  })
  // Closed before the command can have written anything: its first write has no reader.
  child.stdout.destroy()
  let stderr = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
  const code = await new Promise((resolve) => child.on("close", resolve))
  expect([code, stderr]).toEqual([0, ""])
})

test("the binary runs from any folder, through a link, and from a path with spaces", async () => {
  const home = emptyFolder("meridian with spaces ")
  const copy = join(home, "a copy", "dist")
  cpSync(dirname(BINARY), copy, { recursive: true })
  mkdirSync(join(home, "bin"))
  symlinkSync(join(copy, "meridian.js"), join(home, "bin", "meridian"))
  const ran = await meridian(["models", "list"], {
    binary: join(home, "bin", "meridian"),
    cwd: "/",
    env: { HOME: home, MERIDIAN_REPO_ROOT: home },
  })
  expect([ran.stderr, ran.code]).toEqual(["", 0])
  const direct = await new Promise<string>((resolve) => {
    const child = spawn(join(home, "bin", "meridian"), ["models", "show", "opus"], {
      cwd: home,
      env: { PATH: `${dirname(process.execPath)}:${SEARCH_PATH}`, HOME: home },
    })
    let stdout = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
    child.on("close", () => resolve(stdout))
  })
  expect(direct).toMatch(/^Model: claude-opus-5-5/)
  const manifest: unknown = JSON.parse(readFileSync(join(copy, "package.json"), "utf8"))
  expect(manifest).toMatchObject({ name: "meridian", type: "module", bin: { meridian: "meridian.js" } })
  expect(manifest).not.toHaveProperty("dependencies")
})

test("commands that only read write nothing into the project", async () => {
  const cwd = emptyFolder()
  const env = { HOME: emptyFolder() }
  for (const args of [["models", "list"], ["config", "show"], ["config", "get", "max_depth"], ["--help"], []])
    await meridian(args, { cwd, env })
  expect(readdirSync(cwd)).toEqual([])
})

test("a file in place of the project's state folder is reported, with what to do about it", async () => {
  const cwd = emptyFolder()
  writeFileSync(join(cwd, ".meridian"), "mine")
  const { stderr, code } = await meridian(["init"], { cwd })
  expect([stderr, code]).toEqual([
    `ERROR [SYSTEM_ERROR]: EEXIST: file already exists, mkdir '${join(cwd, ".meridian")}'. Next: move away what is there: something else is needed in its place.\n`,
    1,
  ])
  expect(readFileSync(join(cwd, ".meridian"), "utf8")).toBe("mine")
})
