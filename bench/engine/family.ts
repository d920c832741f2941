/**
 * 64 children of one parent compared with 64 sessions that do the same work, and the cost of a prompt's mentions compared
 * with reading the files.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"

import { openEngine, type Engine, type ModelConfig } from "../../packages/engine/dist/index.js"
import { median, temporaryFolder, type Line } from "./scene.ts"

const CHILDREN = 64
/** Turns of one child. */
const TURNS = 6

const model = (): ModelConfig => ({
  id: "bench/one",
  provider: "scripted",
  contextWindow: 1_000_000,
  maxOutput: 4_000,
  script: async ({ body }) => {
    const { prompt } = body as {
      readonly prompt: readonly { readonly role: string; readonly content: unknown }[]
    }
    const said = JSON.stringify(prompt.find(({ role }) => role === "user")?.content)
    const results = prompt.filter(({ role }) => role === "tool").length
    if (said.includes("parent"))
      return results > 0
        ? { text: "done" }
        : {
            tools: Array.from({ length: CHILDREN }, (_, n) => ({
              name: "task",
              input: { description: `child ${n}`, prompt: `work ${n}` },
            })),
          }
    return results < TURNS - 1 ? { tools: [{ name: "noop", input: { n: results } }] } : { text: "done" }
  },
})

const open = (file: string): Promise<Engine> =>
  openEngine({
    database: file,
    models: [model()],
    permissions: [{ action: "*", resource: "*", effect: "allow" }],
    tools: [{ name: "noop", description: "Does nothing.", input: { type: "object" }, execute: () => "done" }],
  })

/** Milliseconds until all of them have settled. */
const timed = async (
  work: (engine: Engine, directory: string) => Promise<readonly string[]>,
): Promise<number> => {
  const folder = temporaryFolder()
  const engine = await open(join(folder.path, "bench.sqlite"))
  const before = performance.now()
  const ids = await work(engine, folder.path)
  await Promise.all(ids.map((id) => engine.sessions.wait(id)))
  const took = performance.now() - before
  for (const id of ids) {
    const { items } = await engine.sessions.messages({ sessionID: id, order: "desc", limit: 1 })
    if (items[0]?.type !== "assistant" || items[0].finish !== "stop") throw new Error(`${id} is not done`)
  }
  await engine.close()
  folder.remove()
  return took
}

const asSessions = async ({ sessions }: Engine, directory: string): Promise<readonly string[]> =>
  Promise.all(
    Array.from({ length: CHILDREN }, async (_, n) => {
      const { id } = await sessions.create({ location: { directory } })
      await sessions.prompt({ sessionID: id, prompt: { text: `work ${n}` } })
      return id
    }),
  )

const asChildren = async ({ sessions }: Engine, directory: string): Promise<readonly string[]> => {
  const { id } = await sessions.create({ location: { directory } })
  await sessions.prompt({ sessionID: id, prompt: { text: "parent" } })
  await sessions.wait(id)
  return (await sessions.children(id)).map((child) => child.id)
}

export const benchChildren = async (rounds: number): Promise<Line> => {
  const [ours, floor]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    floor.push(await timed(asSessions))
    ours.push(await timed(asChildren))
  }
  const [children, sessions] = [median(ours), median(floor)]
  return {
    what: `${CHILDREN} children of one parent`,
    ours: `${children.toFixed(0)} ms`,
    floor: `${sessions.toFixed(0)} ms alone`,
    ratio: children / sessions,
    limit: "1.11",
  }
}

const FILES = 100
const FILE_BYTES = 4_096

/** Both admit the same bytes; one of them finds and reads the files itself. */
export const benchMentions = async (rounds: number): Promise<Line> => {
  const folder = temporaryFolder()
  const many = join(folder.path, "many")
  mkdirSync(many)
  const names = Array.from({ length: FILES }, (_, n) => join(many, `f${n}.txt`))
  for (const name of names) writeFileSync(name, "x".repeat(FILE_BYTES - 1).concat("\n"))
  const engine = await open(join(folder.path, "bench.sqlite"))
  const { id: sessionID } = await engine.sessions.create({ location: { directory: folder.path } })
  const [ours, floor]: [number[], number[]] = [[], []]
  for (let round = -3; round < rounds; round += 1) {
    const begun = performance.now()
    const texts = []
    for (const name of names) texts.push(await readFile(name, "utf8"))
    await engine.sessions.prompt({ sessionID, prompt: { text: texts.join("") }, resume: false })
    const read = performance.now()
    const { prompt } = await engine.sessions.prompt({
      sessionID,
      prompt: { text: "@many/*.txt" },
      expand: true,
      resume: false,
    })
    const expanded = performance.now()
    if (prompt.parts?.length !== FILES) throw new Error("not every file came along")
    if (round < 0) continue
    floor.push(read - begun)
    ours.push(expanded - read)
  }
  await engine.close()
  folder.remove()
  const [expansion, reading] = [median(ours), median(floor)]
  return {
    what: `a prompt that names ${FILES} files`,
    ours: `${expansion.toFixed(1)} ms`,
    floor: `${reading.toFixed(1)} ms read, sent`,
    ratio: expansion / reading,
    limit: "2",
  }
}
