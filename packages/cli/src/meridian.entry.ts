#!/usr/bin/env node
/**
 * The `meridian` binary. Any Node version may parse this file, so it keeps to what Node 20 can read, imports only
 * what is bundled into it, and loads the rest after the version check. The compile cache comes first: it makes the
 * rest start fast. Builtins are loaded by function, because importing one costs milliseconds.
 */
import { nodeTooOld } from "@meridian/protocol/node-version"

const words = process.argv.slice(2)

if (words[0] === "run" && words[1] === "supervise") staySmall()
else process.getBuiltinModule?.("node:module").enableCompileCache?.(cacheDirectory(process.env))

const refusal = nodeTooOld(process.versions.node)

if (refusal !== undefined) {
  process.stderr.write(`${refusal}\n`)
  process.exitCode = 2
} else if (words.length === 1 && words[0] === "--version") {
  // The number from version.ts. Importing that here would load everything bundled with it; a test compares the two.
  try {
    process.getBuiltinModule("node:fs").writeSync(1, "0.1.0\n")
  } catch {
    // The reader is gone.
  }
} else {
  const { main } = await import("./main.ts")
  await main(words)
}

/**
 * A supervisor waits for days and does little at a time: memory matters more than speed. Without the optimizing
 * compilers their code is hardly loaded, and short-lived values are collected before their space grows. Given to Node
 * as arguments, the flags would reach the workers, which need the speed. There is no compile cache, because code that
 * was compiled with these flags would spoil it for the other commands.
 */
function staySmall(): void {
  const v8 = process.getBuiltinModule?.("node:v8")
  for (const flag of ["--no-opt", "--no-maglev", "--semi-space-growth-factor=1"]) v8?.setFlagsFromString(flag)
}

/**
 * Where compiled code is kept between starts. In the shared temporary folder only inside a directory that is ours
 * alone: another user's directory could hold their code. Undefined leaves the place to Node.
 */
function cacheDirectory(env: NodeJS.ProcessEnv): string | undefined {
  const chosen =
    env["NODE_COMPILE_CACHE"] || (env["XDG_CACHE_HOME"] && `${env["XDG_CACHE_HOME"]}/meridian/compile`)
  const user = process.getuid?.()
  if (chosen || user === undefined) return chosen
  const { lstatSync, mkdirSync } = process.getBuiltinModule("node:fs")
  const directory = `${env["TMPDIR"] || "/tmp"}/meridian-compile-${user}`
  const fallback = env["HOME"] && `${env["HOME"]}/.cache/meridian/compile`
  // From stat(2): the type of a file, and who else may write.
  const [DIRECTORY, DIRECTORY_OTHERS_WRITE] = [0o040000, 0o170022]
  try {
    const found = lstatSync(directory, { throwIfNoEntry: false })
    if (found === undefined) mkdirSync(directory, { mode: 0o700 })
    const ours =
      found === undefined || (found.uid === user && (found.mode & DIRECTORY_OTHERS_WRITE) === DIRECTORY)
    return ours ? directory : fallback
  } catch {
    // There is no temporary folder, or another process was faster.
    return fallback
  }
}
