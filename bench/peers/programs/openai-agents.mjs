/** OpenAI Agents JS. It ships no durable session store, so it gets the smallest one that uses SQLite. */
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

import {
  Agent,
  OpenAIProvider,
  run,
  setDefaultModelProvider,
  setTracingDisabled,
  tool as makeTool,
} from "@openai/agents"

import { serve } from "./serve.mjs"

await serve(async ({ folder, address, tool }) => {
  setTracingDisabled(true)
  setDefaultModelProvider(
    new OpenAIProvider({ baseURL: `${address}/v1`, apiKey: "none", useResponses: false }),
  )
  const agent = new Agent({
    name: "bench",
    model: "one",
    instructions: "You are a coding agent.",
    tools: [
      makeTool({
        name: "noop",
        description: "Does nothing and answers with a kilobyte.",
        parameters: {
          type: "object",
          properties: { n: { type: "integer" } },
          required: [],
          additionalProperties: true,
        },
        strict: false,
        execute: () => tool(),
      }),
    ],
  })
  const database = new DatabaseSync(join(folder, "sessions.sqlite"))
  database.exec(
    `pragma journal_mode=wal; pragma synchronous=full;
     create table if not exists item (id integer primary key, session text, data text);
     create index if not exists item_session on item (session, id);`,
  )
  const all = database.prepare("select data from item where session = ? order by id")
  const insert = database.prepare("insert into item (session, data) values (?, ?)")
  const last = database.prepare("select id, data from item where session = ? order by id desc limit 1")
  const remove = database.prepare("delete from item where id = ?")
  const clear = database.prepare("delete from item where session = ?")
  const sessionOf = (name) => ({
    getSessionId: async () => name,
    getItems: async (limit) => {
      const items = all.all(name).map(({ data }) => JSON.parse(data))
      return limit === undefined ? items : items.slice(-limit)
    },
    addItems: async (items) => {
      database.exec("begin immediate")
      for (const item of items) insert.run(name, JSON.stringify(item))
      database.exec("commit")
    },
    popItem: async () => {
      const row = last.get(name)
      if (row === undefined) return undefined
      remove.run(row.id)
      return JSON.parse(row.data)
    },
    clearSession: async () => void clear.run(name),
  })
  const turn = async (name, text) => {
    const stream = await run(agent, text, { session: sessionOf(name), stream: true })
    await stream.completed
  }
  return { turn, resume: (name) => turn(name, "Go on."), close: async () => database.close() }
})
