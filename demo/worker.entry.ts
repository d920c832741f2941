/** The process that is killed: opens the engine, starts or resumes the session, ends when it has settled. */
import { openEngine } from "../packages/engine/dist/index.js"
import { createModel } from "./model.ts"
import { TASK } from "./project.ts"

const [mode = "", folder = "", directory = ""] = process.argv.slice(2)
const SESSION = "ses_demo"

const engine = await openEngine({
  database: `${folder}/engine.sqlite`,
  models: [
    {
      id: "scripted/demo",
      provider: "scripted",
      contextWindow: 7_200,
      maxOutput: 600,
      script: createModel(`${folder}/probes.jsonl`),
    },
  ],
  permissions: [{ action: "*", resource: "*", effect: "allow" }],
  compaction: { keepTokens: 300 },
})
if (mode === "start") {
  await engine.sessions.create({ id: SESSION, location: { directory } })
  await engine.sessions.prompt({ id: "msg_task", sessionID: SESSION, prompt: { text: TASK } })
  for await (const event of engine.sessions.events({ sessionID: SESSION, follow: true }))
    if (event.type === "session.next.tool.called.1" && JSON.stringify(event.data).includes("sleep 30")) {
      process.stdout.write("in the middle of a tool call\n")
      break
    }
}
if (mode === "resume") {
  const { status } = await engine.sessions.get(SESSION)
  process.stdout.write(`status after the crash: ${status}\n`)
  await engine.sessions.run(SESSION)
  await engine.close()
}
