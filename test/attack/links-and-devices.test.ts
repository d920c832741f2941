/** Our names with foreign content: pipes, devices, links out of the folder, endless files. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

import { describe, expect, test } from "vitest"

import { openAttack, read, type AttackScene } from "./attack-scene.ts"

const PRIVATE = "-----BEGIN OPENSSH PRIVATE KEY----- b3BlbnNzaC1rZXktdjE"
const SPAWN = ["run", "spawn", "-p", "hi"]

const pipe = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  rmSync(path, { force: true })
  execFileSync("mkfifo", [path])
}

const link = (path: string, target: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  rmSync(path, { force: true, recursive: true })
  symlinkSync(target, path)
}

const zero = (path: string): void => link(path, "/dev/zero")

/** The victim's key, which nothing in the folder may reach. */
const withKey = (): AttackScene & { readonly key: string } => {
  const scene = openAttack()
  const key = join(scene.home, ".ssh/id_ed25519")
  mkdirSync(dirname(key))
  writeFileSync(key, PRIVATE)
  return { ...scene, key }
}

describe("configuration", () => {
  test.each([
    ["config.toml", "a pipe", ["config", "show"]],
    ["config.toml", "a pipe", SPAWN],
    ["config.toml", "a pipe", ["models", "list"]],
    ["config.toml", "a pipe", ["trust"]],
    ["config.toml", "an endless device", ["config", "show"]],
    ["config.toml", "an endless device", SPAWN],
    ["models.toml", "a pipe", SPAWN],
    ["models.toml", "an endless device", ["models", "list"]],
  ] as const)("%s that is %s is refused at once, with its name: %j", async (name, what, words) => {
    const plant = what === "a pipe" ? pipe : zero
    const scene = openAttack()
    scene.harness("claude")
    plant(join(scene.folder, ".meridian", name))
    const ran = await scene.run(words)
    expect([ran.code, ran.stderr]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(`^ERROR \\[CONFIG_UNREADABLE\\]: ${scene.folder}/.meridian/${name} cannot be read`),
      ),
    ])
  })

  test("doctor still looks at everything else", async () => {
    const scene = openAttack()
    pipe(join(scene.folder, ".meridian/config.toml"))
    const ran = await scene.run(["doctor"])
    expect([
      ran.code,
      ran.stdout.includes("unreadable_configuration"),
      ran.stdout.includes("harness: direct"),
    ]).toEqual([1, true, true])
  })

  test("a link out of the folder is not read, and not written through", async () => {
    const scene = openAttack()
    const theirs = join(scene.home, "other.toml")
    writeFileSync(theirs, "[runs]\nmax_parallel = 3\n")
    link(join(scene.folder, ".meridian/config.toml"), theirs)
    const shown = await scene.run(["config", "show"])
    const set = await scene.run(["config", "set", "runs.max_parallel", "9"])
    const reset = await scene.run(["config", "reset", "runs.max_parallel"])
    expect([shown.code, set.code, reset.code, read(theirs)]).toEqual([1, 1, 1, "[runs]\nmax_parallel = 3\n"])
  })

  test("the user's own file may be a link within the home, and no further", async () => {
    const scene = openAttack()
    const own = join(scene.home, ".config/meridian/config.toml")
    mkdirSync(join(scene.home, "dotfiles"))
    writeFileSync(join(scene.home, "dotfiles/meridian.toml"), "[runs]\nmax_parallel = 3\n")
    link(own, "../../dotfiles/meridian.toml")
    expect((await scene.run(["config", "get", "runs.max_parallel"])).stdout).toBe("3\n")
    link(own, "/etc/passwd")
    expect((await scene.run(["config", "get", "runs.max_parallel"])).stderr).toContain("CONFIG_UNREADABLE")
  })
})

describe("profiles and skills", () => {
  const places = [
    ".meridian/agents/agent.md",
    ".agents/agents/agent.md",
    ".claude/agents/agent.md",
    ".opencode/agents/agent.md",
  ]

  test.each(places)("%s that is a link to a private key is not told to a model", async (path) => {
    const scene = withKey()
    const claude = scene.harness("claude")
    link(join(scene.folder, path), scene.key)
    const ran = await scene.run(SPAWN)
    expect([ran.code, claude.calls().length, ran.stderr.includes(PRIVATE)]).toEqual([1, 0, false])
    expect(ran.stderr).toContain(`ERROR [PROFILE_INVALID]: ${scene.folder}/${path} cannot be used`)
  })

  test("a folder of agents that is a link out of the project is not searched", async () => {
    const scene = withKey()
    const claude = scene.harness("claude")
    writeFileSync(join(scene.home, ".ssh/agent.md"), PRIVATE)
    link(join(scene.folder, ".claude/agents"), join(scene.home, ".ssh"))
    await scene.run(SPAWN)
    expect([claude.calls().length, JSON.stringify(claude.calls()).includes(PRIVATE)]).toEqual([1, false])
  })

  test.each([
    ["a pipe", pipe],
    ["an endless device", zero],
  ])("an agent that is %s is refused at once", async (_what, plant) => {
    const scene = openAttack()
    scene.harness("claude")
    plant(join(scene.folder, ".claude/agents/agent.md"))
    const ran = await scene.run(SPAWN)
    expect([ran.code, ran.stderr.split(":")[0]]).toEqual([1, "ERROR [PROFILE_INVALID]"])
  })

  test.each([
    ["a link to a private key", (path: string, key: string) => link(path, key)],
    ["a pipe", pipe],
    ["an endless device", zero],
  ])("a skill that is %s is skipped, and the others are there", async (_what, plant) => {
    const scene = withKey()
    scene.plant({ ".claude/skills/good/SKILL.md": "---\ndescription: fine\n---\nGood.\n" })
    plant(join(scene.folder, ".claude/skills/bad/SKILL.md"), scene.key)
    const ran = await scene.run(["skills", "list", "--space", "s1", "--json"])
    expect([ran.code, namesIn(ran.stdout)]).toEqual([0, ["good"]])
    expect(ran.stdout + ran.stderr).not.toContain(PRIVATE)
  })

  test("a folder of skills that is a link out of the project is not walked", async () => {
    const scene = openAttack()
    mkdirSync(join(scene.home, "secret"))
    writeFileSync(join(scene.home, "secret/SKILL.md"), `---\ndescription: ${PRIVATE}\n---\n`)
    link(join(scene.folder, ".claude/skills/out"), scene.home)
    const ran = await scene.run(["skills", "list", "--space", "s1"])
    expect([ran.code, ran.stdout.includes(PRIVATE)]).toEqual([0, false])
  })

  test("front matter with 60,000 keys costs a moment and is refused", async () => {
    const yaml = Array.from({ length: 60_000 }, (_, index) => `k${index}: 1`).join("\n")
    const scene = openAttack({ ".claude/agents/agent.md": `---\n${yaml}\n---\nBody.\n` })
    scene.harness("claude")
    const ran = await scene.run(SPAWN)
    expect([ran.code, ran.stderr.split(":")[0]]).toEqual([1, "ERROR [PROFILE_INVALID]"])
  })

  test("four hundred skills with much front matter are read up to a bound, and it is told", async () => {
    const scene = openAttack()
    const yaml = Array.from({ length: 2_000 }, (_, index) => `k${index}: 1`).join("\n")
    const folder = join(scene.folder, ".claude/skills")
    for (let index = 0; index < 400; index += 1) {
      mkdirSync(join(folder, `s${index}`), { recursive: true })
      writeFileSync(join(folder, `s${index}/SKILL.md`), `---\n${yaml}\n---\n`)
    }
    const ran = await scene.run(["skills", "list", "--space", "s1"])
    expect([ran.code, ran.stderr.includes("bytes of front matter in all")]).toEqual([0, true])
  })
})

const namesIn = (stdout: string): readonly string[] =>
  [...stdout.matchAll(/"name":"([^"]*)"/g)].map(([, name = ""]) => name)

describe("state", () => {
  /** A space that the victim made, as an attacker would like to change it. */
  const withSpace = async () => {
    const scene = openAttack()
    const claude = scene.harness("claude")
    await scene.run(SPAWN)
    return { ...scene, claude, space: join(scene.folder, ".meridian/.spaces/s1") }
  }

  test.each([
    ["sessions.jsonl", "a pipe"],
    ["sessions.jsonl", "an endless device"],
    ["runs.jsonl", "a pipe"],
    ["runs.jsonl", "an endless device"],
    ["sessions.lock", "a pipe"],
    ["runs.lock", "a pipe"],
    ["space.lock", "a pipe"],
  ] as const)("%s that is %s is refused at once", async (name, what) => {
    const scene = await withSpace()
    const plant = what === "a pipe" ? pipe : zero
    plant(join(scene.space, name))
    const words =
      name === "space.lock" ? ["start", "--space", "s1", "--name", "new"] : [...SPAWN, "--space", "s1"]
    const ran = await scene.run(words)
    expect([ran.code, ran.stderr]).toEqual([
      1,
      expect.stringContaining(
        `ERROR [STATE_NOT_PLAIN]: ${scene.space}/${name} is a link, a pipe or a device`,
      ),
    ])
  })

  test("a space.json that is a pipe is a damaged space, and the others are there", async () => {
    const scene = await withSpace()
    await scene.run(SPAWN)
    pipe(join(scene.space, "space.json"))
    const ran = await scene.run(["space", "list"])
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringMatching(/s1 +damaged[\s\S]*|s2 +active/)])
    expect((await scene.run(["doctor"])).stdout).toContain("missing_or_corrupt_space_json: s1")
  })

  test.each(["sessions.jsonl", "runs.jsonl", "sessions.lock", "runs.lock"])(
    "%s that leads to a file of the victim is neither read nor written",
    async (name) => {
      const scene = await withSpace()
      const theirs = join(scene.home, ".bashrc")
      writeFileSync(theirs, "alias ls=ls")
      link(join(scene.space, name), theirs)
      const ran = await scene.run([...SPAWN, "--space", "s1"])
      expect([ran.code, read(theirs)]).toEqual([1, "alias ls=ls"])
    },
  )

  test.each(["runs", "sessions"])("a folder %s that leads elsewhere gets nothing written", async (name) => {
    const scene = await withSpace()
    const theirs = join(scene.home, "autostart")
    mkdirSync(theirs)
    link(join(scene.space, name), theirs)
    const ran = await scene.run([...SPAWN, "--space", "s1"])
    expect([ran.code, readdirSync(theirs)]).toEqual([1, []])
  })

  test(".gitignore that leads to a file of the victim is left alone", async () => {
    const scene = openAttack()
    scene.harness("claude")
    const theirs = join(scene.home, ".bashrc")
    writeFileSync(theirs, "alias ls=ls")
    link(join(scene.folder, ".meridian/.gitignore"), theirs)
    const transcript = resolve("test/fixture/sessions/claude.jsonl")
    for (const words of [SPAWN, ["start"], ["session", "import", transcript]]) {
      const ran = await scene.run(words)
      expect([ran.code, ran.stderr.split(":")[0]]).toEqual([1, "ERROR [STATE_NOT_PLAIN]"])
    }
    expect(read(theirs)).toBe("alias ls=ls")
  })

  test("an engine database that leads elsewhere is not opened", async () => {
    const scene = openAttack()
    const theirs = join(scene.home, "cookies.sqlite")
    writeFileSync(theirs, "")
    link(join(scene.folder, ".meridian/engine.sqlite"), theirs)
    for (const words of [
      ["run", "spawn", "--harness", "direct", "-p", "hi"],
      ["session", "list"],
      ["serve", "--http", "--port", "0"],
    ]) {
      const ran = await scene.run(words)
      expect([words.join(" "), ran.stderr + ran.stdout]).toEqual([
        words.join(" "),
        expect.stringContaining("STATE_NOT_PLAIN"),
      ])
    }
    expect(readFileSync(theirs)).toHaveLength(0)
  })

  test("a report that an agent made a link is neither read nor written through", async () => {
    const scene = withKey()
    const report = '#!/bin/sh\nln -sf "$ATTACK_KEY" "$MERIDIAN_REPORT_PATH"\n'
    const claude = scene.harness("claude", { answer: "the answer" })
    const real = read(claude.path)
    writeFileSync(claude.path, `${report}${real.replace("#!/bin/sh\n", "")}`)
    const ran = await scene.run(SPAWN, { env: { ATTACK_KEY: scene.key } })
    expect([ran.stdout, read(scene.key)]).toEqual(["the answer\n", PRIVATE])
    const shown = await scene.run(["run", "show", "r1", "--space", "s1", "--report"])
    expect(shown.stdout).not.toContain(PRIVATE)
  })
})

describe("what is put into a prompt", () => {
  test("a file of the space that is a link out of it is not included", async () => {
    const scene = withKey()
    const claude = scene.harness("claude")
    await scene.run(SPAWN)
    link(join(scene.folder, ".meridian/.spaces/s1/fs/notes.md"), scene.key)
    const ran = await scene.run([...SPAWN, "--space", "s1", "-f", "@notes.md"])
    expect([ran.code, claude.calls().length, ran.stderr.includes("outside the space's fs folder")]).toEqual([
      1,
      1,
      true,
    ])
  })

  test("the trust store that is a pipe, or leads elsewhere, is refused at once", async () => {
    const scene = openAttack()
    const store = join(scene.home, ".local/state/meridian/trust")
    pipe(store)
    expect((await scene.run(["trust", "list"])).stderr).toContain("ERROR [TRUST_UNUSABLE]")
    link(store, join(scene.folder, "trust"))
    scene.plant({ trust: '{"version":1,"folders":[]}' })
    expect((await scene.run(["trust", "list"])).stderr).toContain("ERROR [TRUST_UNUSABLE]")
    expect(existsSync(join(scene.folder, "trust"))).toBe(true)
  })
})
