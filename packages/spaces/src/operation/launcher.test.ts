import { execFileSync } from "node:child_process"
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { expect, test } from "vitest"

import { launchEnvironment } from "./launcher.ts"
import type { World } from "./world.ts"

const open = (
  env: World["env"],
  program: World["program"] = [process.execPath, "-p", "process.argv.slice(1).join()"],
) => {
  const warned: string[] = []
  const found = launchEnvironment({
    env,
    program,
    uuid: () => "fresh",
    warn: (code) => void warned.push(code),
  })
  return { env: found, warned, command: found["MERIDIAN_COMMAND"] ?? "" }
}

const home = (): string => mkdtempSync(join(tmpdir(), "launcher "))

test("the script starts the same program with the same words, whatever they contain", () => {
  const { env, command } = open({ HOME: home(), PATH: "/usr/bin:/bin" })
  expect(env["PATH"]).toBe(`${dirname(command)}:/usr/bin:/bin`)
  const said = execFileSync("sh", ["-c", `meridian "it's" 'a $HOME' "x;y"`], { env, encoding: "utf8" })
  expect(said).toBe("it's,a $HOME,x;y\n")
})

test("only its owner can change it, and making it again changes nothing", () => {
  const place = home()
  const first = open({ HOME: place })
  expect(first.command.startsWith(join(place, ".cache/meridian/bin/"))).toBe(true)
  expect([statSync(first.command).mode & 0o777, statSync(dirname(first.command)).mode & 0o777]).toEqual([
    0o755, 0o700,
  ])
  const before = statSync(first.command)
  expect(open({ HOME: place }).command).toBe(first.command)
  expect(statSync(first.command).mtimeMs).toBe(before.mtimeMs)
  expect(readdirSync(dirname(first.command))).toEqual(["meridian"])
})

test("two versions coexist, and a launch inside a launch keeps one entry for each", () => {
  const place = home()
  const outer = open({ HOME: place, PATH: "/bin" }, ["/one/node", "/one/meridian.js"])
  const inner = open(outer.env, ["/two/node", "/two/meridian.js"])
  const again = open(inner.env, ["/one/node", "/one/meridian.js"])
  expect(again.env["PATH"]).toBe([dirname(outer.command), dirname(inner.command), "/bin"].join(":"))
  expect(again.env["MERIDIAN_COMMAND"]).toBe(outer.command)
})

test("a changed or half-written script is repaired", () => {
  const place = home()
  const { command } = open({ HOME: place })
  const content = readFileSync(command, "utf8")
  writeFileSync(command, "#!/bin/sh\n")
  expect(readFileSync(open({ HOME: place }).command, "utf8")).toBe(content)
})

test("a folder others can write to is not used", () => {
  const place = home()
  const { command } = open({ HOME: place })
  chmodSync(dirname(command), 0o777)
  const other = open({ HOME: place })
  expect(other.command.startsWith(join(tmpdir(), "meridian-bin-"))).toBe(true)
  expect(other.warned).toEqual([])
})

test("without a place for it the launch continues as it is, with a warning", () => {
  const place = home()
  writeFileSync(join(place, "file"), "")
  const blocked = join(place, "temporary")
  mkdirSync(blocked)
  writeFileSync(join(blocked, `meridian-bin-${process.getuid?.() ?? "user"}`), "")
  const env = { XDG_CACHE_HOME: join(place, "file"), PATH: "/bin", TMPDIR: blocked }
  const found = execInTemporary(blocked, () => open(env))
  expect(found).toMatchObject({ env, warned: ["LAUNCHER_UNAVAILABLE"] })
})

/** `os.tmpdir()` reads the environment of the process. */
const execInTemporary = <T>(folder: string, body: () => T): T => {
  // oxlint-disable node/no-process-env -- the process's own temporary folder
  const before = process.env["TMPDIR"]
  process.env["TMPDIR"] = folder
  try {
    return body()
  } finally {
    if (before === undefined) delete process.env["TMPDIR"]
    else process.env["TMPDIR"] = before
  }
  // oxlint-enable node/no-process-env
}
