/**
 * Several engines, one after the other, on one store in one machine: the common part of tests about waiting, dying and
 * continuing.
 */
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"

import type { Engine, EngineOptions } from "@meridian/engine"

import type { ModelRequest } from "../packages/engine/src/port/model.ts"
import { createMachine, type Life, type Machine } from "./engine-life.ts"
import { ALLOW_ALL, makeDirectory, scriptedModel, type Answer } from "./engine-scene.ts"
import type { STORES } from "./engine-stored.ts"

const SESSION = "ses_test"

export interface House extends AsyncDisposable {
  readonly machine: Machine
  readonly file: string
  readonly directory: string
  readonly open: (
    answers: readonly Answer[],
    changes?: Partial<EngineOptions>,
  ) => Promise<{ readonly engine: Engine; readonly life: Life; readonly requests: readonly ModelRequest[] }>
}

export const openHouse = (store: (typeof STORES)[number]): House => {
  const base = makeDirectory()
  const machine = createMachine({ standsStill: true, store, storeDelayMs: 0 })
  const directory = join(base, "project")
  const file = join(base, "engine.sqlite")
  mkdirSync(directory)
  const closers: (() => Promise<void>)[] = []
  return {
    machine,
    file,
    directory,
    open: async (answers, changes = {}) => {
      const life = machine.start()
      const requests: ModelRequest[] = []
      const engine = await machine.until(
        life.open({
          database: file,
          models: [scriptedModel(answers, requests)],
          permissions: ALLOW_ALL,
          ...changes,
        }),
      )
      await machine.until(engine.sessions.create({ id: SESSION, location: { directory } }))
      closers.push(async () => {
        if (!life.isDead()) await engine.close()
      })
      return { engine, life, requests }
    },
    [Symbol.asyncDispose]: async () => {
      for (const close of closers.toReversed()) await machine.until(close())
      machine[Symbol.dispose]()
      rmSync(base, { recursive: true, force: true })
    },
  }
}
