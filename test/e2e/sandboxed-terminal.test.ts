/** `meridian start --sandbox` on a real pseudo-terminal. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { expect } from "vitest"

import { canSandbox, testSandbox, verifiesSandbox } from "../scene/sandbox.ts"
import { BINARY, emptyFolder, SEARCH_PATH } from "./cli-binary.ts"
import { openPseudoTerminal } from "./pseudo-terminal.ts"

/** In raw mode, as real ones are. Asked for its sessions outside of the sandbox, it would get out. */
const HARNESS = `#!/bin/sh
[ "$1" = session ] && { touch "$HOME/outside.txt"; echo '[]'; exit 0; }
stty raw -echo
printf 'ready\\r\\n'
key=$(dd bs=1 count=1 2>/dev/null)
printf 'key %s of %s\\r\\n' "$key" "$(stty size)"
echo in > inside.txt
echo out > "$HOME/outside.txt" || printf 'refused\\r\\n'
stty sane
exit 7
`

const scene = () => {
  const home = emptyFolder("meridian home ")
  const project = join(home, "project")
  const bin = join(home, "bin")
  for (const folder of [project, bin]) mkdirSync(folder)
  writeFileSync(join(bin, "opencode"), HARNESS, { mode: 0o755 })
  execFileSync("git", ["init", "-q", project])
  return {
    home,
    project,
    env: {
      PATH: `${bin}:${dirname(process.execPath)}:${SEARCH_PATH}`,
      HOME: home,
      MERIDIAN_REPO_ROOT: project,
    },
  }
}

/**
 * Whether this kernel lets programs type into a terminal they share is a setting of the whole machine, so no test changes
 * it. Loaded into the command before its own code, this answers for that one file. All else is real.
 */
const answering = (value: "0" | "1"): string => `
const fs = require("node:fs")
const read = fs.readFileSync
fs.readFileSync = (path, ...rest) =>
  path === "/proc/sys/dev/tty/legacy_tiocsti" ? "${value}\\n" : read(path, ...rest)
require("node:module").syncBuiltinESMExports()
`

/** The terminal itself says whether it is afterwards as it was before. */
const COMPARING = `before=$(stty -g); "$@"; code=$?
[ "$before" = "$(stty -g)" ] && echo "same terminal, code $code" || echo "another terminal, code $code"`

const start = (value: "0" | "1") => {
  const { home, project, env } = scene()
  const kernel = join(home, "kernel.cjs")
  writeFileSync(kernel, answering(value))
  const words = [process.execPath, "--require", kernel, BINARY, "start", "--harness", "opencode", "--sandbox"]
  const terminal = openPseudoTerminal("/bin/sh", ["-c", COMPARING, "sh", ...words], { cwd: project, env })
  return { home, project, terminal }
}

verifiesSandbox("sandbox.terminal", async () => {
  expect(canSandbox).toBe(true)
  const { home, project, terminal } = start("0")
  await terminal.until("ready")
  terminal.resize(91, 33)
  terminal.type("k")
  const said = await terminal.until(/(?:same|another) terminal, code/)
  await terminal.exited
  expect(said).toContain("key k of 33 91")
  expect(said).toContain("refused")
  expect(said).toContain("same terminal, code 7")
  expect(readFileSync(join(project, "inside.txt"), "utf8")).toBe("in\n")
  expect(existsSync(join(home, "outside.txt"))).toBe(false)
})

testSandbox(
  "a kernel that lets programs type into the terminal they share is told, and nothing starts",
  async () => {
    const { project, terminal } = start("1")
    const said = await terminal.until(/(?:same|another) terminal, code/)
    await terminal.exited
    expect(said.replaceAll("\n", "")).toContain("ERROR [SANDBOX_UNAVAILABLE]")
    expect(said).toContain("legacy_tiocsti")
    expect(existsSync(join(project, "inside.txt"))).toBe(false)
  },
)
