/** `docs/guide/days.md` is true: its commands run unchanged, and each row names promises that tests prove. */
import { execFile } from "node:child_process"
import { chmodSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"

import { expect, test } from "vitest"

import { BEHAVIOURS } from "../behaviours.ts"
import { begun, openOutliving, SAID } from "../scene/outliving.ts"
import { BINARY, SEARCH_PATH } from "./cli-binary.ts"

const GUIDE = readFileSync("docs/guide/days.md", "utf8")

const rows = GUIDE.split("\n")
  .filter((line) => line.startsWith("| "))
  .slice(2)
  .map((line) => line.split("|").map((cell) => cell.trim()))

test("every row of what happens is shown by promises, and every promise is there", () => {
  expect(rows.length).toBeGreaterThan(15)
  for (const [, what, does, by = ""] of rows) {
    const named = [...by.matchAll(/`([^`]+)`/g)].map(([, id = ""]) => id)
    expect([what, does, named.length > 0]).toEqual([what, expect.stringMatching(/\.$/), true])
    // `test/coverage.test.ts` checks that tests cite them.
    expect(named.filter((id) => !Object.hasOwn(BEHAVIOURS, id))).toEqual([])
  }
})

test("every command of the guide runs as it stands", async () => {
  const blocks = [...GUIDE.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block)
  const scene = openOutliving({ noise: [SAID], hold: true })
  const [bin, program] = [join(scene.home, "bin"), join(scene.home, "bin/meridian")]
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${BINARY}" "$@"\n`)
  chmodSync(program, 0o755)
  // A harness that could take over.
  writeFileSync(join(bin, "codex"), "#!/bin/sh\nexit 1\n")
  chmodSync(join(bin, "codex"), 0o755)
  const env = {
    PATH: `${bin}:${SEARCH_PATH}`,
    HOME: scene.home,
    MERIDIAN_REPO_ROOT: scene.project,
    OPENAI_API_KEY: "none",
  }
  const said: string[] = []
  for (const block of blocks) {
    const script = `set -e\n${block}`
    const { stdout } = await promisify(execFile)("/bin/sh", ["-c", script], { cwd: scene.project, env })
    said.push(stdout)
    if (said.length === 1) await begun(scene, { isSpawned: true })
  }
  const [first = "", second = "", third = ""] = said
  expect(first).toContain("Task: Move billing to the new ledger")
  expect(second).toMatch(/^installed: .*\.(?:service|plist)$/m)
  expect(third).toMatch(/r1 paused/)
})
