/** Reads one long answer piece by piece, as a runner does, and prints what came. Run with a small heap. */
import { openModel } from "../../packages/engine/src/model/open-model.ts"

const [, , provider, url] = process.argv
if (provider !== "openai-compatible" && provider !== "openai" && provider !== "anthropic")
  throw new Error("which provider?")

const model = openModel(
  {
    id: "fake/claude-one",
    provider,
    baseURL: `${url}/v1`,
    apiKey: "none",
    contextWindow: 1_000_000,
    maxOutput: 100_000,
  },
  // Nothing here waits. The real clock would bring all of Effect into the small heap.
  { now: () => 0, sleep: () => Promise.resolve() },
)
const request = {
  sessionID: "ses_1",
  prompt: [{ role: "user" as const, content: [{ type: "text" as const, text: "go" }] }],
  tools: [],
}
let pieces = 0
let characters = 0
let last = ""
for await (const event of model.stream(request, new AbortController().signal)) {
  last = event.type
  if (event.type !== "text-delta") continue
  pieces += 1
  characters += event.delta.length
  // Slower than the provider, sometimes by a whole turn of the loop.
  if (pieces % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
}
process.stdout.write(`${JSON.stringify({ pieces, characters, last })}\n`)
