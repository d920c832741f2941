#!/usr/bin/env node
/**
 * The `meridian` binary. This file is parsed by whatever Node a user has, so it keeps to what Node 20 can read, imports
 * only what is bundled into it, and loads the rest behind the version check. The compile cache comes first: it is what makes the rest start
 * fast. Builtins are asked for by function, since an import of one costs milliseconds.
 */
import { nodeTooOld } from "@meridian/protocol/node-version"

process.getBuiltinModule?.("node:module").enableCompileCache?.(cacheDirectory(process.env))

const refusal = nodeTooOld(process.versions.node)
const words = process.argv.slice(2)

if (refusal !== undefined) {
  process.stderr.write(`${refusal}\n`)
  process.exitCode = 2
} else if (words.length === 1 && words[0] === "--version") {
  // The number of version.ts, which cannot be imported here without all that is bundled with it; a test compares them.
  try {
    process.getBuiltinModule("node:fs").writeSync(1, "0.1.0\n")
  } catch {
    // Nobody reads any more.
  }
} else {
  const { main } = await import("./main.ts")
  await main(words)
}

/**
 * Where compiled code is kept between starts. In the shared temporary folder only under a directory that is ours alone:
 * somebody else's could hold somebody else's code. Undefined leaves the place to Node.
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
    // No temporary folder, or somebody was faster.
    return fallback
  }
}
