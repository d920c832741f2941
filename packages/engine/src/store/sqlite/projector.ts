/**
 * Derives the projections from one event, inside the event's own transaction. Reads nothing but the event and the tables
 * (no clock, no memory), so a rebuild from the log gives the same rows.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"

import type { RecordedUsage, StoredEvent } from "@meridian/protocol"

import { nextTitle } from "../../domain/title.ts"
import { AT_ONCE, NEVER } from "../../domain/transcript/parking.ts"
import { positionOf, STRIDE } from "./schema.ts"

export interface Projector {
  /** `key` is the session's key. The session row already exists, except for its creation. */
  readonly project: (key: number, event: StoredEvent) => void
}

export const createProjector = (database: DatabaseSync): Projector => {
  const statements = new Map<string, StatementSync>()
  const run = (sql: string, ...values: readonly SQLInputValue[]): void => {
    let statement = statements.get(sql)
    if (statement === undefined) {
      statement = database.prepare(sql)
      statements.set(sql, statement)
    }
    statement.run(...values)
  }

  const insertMessage = (position: number, id: string, type: string) =>
    run("insert into message (position, id, type) values (?, ?, ?)", position, id, type)

  const insertPart = (position: number, assistantMessageID: string, call: string | null) =>
    run(
      "insert into part (position, message, call) values (?, (select position from message where id = ?), ?)",
      position,
      assistantMessageID,
      call,
    )

  const insertRequest = (
    position: number,
    asked: { readonly requestID: string; readonly assistantMessageID: string; readonly callID: string },
  ) =>
    run(
      `insert into request (id, asked, message, call)
       values (?, ?, (select position from message where id = ?), ?)`,
      asked.requestID,
      position,
      asked.assistantMessageID,
      asked.callID,
    )

  const settlePart = (key: number, position: number, assistantMessageID: string, callID: string) => {
    // Parts follow their message, so the search starts there and ends with the session.
    run(
      `update part set settled = ? where position = (
         select part.position from part, message
         where message.id = ? and part.position > message.position and part.position < ?
           and part.message = message.position and part.call = ? and part.settled is null
         order by part.position limit 1)`,
      position,
      assistantMessageID,
      (key + 1) * STRIDE,
      callID,
    )
    // When a call ends, its requests end too, answered or not.
    run(
      `update request set withdrawn = ? where withdrawn = 0
         and message = (select position from message where id = ?) and call = ?`,
      position,
      assistantMessageID,
      callID,
    )
  }

  const nameByWords = (key: number, event: StoredEvent): void => {
    const title = nextTitle(undefined, event)
    if (title !== undefined)
      run(
        "update session set title = ?, title_by = ? where key = ? and title is null",
        title.text,
        title.by,
        key,
      )
  }

  const project: Projector["project"] = (key, event) => {
    const position = positionOf(key, event.seq)
    switch (event.type) {
      case "session.next.created.1": {
        const { sessionID, location, agent, model, title } = event.data
        run(
          `insert into session (key, id, seq, directory, workspace, agent, model, title, created, updated)
           values (?, ?, 0, ?, ?, ?, ?, ?, ?, ?)`,
          key,
          sessionID,
          location.directory,
          location.workspaceID ?? null,
          agent ?? null,
          model ?? null,
          title ?? null,
          event.time,
          event.time,
        )
        break
      }
      case "session.next.agent.switched.1":
        run("update session set agent = ? where key = ?", event.data.agent, key)
        insertMessage(position, `switch_${position}`, "agent-switched")
        break
      case "session.next.model.switched.1":
        run("update session set model = ? where key = ?", event.data.model, key)
        insertMessage(position, `switch_${position}`, "model-switched")
        break
      case "session.next.moved.1": {
        const { directory, workspaceID = null } = event.data.location
        run("update session set directory = ?, workspace = ? where key = ?", directory, workspaceID, key)
        break
      }
      case "session.next.renamed.1":
        run("update session set title = ?, title_by = null where key = ?", event.data.title, key)
        break
      case "session.next.titled.1": {
        const { title, usage, cost } = event.data
        run(
          "update session set title = ?, title_by = 'model' where key = ? and (title is null or title_by is not null)",
          title,
          key,
        )
        run(ADD_USAGE, ...usageValues(usage, cost), key)
        break
      }
      case "session.next.archived.1":
        run("update session set archived = ? where key = ?", event.data.archived ? 1 : 0, key)
        break
      case "session.next.prompt.admitted.1":
        run(
          "insert into input (id, admitted, delivery, resume) values (?, ?, ?, ?)",
          event.data.messageID,
          position,
          event.data.delivery,
          event.data.resume ? 1 : 0,
        )
        nameByWords(key, event)
        break
      case "session.next.prompt.promoted.1":
        run("update input set promoted = ? where id = ?", position, event.data.messageID)
        insertMessage(position, event.data.messageID, "user")
        break
      case "session.next.prompt.cancelled.1":
        run("update input set cancelled = ? where id = ?", position, event.data.messageID)
        break
      case "session.next.prompted.1":
        insertMessage(position, event.data.messageID, "user")
        nameByWords(key, event)
        break
      case "session.next.unparked.1":
        run(`update session set ${NOT_PARKED} where key = ?`, key)
        break
      case "session.next.synthetic.1":
        insertMessage(position, event.data.messageID, "synthetic")
        break
      case "session.next.interrupt.requested.1":
        run(`update session set interrupt_seq = ?, ${NOT_PARKED} where key = ?`, event.seq, key)
        break
      case "session.next.step.started.1":
        insertMessage(position, event.data.assistantMessageID, "assistant")
        run(`update session set open_step = ?, ${NOT_PARKED} where key = ?`, event.seq, key)
        break
      case "session.next.step.ended.2": {
        const { usage, cost } = event.data
        run("update message set ended = ? where id = ?", position, event.data.assistantMessageID)
        run(END_STEP, ...usageValues(usage, cost), key)
        break
      }
      case "session.next.step.failed.2":
        run("update message set ended = ? where id = ?", position, event.data.assistantMessageID)
        run("update session set open_step = null, failed_seq = ? where key = ?", event.seq, key)
        break
      case "session.next.output.given.1":
        run(
          "update message set output = coalesce(output, ?) where id = ?",
          position,
          event.data.assistantMessageID,
        )
        run(`update session set failed_seq = null, ${NOT_PARKED} where key = ?`, key)
        break
      case "session.next.text.ended.1":
      case "session.next.reasoning.ended.1":
        insertPart(position, event.data.assistantMessageID, null)
        break
      case "session.next.tool.called.1":
        insertPart(position, event.data.assistantMessageID, event.data.callID)
        break
      case "session.next.tool.success.1":
      case "session.next.tool.failed.1":
        settlePart(key, position, event.data.assistantMessageID, event.data.callID)
        // The work behind the call is unfinished. The session shows this until a step ends well.
        if (event.type === "session.next.tool.failed.1" && event.data.error.code === "interrupted")
          run("update session set failed_seq = ? where key = ?", event.seq, key)
        break
      case "session.next.todo.updated.1":
        run("update session set todo_seq = ? where key = ?", event.seq, key)
        break
      case "session.next.permission.asked.1":
        insertRequest(position, event.data)
        break
      case "session.next.question.asked.1": {
        const { requestID, assistantMessageID, callID } = event.data
        if (assistantMessageID !== undefined && callID !== undefined)
          insertRequest(position, { requestID, assistantMessageID, callID })
        else run("update session set parked_until = ?, question_seq = ? where key = ?", NEVER, event.seq, key)
        break
      }
      case "session.next.activity.resumed.1":
        run("update session set parked_until = ? where key = ?", AT_ONCE, key)
        break
      case "session.next.question.replied.1":
        if (event.data.callID === undefined)
          run(
            "update session set parked_until = ?, question_seq = null where key = ? and question_seq is not null",
            AT_ONCE,
            key,
          )
        else run("update request set replied = ? where id = ?", position, event.data.requestID)
        break
      case "session.next.permission.replied.1": {
        run("update request set replied = ? where id = ?", position, event.data.requestID)
        const { saved } = event.data
        for (const resource of saved?.resources ?? [])
          run(
            "insert or ignore into approval (project, action, resource, position) values (?, ?, ?, ?)",
            saved?.project ?? "",
            saved?.action ?? "",
            resource,
            position,
          )
        break
      }
      case "session.next.permission.revoked.1":
        // Only this session's approval: each other session records its own.
        run(
          `delete from approval where project = ? and action = ? and resource = ? and position / ${STRIDE} = ?`,
          event.data.project,
          event.data.action,
          event.data.resource,
          key,
        )
        break
      case "session.next.context.updated.1":
        insertMessage(position, event.data.messageID, "system")
        break
      case "session.next.compaction.ended.2":
        insertMessage(position, event.data.compactionID, "compaction")
        run(ADD_USAGE, ...usageValues(event.data.usage, event.data.cost), key)
        break
      case "session.next.parked.1":
        run("update session set parked_until = ? where key = ?", Math.round(event.data.until), key)
        break
      case "session.next.execution.failed.1":
        run(`update session set failed_seq = ?, ${NOT_PARKED} where key = ?`, event.seq, key)
        break
      case "session.next.task.ended.1":
        run(ADD_USAGE, ...usageValues(event.data.usage, event.data.cost), key)
        break
      case "session.next.undo.ended.1": {
        const { action, undoID, redoes, conversation, from } = event.data
        if (!conversation) break
        const end = (key + 1) * STRIDE
        if (action === "redo")
          run(
            "update message set undone = null where position > ? and position < ? and undone = ?",
            key * STRIDE,
            end,
            redoes ?? "",
          )
        else
          run(
            "update message set undone = ? where position >= ? and position < ? and undone is null and type <> 'system'",
            undoID,
            positionOf(key, from),
            position,
          )
        run(`update session set failed_seq = null, ${NOT_PARKED} where key = ?`, key)
        break
      }
      case "session.next.task.started.1":
      case "session.next.files.kept.1":
      case "session.next.files.missed.1":
      case "session.next.undo.started.1":
      case "session.next.output.refused.1":
      case "session.next.epoch.started.1":
      case "session.next.instruction.discovered.1":
      case "session.next.tool.pruned.1":
      case "session.next.compaction.requested.1":
      case "session.next.compaction.started.1":
      case "session.next.compaction.failed.1":
      case "session.next.compaction.restored.1":
      case "session.next.tool.resumed.1":
      case "session.next.retried.1":
      case "session.next.repetition.noticed.1":
      case "session.next.tooling.failed.1":
      case "session.next.budget.changed.1":
      case "session.next.warned.1":
      case "session.next.tool.adjusted.1":
        break
    }
  }

  return { project }
}

const NOT_PARKED = "parked_until = null, question_seq = null"
const USAGE = `input_tokens = input_tokens + ?, output_tokens = output_tokens + ?, reasoning_tokens = reasoning_tokens + ?,
  cache_read_tokens = cache_read_tokens + ?, cache_write_tokens = cache_write_tokens + ?, cost = cost + ?`
const END_STEP = `update session set open_step = null, failed_seq = null, ${USAGE} where key = ?`
const ADD_USAGE = `update session set ${USAGE} where key = ?`

const usageValues = (usage: RecordedUsage, cost: number): readonly number[] => [
  usage.input,
  usage.output,
  usage.reasoning,
  usage.cacheRead,
  usage.cacheWrite,
  cost,
]
