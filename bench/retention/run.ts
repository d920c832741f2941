/**
 * Measures retention and prints the table. `--json` prints the result instead. `--write` also puts it into result.json and
 * into the block of docs/measured.md; a test compares these with each other and with a new measurement.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { measure, type Result } from "./measure.ts"
import { SPACE_ID, STATE_ROOT } from "./scenario.ts"
import { renderBlock, renderTable, RETENTION_END, RETENTION_START } from "./table.ts"

const publish = (result: Result, json: string): void => {
  writeFileSync(join(import.meta.dirname, "result.json"), json)
  const file = join(import.meta.dirname, "../../docs/measured.md")
  const page = readFileSync(file, "utf8")
  const [before, rest = ""] = page.split(RETENTION_START, 2)
  const after = rest.split(RETENTION_END, 2)[1]
  if (after !== undefined) writeFileSync(file, `${before}${renderBlock(result)}${after}`)
}

const base = mkdtempSync(join(tmpdir(), "retention-"))
const environment = {
  // The numbers must not depend on the person who runs this: no rules of their own, no home.
  HOME: base,
  XDG_CONFIG_HOME: join(base, "config"),
  OPENCODE_CONFIG_DIR: "",
  MERIDIAN_PLUGIN_OPTIONS: "",
  MERIDIAN_STATE_ROOT: STATE_ROOT,
  MERIDIAN_SPACE_ID: SPACE_ID,
}
// oxlint-disable-next-line node/no-process-env -- the plugin reads its environment, as it does inside OpenCode
Object.assign(process.env, environment)

try {
  const result = await measure(join(base, "project"))
  const json = `${JSON.stringify(result, undefined, 2)}\n`
  if (process.argv.includes("--write")) publish(result, json)
  process.stdout.write(process.argv.includes("--json") ? json : `${renderTable(result)}\n`)
} finally {
  rmSync(base, { recursive: true, force: true })
}
