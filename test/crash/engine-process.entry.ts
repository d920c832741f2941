/**
 * A process with an engine, told what to do by its arguments: database, project, what to do. Says one line per fact:
 * `ready`, `acked <id>`, `idle`. Its tools leave marks in the project: `start <call>` and `end <call>`.
 */
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"

import { openEngine, type Reply } from "@meridian/engine"

const [, , database = "", directory = "", mode = "", leaseMs = "8000"] = process.argv
const sessionID = "ses_test"

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

/** Decides by what it is shown, so that a session which was cut anywhere still makes sense. */
const answer = (lastUser: string, body: string): Reply => {
  const round = Number(/prompt (\d+)/.exec(lastUser)?.[1] ?? 0)
  const called = body.slice(body.lastIndexOf(lastUser)).split("tool-call").length - 1
  if (called > 0) return { text: "done" }
  const command = `echo "start sh_${round}" >> marks; sleep 0.02; echo "end sh_${round}" >> marks`
  return {
    text: "working",
    tools: [
      { name: "mark", input: { round } },
      { name: "bash", input: { command: mode === "hang" ? `${command}; sleep 1000` : command } },
    ],
  }
}

const engine = await openEngine({
  database,
  models: [
    {
      id: "fake/one",
      provider: "scripted",
      contextWindow: 200_000,
      maxOutput: 8_000,
      script: ({ lastUser, body }) => answer(lastUser, JSON.stringify(body)),
    },
  ],
  permissions: [{ action: "*", resource: "*", effect: "allow" }],
  limits: { leaseMs: Number(leaseMs) },
  tools: [
    {
      name: "mark",
      description: "writes a mark when it starts and one when it ends",
      input: { type: "object" },
      execute: async (_input: never, { messageID, callID }) => {
        appendFileSync(join(directory, "marks"), `start ${messageID}/${callID}\n`)
        await delay(5)
        appendFileSync(join(directory, "marks"), `end ${messageID}/${callID}\n`)
        return "marked"
      },
    },
  ],
})
const { sessions } = engine
await sessions.create({ id: sessionID, location: { directory } })
say("ready")

if (mode === "recover") {
  await sessions.wait(sessionID).catch(() => undefined)
  await sessions.run(sessionID)
  say("idle")
  await engine.close()
} else if (mode === "commit") {
  // Waits for its turn: one prompt per line of its input.
  process.stdin.on("data", () => {
    void sessions
      .prompt({ sessionID, prompt: { text: String(process.hrtime.bigint()) }, resume: false })
      .then(() => say(`committed ${process.hrtime.bigint()}`))
  })
} else {
  for (let round = 1; ; round += 1) {
    const id = `msg_${round}`
    await sessions.prompt({ id, sessionID, prompt: { text: `prompt ${round}` }, delivery: "queue" })
    say(`acked ${id}`)
    if (round % 3 === 0) await sessions.wait(sessionID)
  }
}
