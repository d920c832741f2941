/**
 * Finds who is alive: a lock that we cannot get is held. One process probes many files. It asks for a *shared* lock,
 * so that two probes at once never take each other for the living.
 */
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"

import { Failure } from "@meridian/protocol"

import { LIMIT } from "../domain/limit.ts"

/** The given paths whose lock is held. A missing file is not held, and no file is created. */
export const probeLocks = async (paths: readonly string[]): Promise<ReadonlySet<string>> => {
  const there = [...new Set(paths)].filter((path) => existsSync(path))
  const held = new Set<string>()
  for (let at = 0; at < there.length; at += LIMIT.probeBatch) {
    const batch = there.slice(at, at + LIMIT.probeBatch)
    const answer = (await ask("perl", ["-e", PERL], batch)) ?? (await ask("sh", ["-c", SHELL, "sh"], batch))
    if (answer === undefined) throw new Failure("LOCK_UNAVAILABLE", { file: batch[0] ?? "" })
    batch.forEach((path, index) => {
      if (answer[index] === "1") held.add(path)
    })
  }
  return held
}

/** One character a file: 1 held, 0 free. */
const ask = (
  command: string,
  args: readonly string[],
  paths: readonly string[],
  isFirst = true,
): Promise<string | undefined> =>
  new Promise((resolve) => {
    const child = spawn(command, [...args, ...paths], { stdio: ["ignore", "pipe", "ignore"], detached: true })
    let answer = ""
    child.stdout.setEncoding("latin1")
    child.stdout.on("data", (text: string) => {
      answer += text
    })
    child.once("error", () => resolve(undefined))
    child.once("close", (code, signal) => {
      // Someone killed the helper, as in a shutdown. Ask once more.
      if (signal !== null && isFirst) resolve(ask(command, args, paths, false))
      else resolve(code === 0 && answer.length === paths.length ? answer : undefined)
    })
  })

const PERL = `for (@ARGV) { my $f; print((open($f, "<", $_) && !flock($f, 5)) ? 1 : 0) }`
/** Without perl: one extra process per file, but still one for us. */
const SHELL = `command -v flock >/dev/null || exit 9
for f do if flock -s -n "$f" true; then printf 0; else printf 1; fi; done`
