/** A thousand power cuts: whatever the disk had not yet accepted is gone, and everything acknowledged is there. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import type { Engine } from "@meridian/engine"
import { expect } from "vitest"

import { openEngineWith } from "../../packages/engine/src/open-engine.ts"
import { openDatabase } from "../../packages/engine/src/store/sqlite/database.ts"
import { ALLOW_ALL, codeOf, makeDirectory, scriptedModel, tool } from "../engine-scene.ts"
import { openPowerCutDisk, type Image } from "../power-cut.ts"
import { createRandom } from "../sim/random.ts"
import { verifies } from "../verifies.ts"

const IMAGES = 1_000
const SESSIONS = 3
const PROMPTS = 12

verifies(
  "durable.power-cut",
  async () => {
    // oxlint-disable-next-line node/no-process-env -- replays the walk of a failure
    const seed = Number(process.env["MERIDIAN_SIM_SEED"] ?? Date.now() % 1_000_000)
    const seen = { images: 0, torn: 0 }
    const wrong: string[] = []
    for (let round = 0; seen.images < IMAGES && wrong.length === 0; round += 1)
      await work(seed + round, seen, wrong)
    expect(wrong, `MERIDIAN_SIM_SEED=${seed} replays it`).toEqual([])
    expect(seen.torn, "flushes that failed").toBeGreaterThan(10)
  },
  `${IMAGES} images, on a disk whose flush fails now and then`,
)

/** Some sessions work on a disk whose flush fails now and then. At random moments the power is cut. */
const work = async (seed: number, seen: { images: number; torn: number }, wrong: string[]): Promise<void> => {
  const chance = createRandom(seed).next
  const base = makeDirectory()
  const directory = join(base, "project")
  const found = join(base, "found")
  const file = join(base, "engine.sqlite")
  mkdirSync(directory)
  mkdirSync(found)
  const acknowledged = new Set<string>()
  const begun = new Set<string>()
  const look = (image: () => Image): void => {
    if (seen.images >= IMAGES) return
    seen.images += 1
    wrong.push(...faultsOf(found, image(), { acknowledged, begun }).map((fault) => `seed ${seed}: ${fault}`))
  }
  using disk = openPowerCutDisk({ file, chance, look })
  const engine = await openEngineWith(
    {
      database: file,
      models: [
        scriptedModel(Array.from({ length: SESSIONS * PROMPTS * 2 }, () => ({ tools: [{ name: "act" }] }))),
      ],
      permissions: ALLOW_ALL,
      tools: [
        tool("act", (_input, { callID }) => {
          begun.add(callID)
          return "x".repeat(Math.floor(chance() * 12_000))
        }),
      ],
    },
    {
      sqlite: {
        // In place, so that no thread of the system decides the order of events.
        flushFile: { beside: async (descriptor) => disk.flush(descriptor), inPlace: disk.flush },
        tap: (point) => {
          if (point === "committed") disk.committed()
          if (point !== "flush" || chance() > 0.15) return
          seen.torn += 1
          disk.failNext()
        },
      },
    },
  )
  await Promise.all(
    Array.from({ length: SESSIONS }, (_, number) =>
      converse(engine, { session: `ses_${number}`, directory, acknowledged }),
    ),
  )
  await engine.close()
  rmSync(base, { recursive: true, force: true })
}

/** Sends each prompt until it is acknowledged. */
const converse = async (
  { sessions }: Engine,
  options: { readonly session: string; readonly directory: string; readonly acknowledged: Set<string> },
): Promise<void> => {
  const { session, directory, acknowledged } = options
  const insist = async (what: () => Promise<unknown>): Promise<void> => {
    for (let tries = 1; (await codeOf(what())) !== "no failure"; tries += 1) expect(tries).toBeLessThan(100)
  }
  await insist(() => sessions.create({ id: session, location: { directory } }))
  for (let number = 0; number < PROMPTS; number += 1) {
    const id = `msg_${session}_${number}`
    await insist(() => sessions.prompt({ id, sessionID: session, prompt: { text: `${id} `.repeat(40) } }))
    acknowledged.add(id)
    await codeOf(sessions.wait(session))
  }
}

const faultsOf = (
  folder: string,
  image: Image,
  {
    acknowledged,
    begun,
  }: { readonly acknowledged: ReadonlySet<string>; readonly begun: ReadonlySet<string> },
): readonly string[] => {
  const file = join(folder, "engine.sqlite")
  rmSync(`${file}-shm`, { force: true })
  writeFileSync(file, image.database)
  writeFileSync(`${file}-wal`, image.log)
  try {
    const { raw, close } = openDatabase({ file })
    const column = (sql: string): ReadonlySet<string> =>
      new Set(
        raw
          .prepare(sql)
          .all()
          .map((row) => String(Object.values(row)[0])),
      )
    const integrity = [...column("pragma quick_check")].join()
    const admitted = column("select id from input")
    const called = column("select call from part where call is not null")
    close()
    return [
      ...(integrity === "ok" ? [] : [integrity]),
      ...[...acknowledged].filter((id) => !admitted.has(id)).map((id) => `${id} was acknowledged`),
      ...[...begun].filter((id) => !called.has(id)).map((id) => `${id} was begun`),
    ]
  } catch (cause) {
    return [String(cause)]
  }
}
