/**
 * Repositories that name programs for git to run. Each attack is first shown to work on plain git. The look-only command
 * lines, and the variables for harnesses that run git themselves, must start none of them.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { DRIVER_QUERY, lookingEnvironment, lookOnlyGit, readDrivers } from "@meridian/protocol"
import { describe, expect, onTestFinished, test } from "vitest"

import { emptyFolder, SEARCH_PATH } from "../e2e/cli-binary.ts"
import { openPseudoTerminal } from "../e2e/pseudo-terminal.ts"
import { openAttack } from "./attack-scene.ts"

type Looking = "status" | "log" | "diff"

interface Repository {
  readonly folder: string
  readonly evil: string
  readonly env: Readonly<Record<string, string>>
  readonly git: (...args: readonly string[]) => string
  readonly wasRun: () => boolean
  readonly forget: () => void
  readonly write: (path: string, content: string) => void
}

const repository = (): Repository => {
  const base = emptyFolder("git-")
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const [folder, evil, trace] = [join(base, "repository"), join(base, "evil"), join(base, "trace")]
  mkdirSync(folder)
  writeFileSync(
    evil,
    `#!/bin/sh\necho "$0 $*" >> '${trace}'\n[ "$1" = git-upload-pack ] || cat 2>/dev/null\n`,
  )
  chmodSync(evil, 0o755)
  const env = { PATH: SEARCH_PATH, HOME: base, GIT_CONFIG_NOSYSTEM: "1" }
  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-c", "protocol.file.allow=always", ...args], {
      cwd: folder,
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    })
  git("init", "-q")
  git("config", "user.email", "victim@example.org")
  git("config", "user.name", "Victim")
  const write = (path: string, content: string): void => writeFileSync(join(folder, path), content)
  write("file", "one\n")
  git("add", ".")
  git("commit", "-qm", "one")
  write("file", "two\n")
  return {
    folder,
    evil,
    env,
    git,
    write,
    wasRun: () => existsSync(trace),
    forget: () => rmSync(trace, { force: true }),
  }
}

/** What a hostile repository contains, and the command that would run it. */
const ATTACKS: Readonly<Record<string, readonly [Looking, (repository: Repository) => void]>> = {
  "a file system monitor": ["status", ({ git, evil }) => void git("config", "core.fsmonitor", evil)],
  "a file system monitor of an included file": [
    "status",
    ({ git, write, evil }) => {
      write(".hidden", `[core]\n\tfsmonitor = ${JSON.stringify(evil)}\n`)
      git("config", "include.path", "../.hidden")
    },
  ],
  "a file system monitor of the worktree": [
    "status",
    ({ git, evil }) => {
      git("config", "extensions.worktreeConfig", "true")
      git("config", "--worktree", "core.fsmonitor", evil)
    },
  ],
  "a hook for the index": [
    "status",
    ({ folder, evil, git }) => {
      mkdirSync(join(folder, ".git/hooks"), { recursive: true })
      writeFileSync(join(folder, ".git/hooks/post-index-change"), `#!/bin/sh\nexec '${evil}'\n`)
      chmodSync(join(folder, ".git/hooks/post-index-change"), 0o755)
      // An index that has to be refreshed, so that it is written.
      git("checkout", "-q", "--", "file")
      execFileSync("touch", ["-d", "2001-01-01", join(folder, "file")])
    },
  ],
  "a folder of hooks": [
    "status",
    ({ folder, evil, git }) => {
      mkdirSync(join(folder, "hooks"))
      writeFileSync(join(folder, "hooks/post-index-change"), `#!/bin/sh\nexec '${evil}'\n`)
      chmodSync(join(folder, "hooks/post-index-change"), 0o755)
      git("config", "core.hooksPath", "hooks")
      git("checkout", "-q", "--", "file")
      execFileSync("touch", ["-d", "2001-01-01", join(folder, "file")])
    },
  ],
  "an external diff": ["diff", ({ git, evil }) => void git("config", "diff.external", evil)],
  "an external diff for some files": [
    "diff",
    ({ git, evil, write }) => {
      git("config", "diff.evil.command", evil)
      write(".gitattributes", "file diff=evil\n")
    },
  ],
  "a text converter": [
    "diff",
    ({ git, evil, write }) => {
      git("config", "diff.evil.textconv", evil)
      write(".gitattributes", "file diff=evil\n")
    },
  ],
  "a text converter with an odd name": [
    "diff",
    ({ git, evil, folder }) => {
      git("config", "diff.Evil.one two.textconv", evil)
      writeFileSync(join(folder, ".git/info/attributes"), "file diff=Evil.one\n")
      git("config", "diff.Evil.one.textconv", evil)
    },
  ],
  "a filter, at status": [
    "status",
    ({ git, evil, write }) => {
      git("config", "filter.evil.clean", evil)
      write(".gitattributes", "file filter=evil\n")
    },
  ],
  "a filter, at diff": [
    "diff",
    ({ git, evil, folder }) => {
      git("config", "filter.evil.clean", evil)
      git("config", "filter.evil.required", "true")
      writeFileSync(join(folder, ".git/info/attributes"), "* filter=evil\n")
    },
  ],
  "a filter process": [
    "status",
    ({ git, evil, write }) => {
      git("config", "filter.evil.process", evil)
      write(".gitattributes", "file filter=evil\n")
    },
  ],
  "a verifier of signatures": [
    "log",
    (made) => {
      signHead(made)
      made.git("config", "gpg.program", made.evil)
      made.git("config", "log.showSignature", "true")
    },
  ],
  "a verifier asked for by the format": [
    "log",
    (made) => {
      signHead(made)
      made.git("config", "gpg.program", made.evil)
      made.git("config", "format.pretty", "format:%G?")
    },
  ],
  "a submodule with a monitor of its own": [
    "status",
    ({ git, folder, evil }) => {
      git("init", "-q", "library")
      const inner = join(folder, "library")
      execFileSync(
        "git",
        ["-c", "user.email=a@b", "-c", "user.name=n", "commit", "-q", "--allow-empty", "-m", "x"],
        { cwd: inner },
      )
      git("add", "library")
      git("commit", "-qm", "library")
      execFileSync("git", ["config", "core.fsmonitor", evil], { cwd: inner })
    },
  ],
  "a remote that is asked for missing objects": [
    "diff",
    ({ git, evil, folder }) => {
      const blob = git("rev-parse", "HEAD:file").trim()
      git("config", "remote.origin.url", `ext::${evil} %S`)
      git("config", "remote.origin.promisor", "true")
      git("config", "extensions.partialClone", "origin")
      git("config", "protocol.ext.allow", "always")
      rmSync(join(folder, ".git/objects", blob.slice(0, 2), blob.slice(2)), { force: true })
    },
  ],
}

/** A forged signature on the last commit. */
const signHead = ({ git, folder, env }: Repository): void => {
  const commit = git("cat-file", "commit", "HEAD").replace(
    "\n\n",
    "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n AAAA\n -----END PGP SIGNATURE-----\n\n",
  )
  const made = spawnSync("git", ["hash-object", "-t", "commit", "-w", "--stdin"], {
    cwd: folder,
    env,
    input: commit,
    encoding: "utf8",
  })
  git("update-ref", "HEAD", made.stdout.trim())
}

/** As the engine runs it: first asks for the drivers. */
const look = ({ folder, env }: Repository, name: Looking) => {
  const asked = spawnSync("git", [...DRIVER_QUERY], { cwd: folder, env, encoding: "utf8" })
  const hardened = lookOnlyGit(["git", name], readDrivers(asked.stdout))
  if (hardened === undefined) throw new Error(`${name} is no command that looks`)
  return spawnSync(hardened.command, [...hardened.args], {
    cwd: folder,
    env: { ...env, ...defined(hardened.environment) },
    encoding: "utf8",
  })
}

const defined = (environment: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )

describe("git that only looks", () => {
  test.each(Object.entries(ATTACKS))(
    "starts nothing that a repository names: %s",
    (_name, [command, plant]) => {
      const made = repository()
      plant(made)
      made.forget()
      spawnSync("git", [command], { cwd: made.folder, env: made.env })
      // Without this the case would prove nothing.
      expect(made.wasRun()).toBe(true)
      made.forget()
      look(made, command)
      expect(made.wasRun()).toBe(false)
    },
  )

  test.each(Object.entries(ATTACKS))("is the same by variables: %s", (_name, [command, plant]) => {
    const made = repository()
    plant(made)
    made.forget()
    const asked = spawnSync("git", [...DRIVER_QUERY], { cwd: made.folder, env: made.env, encoding: "utf8" })
    const variables = lookingEnvironment(readDrivers(asked.stdout), made.env)
    spawnSync("git", [command], { cwd: made.folder, env: { ...made.env, ...defined(variables) } })
    expect(made.wasRun()).toBe(false)
  })

  test("starts no pager on a terminal", async () => {
    const made = repository()
    made.git("config", "core.pager", made.evil)
    made.git("config", "pager.log", made.evil)
    made.forget()
    const hardened = lookOnlyGit(["git", "log"], [])
    const options = { cwd: made.folder, env: made.env }
    await openPseudoTerminal("git", ["log"], options).exited
    expect(made.wasRun()).toBe(true)
    made.forget()
    await openPseudoTerminal("git", hardened?.args ?? [], options).exited
    expect(made.wasRun()).toBe(false)
  })

  test("does not take a folder for a repository because it looks like one", () => {
    const made = repository()
    const bare = join(made.folder, "fixtures/bare")
    mkdirSync(bare, { recursive: true })
    execFileSync("git", ["init", "-q", "--bare", bare])
    execFileSync("git", ["--git-dir", bare, "config", "core.bare", "false"])
    execFileSync("git", ["--git-dir", bare, "config", "core.worktree", "."])
    execFileSync("git", ["--git-dir", bare, "config", "core.fsmonitor", made.evil])
    made.forget()
    spawnSync("git", ["status"], { cwd: bare, env: made.env })
    expect(made.wasRun()).toBe(true)
    made.forget()
    look({ ...made, folder: bare }, "status")
    expect(made.wasRun()).toBe(false)
  })

  test("still tells what there is to see", () => {
    const made = repository()
    const shown = (["status", "log", "diff"] as const).map((name) => look(made, name).stdout)
    expect([
      shown[0]?.includes("modified:   file"),
      shown[1]?.includes("Victim"),
      shown[2]?.includes("+two"),
    ]).toEqual([true, true, true])
  })

  test("is git status, git log and git diff, and nothing else", () => {
    const others = [
      ["git"],
      ["git", "show"],
      ["git", "status", "-s"],
      ["git", "log", "--format=%G?"],
      ["gitk", "status"],
    ]
    expect(others.map((words) => lookOnlyGit(words, []))).toEqual(others.map(() => undefined))
  })
})

describe("a read-only run", () => {
  test.each(["claude", "codex", "opencode"] as const)(
    "gives %s a git that starts nothing of the folder",
    async (as) => {
      const scene = openAttack()
      rmSync(join(scene.folder, ".git"), { recursive: true })
      const harness = scene.harness(as)
      const inFolder = { cwd: scene.folder, env: { PATH: SEARCH_PATH, HOME: scene.home } }
      execFileSync("git", ["init", "-q"], inFolder)
      scene.plantProgram("evil.sh")
      scene.plant({ file: "x\n", ".gitattributes": "file filter=evil\n" })
      for (const key of ["core.fsmonitor", "filter.evil.clean"])
        execFileSync("git", ["config", key, `'${join(scene.folder, "evil.sh")}'`], inFolder)
      spawnSync("git", ["status"], inFolder)
      expect(scene.wasRun()).toBe(true)
      scene.forget()
      await scene.run(["run", "spawn", "--harness", as, "-p", "hi"])
      const env = harness.calls()[0]?.env ?? {}
      const looked = spawnSync("git", ["status"], { cwd: scene.folder, env, encoding: "utf8" })
      expect([harness.calls().length, looked.status, scene.wasRun()]).toEqual([1, 0, false])
    },
  )
})
