/**
 * The least that a durable loop can do: the same HTTP work with the same provider, where each step is a transaction with
 * one event row and its projection in raw `node:sqlite`, with the engine's `synchronous` policy (FULL for admitted input
 * and tool intents, NORMAL for the rest). No recovery, no leases, no permissions, no context.
 */
import { Agent, request as httpRequest } from "node:http"
import { DatabaseSync, type StatementSync } from "node:sqlite"

import { RESULT } from "./scene.ts"

export interface Floor {
  readonly turn: (session: string, text: string) => Promise<void>
  readonly close: () => void
}

interface Conversation {
  seq: number
  readonly messages: object[]
}

interface Answer {
  readonly text: string
  readonly call: { readonly id: string; readonly name: string; readonly input: string } | undefined
}

/** `head`: system messages and tools as the engine sends them, so that both send the same bytes. */
export const openFloor = (options: {
  readonly file: string
  readonly port: number
  readonly head: { readonly messages: readonly object[]; readonly tools: readonly object[] }
}): Floor => {
  const { file, port, head } = options
  const database = new DatabaseSync(file)
  database.exec(
    `pragma journal_mode=wal;
     create table event (session text, seq integer, type text, time integer, data text, primary key (session, seq)) strict;
     create table session (id text primary key, seq integer, updated integer) strict;
     create table input (id text primary key, session text, prompt text, promoted integer) strict;
     create table message (id text primary key, session text, seq integer, type text, data text) strict;
     create table part (message text, ordinal integer, type text, data text, primary key (message, ordinal)) strict;`,
  )
  const insertEvent = database.prepare("insert into event values (?, ?, ?, ?, ?)")
  const moveSession = database.prepare(
    "insert into session values (?, ?, ?) on conflict (id) do update set seq = excluded.seq, updated = excluded.updated",
  )
  const projections = {
    admitted: database.prepare("insert into input values (?, ?, ?, null)"),
    promoted: database.prepare("update input set promoted = ? where id = ?"),
    message: database.prepare("insert into message values (?, ?, ?, ?, ?)"),
    part: database.prepare("insert into part values (?, ?, ?, ?)"),
    settled: database.prepare("update part set data = ? where message = ? and ordinal = ?"),
  }
  const conversations = new Map<string, Conversation>()
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  let durability = ""
  let ids = 0

  const commit = (
    mode: "FULL" | "NORMAL",
    session: string,
    conversation: Conversation,
    type: string,
    data: object,
    project: readonly (readonly [StatementSync, ...(string | number)[]])[],
  ): void => {
    if (durability !== mode) {
      database.exec(`pragma synchronous=${mode}`)
      durability = mode
    }
    database.exec("begin immediate")
    conversation.seq += 1
    insertEvent.run(session, conversation.seq, type, Date.now(), JSON.stringify(data))
    for (const [statement, ...values] of project) statement.run(...values)
    moveSession.run(session, conversation.seq, Date.now())
    database.exec("commit")
  }

  const ask = (messages: readonly object[]): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify({
        model: "one",
        messages: [...head.messages, ...messages],
        tools: head.tools,
        stream: true,
        stream_options: { include_usage: true },
      })
      const request = httpRequest(
        {
          agent,
          port,
          host: "127.0.0.1",
          path: "/v1/chat/completions",
          method: "POST",
          headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
        },
        (response) => {
          let rest = ""
          let text = ""
          let call: Answer["call"]
          response.setEncoding("utf8")
          response.on("data", (data: string) => {
            const lines = (rest + data).split("\n")
            rest = lines.pop() ?? ""
            for (const line of lines) {
              if (!line.startsWith("data: {")) continue
              const { choices } = JSON.parse(line.slice(6)) as {
                choices: readonly {
                  delta: {
                    content?: string
                    tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[]
                  }
                }[]
              }
              const delta = choices[0]?.delta
              if (delta?.content !== undefined) text += delta.content
              const [called] = delta?.tool_calls ?? []
              if (called !== undefined)
                call = { id: called.id, name: called.function.name, input: called.function.arguments }
            }
          })
          response.on("end", () => resolve({ text, call }))
        },
      )
      request.on("error", reject)
      request.end(body)
    })

  const turn: Floor["turn"] = async (session, text) => {
    const conversation = conversations.get(session) ?? { seq: 0, messages: [] }
    conversations.set(session, conversation)
    const id = `msg_${(ids += 1)}`
    commit("FULL", session, conversation, "prompt.admitted", { id, prompt: { text } }, [
      [projections.admitted, id, session, text],
    ])
    commit("NORMAL", session, conversation, "prompt.promoted", { id }, [
      [projections.promoted, conversation.seq, id],
      [projections.message, id, session, conversation.seq, "user", JSON.stringify({ text })],
    ])
    conversation.messages.push({ role: "user", content: text })
    for (;;) {
      const message = `msg_${(ids += 1)}`
      commit("NORMAL", session, conversation, "step.started", { message, model: "one" }, [
        [projections.message, message, session, conversation.seq, "assistant", "{}"],
      ])
      const answer = await ask(conversation.messages)
      if (answer.text !== "")
        commit("NORMAL", session, conversation, "text.ended", { message, text: answer.text }, [
          [projections.part, message, 0, "text", JSON.stringify({ text: answer.text })],
        ])
      const { call } = answer
      if (call !== undefined) {
        const input = JSON.parse(call.input) as object
        commit(
          "FULL",
          session,
          conversation,
          "tool.called",
          { message, call: call.id, tool: call.name, input },
          [[projections.part, message, 1, "tool", JSON.stringify({ input })]],
        )
      }
      commit("NORMAL", session, conversation, "step.ended", { message, usage: { input: 1, output: 1 } }, [])
      if (call === undefined) {
        conversation.messages.push({ role: "assistant", content: answer.text })
        return
      }
      const result = await Promise.resolve(RESULT)
      commit("NORMAL", session, conversation, "tool.success", { message, call: call.id, content: result }, [
        [projections.settled, JSON.stringify({ result }), message, 1],
      ])
      conversation.messages.push(
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: call.id, type: "function", function: { name: call.name, arguments: call.input } },
          ],
        },
        { role: "tool", tool_call_id: call.id, content: result },
      )
    }
  }

  return {
    turn,
    close: () => {
      agent.destroy()
      database.close()
    },
  }
}
