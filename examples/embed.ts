/**
 * A program with an agent inside. No key is needed: the model is a script, everything else is the real engine.
 *
 *   npm run build && npx node examples/embed.ts     (the project's own Node; 24 or newer also works)
 */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { openEngine } from "../packages/engine/dist/index.js"

const directory = await mkdtemp(join(tmpdir(), "meridian-embed-"))

const engine = await openEngine({
  // A file: kill this program at any line, start it again, and the session continues where it was.
  database: join(directory, "engine.sqlite"),
  models: [
    {
      id: "fake/one",
      provider: "scripted", // "anthropic", "openai" and "openai-compatible" take a key and an address instead
      contextWindow: 200_000,
      maxOutput: 8_000,
      script: [
        { text: "I look at the sky.", tools: [{ name: "weather", input: { city: "Lisbon" } }] },
        { text: "It is sunny in Lisbon." },
      ],
    },
  ],
  permissions: [{ action: "*", resource: "*", effect: "allow" }],
  tools: [
    {
      name: "weather",
      description: "The weather of a city",
      input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      execute: async (input: { readonly city: string }) => `${input.city}: sunny`,
    },
  ],
})

const session = await engine.sessions.create({ location: { directory } })
const receipt = await engine.sessions.prompt({
  sessionID: session.id,
  prompt: { text: "How is the weather in Lisbon?" },
})
process.stdout.write(`admitted as event ${receipt.admittedSeq}\n`)
await engine.sessions.wait(session.id)

for await (const event of engine.sessions.events({ sessionID: session.id }))
  if ("seq" in event) process.stdout.write(`${event.seq} ${event.type}\n`)

for (const message of (await engine.sessions.messages({ sessionID: session.id })).items) {
  if (message.type === "user") process.stdout.write(`user: ${message.text}\n`)
  if (message.type !== "assistant") continue
  for (const part of message.content)
    process.stdout.write(
      part.type === "tool" ? `${part.tool}: ${part.state.status}\n` : `model: ${part.text}\n`,
    )
}

await engine.close()
await rm(directory, { recursive: true, force: true })
