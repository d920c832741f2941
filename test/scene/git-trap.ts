/** A `git` first on PATH that counts its calls, and at one of them kills its caller, before git has run or after it. */
import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import type { RepositoryScene } from "./repository.ts"

const REAL = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim()

export interface Trap {
  readonly env: Readonly<Record<string, string>>
  /** Selects the call to kill, counted from now on; 0 only counts. */
  readonly set: (call: number, when: "before" | "behind") => void
  readonly calls: () => number
}

export const trapIn = (scene: RepositoryScene): Trap => {
  const folder = join(scene.env["HOME"] ?? "", "trap")
  mkdirSync(folder)
  const file = (name: string): string => join(folder, name)
  // The caller is identified by its process id: a harness that calls git itself is left alone.
  writeFileSync(
    file("git"),
    `#!/bin/sh
if [ "$(tr '\\0' '\\n' < /proc/$PPID/environ 2>/dev/null | grep -c '^TRAP_OWNER=1')" = 1 ] && [ -e ${file("armed")} ] && [ -z "$MERIDIAN_PARENT_RUN_ID" ]; then
  count=1
  until mkdir ${file("calls")}/$count 2>/dev/null; do count=$((count + 1)); done
  if [ "$count" -eq "$(cat ${file("armed")})" ]; then
    if [ "$(cat ${file("when")})" = behind ]; then ${REAL} "$@"; fi
    kill -9 $PPID
    exit 1
  fi
fi
exec ${REAL} "$@"
`,
  )
  chmodSync(file("git"), 0o755)
  return {
    env: { PATH: `${folder}:${scene.env["PATH"] ?? ""}`, TRAP_OWNER: "1" },
    set: (call, when) => {
      rmSync(file("calls"), { recursive: true, force: true })
      mkdirSync(file("calls"))
      writeFileSync(file("when"), when)
      writeFileSync(file("armed"), String(call))
    },
    calls: () => readdirSync(file("calls")).length,
  }
}
