/** Events of the host: sessions are created, compacted, idle and deleted; messages are taken back; todo lists change. */
import type { TodoItem } from "@meridian/protocol"

import type { BriefLayer } from "./brief-layer.ts"
import { fieldOf, listField, textField } from "./field.ts"
import { modelOf } from "./history.ts"
import type { Options } from "./options.ts"
import type { Session, Sessions } from "./session.ts"
import type { SilentMessages } from "./silent-messages.ts"

export interface Listener {
  readonly sessions: Sessions
  readonly meet: (id: string) => Promise<Session>
  readonly brief: BriefLayer
  readonly silent: SilentMessages
  readonly options: Options
}

export const onEvent = async (event: unknown, listener: Listener): Promise<void> => {
  const properties = fieldOf(event, "properties")
  const id = textField(properties, "sessionID") ?? textField(fieldOf(properties, "info"), "id")
  if (id === undefined) return
  const { sessions, meet, brief, silent, options } = listener
  switch (textField(event, "type") ?? "") {
    case "session.created": {
      const session = sessions.get(id)
      const info = fieldOf(properties, "info")
      session.agent ??= textField(info, "agent")
      session.model ??= modelOf(fieldOf(info, "model"))
      if (options.silentMessages) await silent.created(session)
      return
    }
    case "session.compacted": {
      const session = await meet(id)
      session.isSummarising = false
      brief.resume(session, session.paths)
      if (options.silentMessages) await silent.compacted(session)
      return
    }
    case "session.status": {
      const session = sessions.get(id)
      const state = textField(fieldOf(properties, "status"), "type")
      session.busy = state !== undefined && state !== "idle"
      if (state === "idle" && options.silentMessages) await silent.idle(session)
      return
    }
    case "session.idle": {
      const session = sessions.get(id)
      session.busy = false
      if (options.silentMessages) await silent.idle(session)
      return
    }
    case "message.removed": {
      // The taken-back message no longer counts. The history is read again at the next request.
      const session = sessions.get(id)
      session.conversation.forget()
      session.history = undefined
      return
    }
    case "todo.updated": {
      const items = listField(properties, "todos").flatMap(todoOf)
      sessions.get(id).conversation.note({ kind: "todo", items })
      return
    }
    case "session.deleted":
      sessions.forget(id)
      return
    default:
  }
}

const STATUS: Readonly<Record<string, TodoItem["status"]>> = {
  pending: "pending",
  in_progress: "in_progress",
  completed: "completed",
  cancelled: "cancelled",
}

const todoOf = (entry: unknown): readonly TodoItem[] => {
  const content = textField(entry, "content")
  const status = STATUS[textField(entry, "status") ?? ""]
  return content === undefined || status === undefined ? [] : [{ content, status }]
}
