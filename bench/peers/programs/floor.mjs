/** The least that a durable loop can do (`bench/engine/floor.ts`). All programs are compared with it. */
import { join } from "node:path"

import { serve } from "./serve.mjs"

const { openFloor } = await import(`${process.env.BENCH_ROOT}/bench/engine/floor.ts`)

await serve(async ({ folder, address }) => {
  const tools = [
    {
      type: "function",
      function: {
        name: "noop",
        description: "Does nothing and answers with a kilobyte.",
        parameters: { type: "object", properties: { n: { type: "integer" } } },
      },
    },
  ]
  const head = { messages: [{ role: "system", content: "You are a coding agent." }], tools }
  const floor = openFloor({ file: join(folder, "floor.sqlite"), port: Number(new URL(address).port), head })
  return {
    turn: (name, text) => floor.turn(name, text),
    resume: async () => {},
    close: async () => floor.close(),
  }
})
