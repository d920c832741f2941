/**
 * What Codex records beside the conversation: files that its commands read or changed, the model's context window, the
 * mode.
 */
import { countAt, listAt, objectAt, textAt, wordAt, asObject, type JsonObject } from "@meridian/protocol"

import { dated } from "./conversation.ts"
import type { Piece } from "./piece.ts"

/** An `event_msg` about a turn that begins or an item that has ended. */
export const stateInEvent = (line: JsonObject, payload: JsonObject): readonly Piece[] => {
  switch (wordAt(payload, "type")) {
    case "task_started": {
      const tokens = countAt(payload, "model_context_window")
      const mode = textAt(payload, "collaboration_mode_kind")
      return [
        ...(tokens === 0 ? [] : [{ kind: "window", tokens } as const]),
        ...(mode === undefined ? [] : [{ kind: "mode", name: mode } as const]),
      ]
    }
    case "item_completed":
      return filesOf(line, objectAt(payload, "item"))
    default:
      return []
  }
}

/** `CommandExecution` contains the parsed command; `FileChange` names the changed paths. */
const filesOf = (line: JsonObject, item: JsonObject | undefined): readonly Piece[] => {
  const paths =
    wordAt(item, "type") === "FileChange"
      ? Object.keys(objectAt(item, "changes") ?? {})
      : listAt(item, "parsed_cmd").flatMap((part) => {
          const command = asObject(part)
          return wordAt(command, "type") === "read" ? (textAt(command, "path") ?? []) : []
        })
  return paths.length === 0 ? [] : [{ kind: "files", ...dated(line["timestamp"]), paths }]
}

/** A skill that the user named: `<skill>`, its name and path in tags, then the body. */
export const skillIn = (text: string): readonly Piece[] => {
  const [, name, body] = SKILL.exec(text) ?? []
  return name === undefined || body === undefined ? [] : [{ kind: "skill", name: name.trim(), body }]
}

const SKILL =
  /^\s*<skill>\s*<name>([^<]{1,200})<\/name>(?:\s*<path>[^<]{0,4000}<\/path>)?\s*([^]*?)\s*<\/skill>/
