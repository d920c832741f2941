/** The process that is killed: opens the engine, starts or resumes the session, and ends when it has settled. */
import { openEngine } from "../packages/engine/dist/index.js"
import { createModel } from "./model.ts"
import { SESSION, SLOW_COMMAND, TASK, TITLE, WINDOW } from "./project.ts"

const [mode = "", folder = "", directory = ""] = process.argv.slice(2)

const engine = await openEngine({
  database: `${folder}/engine.sqlite`,
  models: [
    {
      id: "scripted/demo",
      provider: "scripted",
      contextWindow: WINDOW,
      maxOutput: 600,
      script: createModel(`${folder}/probes.jsonl`),
    },
  ],
  permissions: [{ action: "*", resource: "*", effect: "allow" }],
  compaction: { keepTokens: 300 },
})
if (mode === "start") {
  await engine.sessions.create({ id: SESSION, title: TITLE, location: { directory } })
  await engine.sessions.prompt({ id: "msg_task", sessionID: SESSION, prompt: { text: TASK } })
  for await (const event of engine.sessions.events({ sessionID: SESSION, follow: true }))
    if (event.type === "session.next.tool.called.1" && JSON.stringify(event.data).includes(SLOW_COMMAND)) {
      process.stdout.write("in the middle of a tool call\n")
      break
    }
}
if (mode === "resume") {
  const { status } = await engine.sessions.get(SESSION)
  process.stdout.write(`${status}\n`)
  await engine.sessions.run(SESSION)
  await engine.close()
}
