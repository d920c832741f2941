/**
 * One node of the chaos run. Its arguments: database, project, lease, sessions. It sends prompt after prompt to one session
 * after the other, and repeats each under its id until there is a receipt. On SIGTERM it leaves in good order. Prints
 * `ready` and `acked <id>`.
 */
import { setTimeout as delay } from "node:timers/promises"

import { openEngine, type Engine } from "@meridian/engine"

const [, , database = "", directory = "", lease = "3000", count = "6"] = process.argv
const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** A shell that takes long enough to be caught in the middle, and leaves a mark with the time for every act. */
const command = (name: string): string =>
  `for act in 1 2 3 4 5 6; do echo "$act ${name} $(date +%s%3N)" >> marks; sleep 0.02; done`

const open = async (): Promise<Engine> => {
  for (;;)
    try {
      return await openEngine({
        database,
        models: [
          {
            id: "fake/one",
            provider: "scripted",
            contextWindow: 1_000_000,
            maxOutput: 8_000,
            script: ({ lastUser, body }) => {
              const text = JSON.stringify(body)
              const name = /prompt (\S+)/.exec(lastUser)?.[1]
              const since = text.slice(text.lastIndexOf(lastUser))
              if (name === undefined || since.includes('"tool-call"')) return { text: "done" }
              return { text: "working", tools: [{ name: "bash", input: { command: command(name) } }] }
            },
          },
        ],
        permissions: [{ action: "*", resource: "*", effect: "allow" }],
        limits: { leaseMs: Number(lease) },
      })
    } catch {
      await delay(100)
    }
}

const again = async <A>(body: () => Promise<A>): Promise<A> => {
  for (;;)
    try {
      return await body()
    } catch {
      await delay(50)
    }
}

const { sessions, close } = await open()
const state = { leaving: false }
process.on("SIGTERM", () => {
  state.leaving = true
  void close({ drainMs: 20_000 }).then(() => process.exit(0))
})
const names = Array.from({ length: Number(count) }, (_, index) => `ses_chaos_${index}`)
for (const id of names) await again(() => sessions.create({ id, location: { directory } }))
say("ready")
for (let round = 1; !state.leaving; round += 1) {
  const name = `${process.pid}.${Date.now()}.${round}`
  const id = `msg_${name}`
  const sessionID = names[(process.pid + round) % names.length] ?? ""
  await again(() => sessions.prompt({ id, sessionID, prompt: { text: `prompt ${name}` }, delivery: "queue" }))
  say(`acked ${id} ${sessionID}`)
  await delay(120)
}
