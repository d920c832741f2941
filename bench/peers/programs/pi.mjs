/** pi's coding agent, used as a library. Each session is a JSONL file. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import {
  createAgentSession,
  createExtensionRuntime,
  ModelRuntime,
  SessionManager,
  SettingsManager,
} from "@earendil-works/pi-coding-agent"

import { serve } from "./serve.mjs"

await serve(async ({ folder, address, tool }) => {
  const agentDir = join(folder, "agent")
  mkdirSync(agentDir, { recursive: true })
  const modelsPath = join(agentDir, "models.json")
  const models = [{ id: "one", contextWindow: 100_000_000, maxTokens: 4000 }]
  const bench = { baseUrl: `${address}/v1`, api: "openai-completions", apiKey: "none", models }
  writeFileSync(modelsPath, JSON.stringify({ providers: { bench } }))
  const modelRuntime = await ModelRuntime.create({ authPath: join(agentDir, "auth.json"), modelsPath })
  const model = modelRuntime.getModel("bench", "one")
  const resourceLoader = {
    getExtensions: () => ({ extensions: [], errors: [], runtime: createExtensionRuntime() }),
    getSkills: () => ({ skills: [], diagnostics: [] }),
    getPrompts: () => ({ prompts: [], diagnostics: [] }),
    getThemes: () => ({ themes: [], diagnostics: [] }),
    getAgentsFiles: () => ({ agentsFiles: [] }),
    getSystemPrompt: () => "You are a coding agent.",
    getSystemPromptSource: () => undefined,
    getAppendSystemPrompt: () => [],
    getAppendSystemPromptSources: () => [],
    extendResources: () => {},
    reload: async () => {},
  }
  const noop = {
    name: "noop",
    label: "noop",
    description: "Does nothing and answers with a kilobyte.",
    parameters: { type: "object", properties: { n: { type: "integer" } } },
    execute: async () => ({ content: [{ type: "text", text: await tool() }], details: {} }),
  }
  const open = async (name) => {
    const place = join(folder, name)
    mkdirSync(place, { recursive: true })
    const { session } = await createAgentSession({
      cwd: place,
      agentDir,
      model,
      thinkingLevel: "off",
      modelRuntime,
      resourceLoader,
      tools: ["noop"],
      customTools: [noop],
      sessionManager: SessionManager.continueRecent(place, join(place, "sessions")),
      settingsManager: SettingsManager.inMemory({ compaction: { enabled: false } }),
    })
    return session
  }
  const sessions = new Map()
  const sessionOf = (name) => {
    if (!sessions.has(name)) sessions.set(name, open(name))
    return sessions.get(name)
  }
  const turn = async (name, text) => {
    const session = await sessionOf(name)
    await session.prompt(text)
  }
  return { turn, resume: (name) => turn(name, "Go on."), close: async () => {} }
})
