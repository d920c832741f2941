/** LangGraph.js: its ready-made agent, with its own SQLite checkpoints. */
import { join } from "node:path"

import { tool as makeTool } from "@langchain/core/tools"
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite"
import { createReactAgent } from "@langchain/langgraph/prebuilt"
import { ChatOpenAI } from "@langchain/openai"
import { z } from "zod"

import { serve } from "./serve.mjs"

await serve(async ({ folder, address, tool }) => {
  const agent = createReactAgent({
    llm: new ChatOpenAI({
      model: "one",
      apiKey: "none",
      maxRetries: 0,
      configuration: { baseURL: `${address}/v1` },
    }),
    tools: [
      makeTool(() => tool(), {
        name: "noop",
        description: "Does nothing and answers with a kilobyte.",
        schema: z.object({ n: z.number().optional() }),
      }),
    ],
    checkpointSaver: SqliteSaver.fromConnString(join(folder, "checkpoints.sqlite")),
  })
  const config = (name) => ({ configurable: { thread_id: name }, recursionLimit: 100 })
  /** Streams, as every program here does. The model's own `streaming` option would fetch a tokenizer from the network. */
  const work = async (input, name) => {
    await Array.fromAsync(await agent.stream(input, { ...config(name), streamMode: "messages" }))
  }
  const turn = (name, text) => work({ messages: [{ role: "user", content: text }] }, name)
  return {
    turn,
    // Its own way to resume is from the checkpoint. When the checkpoint has no work left, it gets the prompt like the
    // others.
    resume: async (name) => {
      const { next } = await agent.getState(config(name))
      if (next.length === 0) return turn(name, "Go on.")
      await work(null, name)
    },
    close: async () => {},
  }
})
