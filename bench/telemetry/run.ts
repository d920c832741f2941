/**
 * What a turn costs with telemetry on, compared with the same engine without it. Two engines in this process use the same
 * provider and alternate turn by turn; the collector is a separate process. `--quick` makes it short.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { loadavg } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"

import { openEngine, type Engine } from "@meridian/engine"
import { openCursors, readTelemetry, startTelemetry } from "@meridian/server"

import { median, PROMPT, RESULT, startProvider, temporaryFolder } from "../engine/scene.ts"

const TURNS = process.argv.includes("--quick") ? 200 : 2_000
const LIMIT = 1.05

const provider = await startProvider()
const folder = temporaryFolder()
const child = spawn(
  process.execPath,
  ["--conditions=meridian-source", "bench/telemetry/collector.entry.ts"],
  { stdio: ["pipe", "pipe", "inherit"] },
)
const [line] = await once(child.stdout, "data")
const { port } = JSON.parse(String(line)) as { port: number }
const collector = `http://127.0.0.1:${port}`

const open = async (
  name: string,
): Promise<{ readonly engine: Engine; readonly turn: () => Promise<number> }> => {
  const engine = await openEngine({
    database: join(folder.path, `${name}.sqlite`),
    models: [
      {
        id: "bench/one",
        provider: "openai-compatible",
        baseURL: `http://127.0.0.1:${provider.port}/v1`,
        apiKey: "none",
        model: "one",
        contextWindow: 100_000_000,
        maxOutput: 4_000,
      },
    ],
    permissions: [{ action: "*", resource: "*", effect: "allow" }],
    tools: [{ name: "noop", description: "Does nothing.", input: { type: "object" }, execute: () => RESULT }],
  })
  const { id: sessionID } = await engine.sessions.create({ location: { directory: folder.path } })
  return {
    engine,
    turn: async () => {
      const began = performance.now()
      await engine.sessions.prompt({ sessionID, prompt: { text: PROMPT.tool } })
      await engine.sessions.wait(sessionID)
      return performance.now() - began
    },
  }
}

const [silent, told] = [await open("silent"), await open("told")]
const telemetry = startTelemetry({
  engine: told.engine,
  settings: readTelemetry({ otlp: collector }, { OTEL_METRIC_EXPORT_INTERVAL: "1000" }),
  cursors: openCursors(join(folder.path, "cursors.sqlite"), { exporter: collector, database: "told" }),
  everySession: true,
  version: "0.0.0",
  instance: "bench",
  clock: {
    now: Date.now,
    sleep: (milliseconds, signal) =>
      pause(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(() => undefined),
  },
  log: (text) => process.stderr.write(`${text}\n`),
})
const times = { silent: [] as number[], told: [] as number[] }
for (let count = 0; count < TURNS; count += 1) {
  times.silent.push(await silent.turn())
  times.told.push(await told.turn())
}
await telemetry.close()
const { bytes } = (await (await fetch(collector)).json()) as { bytes: number }
await silent.engine.close()
await told.engine.close()
await provider.close()
child.kill("SIGTERM")
await once(child, "exit")
folder.remove()

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
process.stdout.write(
  [
    `node ${process.versions.node}, load ${loadavg()[0]?.toFixed(2)}, ${TURNS} tool turns each, ${bytes} bytes sent`,
    `with telemetry p50 ${median(times.told).toFixed(2)} ms, without ${median(times.silent).toFixed(2)} ms: ${(median(times.told) / median(times.silent)).toFixed(3)} (at most ${LIMIT})`,
    `all turns together: ${(sum(times.told) / sum(times.silent)).toFixed(3)}`,
    "",
  ].join("\n"),
)
