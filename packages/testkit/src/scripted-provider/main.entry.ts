/**
 * The scripted provider as a program:
 *
 *   node --conditions=meridian-source main.entry.ts [--port N] [--script FILE] [--log FILE] [--ready FILE] [--keep N]
 *
 * Prints one JSON line with its address, writes the address to the ready file, appends every request to the log, and
 * ends on SIGTERM and SIGINT.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"

import type { ScriptStep } from "@meridian/engine/script"

import { startScriptedProvider } from "./server.ts"

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    script: { type: "string" },
    log: { type: "string" },
    ready: { type: "string" },
    keep: { type: "string" },
  },
})

/** The scripts are ours. A wrong one shows up as a wrong answer in its test. */
const readScript = (file: string): readonly ScriptStep[] => {
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- the file is written by the test that reads it
  const loaded = JSON.parse(readFileSync(file, "utf8")) as
    | readonly ScriptStep[]
    | { readonly turns: readonly ScriptStep[] }
  return "turns" in loaded ? loaded.turns : loaded
}

const provider = await startScriptedProvider({
  port: Number(values.port),
  ...(values.script === undefined ? {} : { script: readScript(values.script) }),
  ...(values.log === undefined ? {} : { logFile: values.log }),
  ...(values.keep === undefined ? {} : { keep: Number(values.keep) }),
})
process.stdout.write(
  `${JSON.stringify({ listening: provider.url, url: provider.url, port: provider.port })}\n`,
)
if (values.ready !== undefined) writeFileSync(values.ready, provider.url)
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    provider.close().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  })
