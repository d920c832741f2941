/** A whole engine that runs one command, to be killed while it runs. Arguments: database, directory, command. */
import { openEngine } from "@meridian/engine"

const [, , database = "", directory = "", command = ""] = process.argv
const engine = await openEngine({
  database,
  models: [
    {
      id: "scripted/one",
      provider: "scripted",
      model: "one",
      contextWindow: 100_000,
      maxOutput: 1000,
      script: [{ tools: [{ name: "bash", input: { command } }] }, { text: "done" }],
    },
  ],
  model: "scripted/one",
  permissions: [{ action: "*", resource: "*", effect: "allow" }],
})
await engine.sessions.create({ id: "ses_killed", location: { directory } })
await engine.sessions.prompt({ sessionID: "ses_killed", prompt: { text: "go" } })
await engine.sessions.wait("ses_killed")
