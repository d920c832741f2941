/** Telemetry of a command with an open engine: the configuration says where it goes, the server code how. */
import { createHash } from "node:crypto"
import { join } from "node:path"

import type { Engine } from "@meridian/engine"
import { openCursors, readTelemetry, startTelemetry, type Telemetry } from "@meridian/server"
import { readConfig, type World } from "@meridian/spaces"

import { stateFolder } from "./sessions/harness-places.ts"
import { VERSION } from "./version.ts"

export interface TelemetryWish {
  readonly engine: Engine
  readonly database: string
  /** Also sends sessions of other processes. The process that serves the database does that. */
  readonly everySession: boolean
}

/** Without a collector, only metrics for clients that ask. Undefined if none can ask either. */
export const openTelemetry = async (
  { engine, database, everySession }: TelemetryWish,
  world: World,
  canAsk: boolean,
): Promise<Telemetry | undefined> => {
  const { config } = await readConfig(world)
  const settings = readTelemetry(
    { otlp: config["telemetry.otlp"], content: config["telemetry.content"] },
    world.env,
  )
  if (settings === undefined && !canAsk) return undefined
  for (const problem of settings?.problems ?? []) world.warn("TELEMETRY_OFF", { problem })
  const traces = settings?.traces
  return startTelemetry({
    engine,
    settings,
    cursors:
      traces === undefined
        ? undefined
        : openCursors(join(stateFolder(world.env), "telemetry.sqlite"), {
            // An address may contain a key.
            exporter: createHash("sha256").update(traces.url).digest("hex"),
            database,
          }),
    everySession,
    version: VERSION,
    instance: world.uuid(),
    clock: world.clock,
    log: (line) => world.stderr.write(`${line}\n`),
  })
}

/** The same engine, which sends its telemetry before it closes. */
export const withTelemetry = (engine: Engine, telemetry: Telemetry | undefined): Engine =>
  telemetry === undefined
    ? engine
    : {
        ...engine,
        close: async () => {
          await telemetry.close()
          await engine.close()
        },
      }
