/** What a killed harness leaves on the user's terminal. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { expect, test } from "vitest"

import { BINARY, emptyFolder, SEARCH_PATH } from "./cli-binary.ts"
import { openPseudoTerminal } from "./pseudo-terminal.ts"

const ON = "\u001b[?1049h\u001b[?1000h\u001b[?1006h\u001b[?2004h\u001b[?2031h\u001b[>4;1m\u001b[?25l"

test.each([
  ["is killed", "kill -9 $$", 137, true],
  ["is killed behind a script", "sh -c 'kill -9 $$'; exit $?", 137, true],
  ["ends by itself", "exit 3", 3, false],
  ["ends by Ctrl-C", "exit 130", 130, false],
])("the terminal of a harness that %s", async (_how, ending, code, isGivenBack) => {
  const cwd = emptyFolder()
  const bin = join(emptyFolder(), "bin")
  mkdirSync(bin)
  writeFileSync(join(bin, "opencode"), `#!/bin/sh\nprintf '${ON}'\n${ending}\n`)
  chmodSync(join(bin, "opencode"), 0o755)
  const terminal = openPseudoTerminal(process.execPath, [BINARY, "start", "--harness", "opencode"], {
    cwd,
    env: {
      PATH: `${bin}:${dirname(process.execPath)}:${SEARCH_PATH}`,
      HOME: emptyFolder(),
      MERIDIAN_REPO_ROOT: cwd,
    },
  })
  expect((await terminal.exited).code).toBe(code)
  const raw = terminal.bytes()
  expect(
    ["?1049l", "?1000l", "?1006l", "?2004l", "?2031l", ">4m"].map((end) => raw.includes(`\u001b[${end}`)),
  ).toEqual(Array(6).fill(isGivenBack))
  expect(raw.includes("\u001b[?25h")).toBe(isGivenBack)
})
