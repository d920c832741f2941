/** W8: what a text turn costs with one extension that has every hook, compared with the same turn without. */
import { join } from "node:path"

import { median, PROMPT, temporaryFolder, type Line, type Provider } from "./scene.ts"
import { openOurs, overhead, ourTurn } from "./turns.ts"

const WARM_UP = 20

export const benchExtensions = async (provider: Provider, turns: number): Promise<Line> => {
  const folder = temporaryFolder()
  const project = temporaryFolder()
  const [plain, extended] = await Promise.all(
    ["plain", "extended"].map((name) => openOurs(join(folder.path, `${name}.sqlite`), provider.port)),
  )
  if (plain === undefined || extended === undefined) throw new Error("two engines")
  extended.extensions.add({
    name: "every",
    hooks: {
      beforeRequest: (request) => ({
        ...request,
        system: [...request.system, "One more sentence for every request."],
        headers: { "x-bench": "1" },
      }),
      beforeTool: (call) => call,
      afterTool: () => undefined,
      afterTurn: () => undefined,
      onCompaction: () => undefined,
    },
  })
  const sessions = await Promise.all(
    [plain, extended].map((engine) => engine.sessions.create({ location: { directory: project.path } })),
  )
  const [ours, theirs]: [number[], number[]] = [[], []]
  for (let turn = 0; turn < WARM_UP + turns; turn += 1)
    for (const [at, engine] of [extended, plain].entries()) {
      const id = sessions[1 - at]?.id ?? ""
      const took = await overhead(provider, () => ourTurn(engine, id, PROMPT.text))
      if (turn >= WARM_UP) (at === 0 ? ours : theirs).push(took)
    }
  await Promise.all([plain.close(), extended.close()])
  folder.remove()
  project.remove()
  return {
    what: "W8 text turn with every hook, median overhead",
    ours: `${median(ours).toFixed(2)} ms`,
    floor: `${median(theirs).toFixed(2)} ms`,
    ratio: median(ours) / median(theirs),
    limit: "at most 1.1",
  }
}
