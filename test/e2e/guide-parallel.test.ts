/** The guide to worktrees is a script: its blocks run in order, unchanged. */
import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"

import { installPretendHarness } from "@meridian/testkit"
import { expect, test } from "vitest"

import { BINARY, emptyFolder, SEARCH_PATH } from "./cli-binary.ts"

const LINES = [
  ...readFileSync("docs/guide/parallel.md", "utf8").matchAll(/^```sh\n([\s\S]*?)^```$/gm),
].flatMap(([, block = ""]) => block.split("\n").filter((line) => line !== ""))

test("every line of the guide does what it says", () => {
  const home = emptyFolder("guide-")
  const [bin, project] = [join(home, "bin"), join(home, "project")]
  mkdirSync(bin)
  mkdirSync(project)
  // Each run writes a different file, so no two conflict.
  installPretendHarness(bin, {
    as: "claude",
    behaviour: { answer: "done", does: 'echo "echo polite" > greet.sh; echo x > "$(basename "$PWD").txt"' },
  })
  writeFileSync(join(bin, "meridian"), `#!/bin/sh\nexec '${process.execPath}' '${BINARY}' "$@"\n`)
  chmodSync(join(bin, "meridian"), 0o755)
  const env = {
    PATH: [bin, SEARCH_PATH].join(delimiter),
    HOME: home,
    MERIDIAN_SUPERVISOR: "off",
    MERIDIAN_DEFAULT_PERMISSION_TIER: "workspace-write",
  }
  const sh = (line: string): string =>
    execFileSync("sh", ["-c", line], {
      cwd: project,
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    })
  try {
    sh("git init -q -b main; git config user.name Somebody; git config user.email somebody@example.org")
    sh("echo 'echo hello' > greet.sh; echo .meridian > .gitignore; git add .; git commit -qm first")
    // The pretend harness writes its calls to a file in its own folder.
    mkdirSync(join(home, ".config/meridian"), { recursive: true })
    writeFileSync(join(home, ".config/meridian/config.toml"), `[sandbox]\nwritable = ["${bin}"]\n`)
    const said = LINES.map((line) => `$ ${line}\n${sh(line)}`).join("\n")
    expect(said).toContain("+echo polite")
    expect(said).toContain("Verdict: verified")
    // Both runs prove their claims, so the quicker one is proposed.
    expect(said).toMatch(/Take: meridian run apply r[45] --discard-rest \(throws r[45] away\)/)
    expect(said).toContain("r4: 1 file, 1 commit on main")
    expect(sh("git log --format=%s")).toContain("make the greeting polite")
    expect(LINES.length).toBeGreaterThan(12)
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
})
