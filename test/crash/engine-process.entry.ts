/**
 * A process with an engine. Its arguments: database, project, what to do, lease time. It prints one line per fact: `ready`,
 * `acked <id>`.
 *
 *   work, hang   prompt after prompt until it is killed; the shells of `hang` never end
 *   commit       one prompt, admitted only, for every line it is sent
 */
import { openEngine } from "@meridian/engine"

import { workerOptions } from "./engine-worker.ts"

const [, , database = "", directory = "", mode = "", leaseMs = "8000"] = process.argv
const sessionID = "ses_test"

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const { sessions } = await openEngine(
  workerOptions({ database, directory, leaseMs: Number(leaseMs), hangs: mode === "hang" }),
)
await sessions.create({ id: sessionID, location: { directory } })
say("ready")

if (mode === "commit")
  process.stdin.on("data", () => {
    const text = String(process.hrtime.bigint())
    void sessions.prompt({ sessionID, prompt: { text }, resume: false }).then(({ id }) => say(`acked ${id}`))
  })
else
  for (let round = 1; ; round += 1) {
    const name = `${process.pid}.${round}`
    const id = `msg_${name}`
    await sessions.prompt({ id, sessionID, prompt: { text: `prompt ${name}` }, delivery: "queue" })
    say(`acked ${id}`)
    if (round % 3 === 0) await sessions.wait(sessionID)
  }
