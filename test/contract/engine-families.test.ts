/** The base instructions of each family of models, as the four wires carry them. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { openEngine, type ModelConfig } from "@meridian/engine"
import { startScriptedProvider } from "@meridian/testkit"
import { expect } from "vitest"

import { verifies } from "../verifies.ts"

const OWN_WORDS = {
  anthropic: "never bend the test",
  openai: "Do not ask for leave",
  google: "character by character",
  other: "never guess at the content of a file",
} as const

const MODELS = [
  { family: "anthropic", provider: "anthropic", model: "claude-sonnet-4-5", path: "/v1" },
  { family: "openai", provider: "openai", model: "gpt-5", path: "/v1" },
  { family: "google", provider: "google", model: "gemini-2.5-pro", path: "/v1beta" },
  { family: "other", provider: "openai-compatible", model: "qwen3-coder", path: "/v1" },
  // The same model through another provider.
  { family: "anthropic", provider: "openai-compatible", model: "anthropic/claude-opus-4.1", path: "/v1" },
] as const

interface Asked {
  readonly body: unknown
  readonly text: string
}

const openScene = async () => {
  const provider = await startScriptedProvider({ respond: () => ({ text: "done" }) })
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "meridian-families-")))
  const models = MODELS.map(({ provider: name, model, path }, at): ModelConfig => ({
    id: `family/${at}`,
    model,
    provider: name,
    baseURL: `${provider.url}${path}`,
    apiKey: "key",
    contextWindow: 100_000,
    maxOutput: 1_000,
  }))
  const engine = await openEngine({
    database: ":memory:",
    models,
    agents: [
      { name: "build", tools: ["glob"] },
      { name: "own", prompt: "You count files.", tools: ["glob"] },
    ],
  })
  const { id: sessionID } = await engine.sessions.create({
    id: "ses_families",
    location: { directory: folder },
  })
  const ask = async (at: number): Promise<Asked> => {
    await engine.sessions.switchModel({ sessionID, model: `family/${at}` })
    await engine.sessions.prompt({ sessionID, prompt: { text: `hello ${at}` } })
    await engine.sessions.wait(sessionID)
    const body = provider.requests.at(-1)?.body
    return { body, text: JSON.stringify(body) }
  }
  return {
    engine,
    sessionID,
    folder,
    ask,
    [Symbol.asyncDispose]: async () => {
      await engine.close()
      await provider.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const familiesIn = (text: string): readonly string[] =>
  Object.entries(OWN_WORDS).flatMap(([family, words]) => (text.includes(words) ? [family] : []))

verifies("parity.base-instructions", async () => {
  await using scene = await openScene()
  for (const [at, { family }] of MODELS.entries())
    // oxlint-disable-next-line eslint/no-await-in-loop -- one session, one model after the other
    expect(familiesIn((await scene.ask(at)).text)).toEqual([family])
})

verifies(
  "parity.base-instructions",
  async () => {
    await using scene = await openScene()
    await scene.engine.sessions.switchAgent({ sessionID: scene.sessionID, agent: "own" })
    const { text } = await scene.ask(0)
    expect([text.includes("You count files."), familiesIn(text)]).toEqual([true, []])
  },
  "an agent with a prompt of its own replaces them",
)

verifies(
  "parity.base-instructions",
  async () => {
    const today = /\b[A-Z][a-z]{2,8},? (?:[A-Z][a-z]+ \d+,? \d{4}|\d+ [A-Z][a-z]+ \d{4})|\d{4}-\d{2}-\d{2}/g
    for (const at of MODELS.keys()) {
      // oxlint-disable-next-line eslint/no-await-in-loop -- a scene each
      await using scene = await openScene()
      // oxlint-disable-next-line eslint/no-await-in-loop -- a scene each
      const { body } = await scene.ask(at)
      const shown = JSON.stringify(body, null, 2)
        .replaceAll(scene.folder, "PROJECT")
        .replaceAll(today, "DATE")
        .replaceAll(process.platform, "PLATFORM")
      const { family, provider } = MODELS[at] ?? { family: "", provider: "" }
      // oxlint-disable-next-line eslint/no-await-in-loop -- a scene each
      await expect(`${shown}\n`).toMatchFileSnapshot(`families/${family}-${provider}.txt`)
    }
  },
  "the whole first request of each, as it was agreed upon",
)
