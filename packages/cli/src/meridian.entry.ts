#!/usr/bin/env node
/**
 * The `meridian` binary. This file is parsed by whatever Node a user has, so it keeps to what Node 20 can read, imports
 * nothing, and loads the rest behind the version check. The compile cache comes first: it is what makes the rest start
 * fast. Builtins are asked for by function, since an import of one costs milliseconds.
 */
process.getBuiltinModule?.("node:module").enableCompileCache?.(cacheDirectory())

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
const words = process.argv.slice(2)

if (major < 24 || (major === 24 && minor < 15)) {
  process.stderr.write(
    `ERROR [NODE_TOO_OLD]: Node ${process.versions.node} cannot run Meridian, which needs 24.15 or newer. Next: install a newer Node.\n`,
  )
  process.exitCode = 2
} else if (words.length === 1 && words[0] === "--version") {
  // The number of version.ts, which cannot be imported here without all that is bundled with it; a test compares them.
  process.getBuiltinModule("node:fs").writeSync(1, "0.1.0\n")
} else {
  const { main } = await import("./main.ts")
  await main(words)
}

/** Under the user's own cache folder: the shared temporary folder could be filled by somebody else. */
function cacheDirectory(): string | undefined {
  const { XDG_CACHE_HOME: cache, HOME: home, NODE_COMPILE_CACHE: chosen } = process.env
  if (chosen !== undefined && chosen !== "") return chosen
  if (cache?.startsWith("/") === true) return `${cache}/meridian/compile`
  return home?.startsWith("/") === true ? `${home}/.cache/meridian/compile` : undefined
}
