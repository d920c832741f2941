/** Recognises the harness of a file by its content; file names are not reliable. */
import { objectAt, textAt, wordAt, type JsonObject } from "@meridian/protocol"

import { openClaudeReader } from "./claude.ts"
import { openCodexReader, openEnvelope } from "./codex.ts"
import type { Format, OpenReader } from "./conversation.ts"
import { openOpencodeReader } from "./opencode.ts"
import { openPiReader } from "./pi.ts"

export const READERS: Readonly<Record<Format, OpenReader>> = {
  claude: openClaudeReader,
  codex: openCodexReader,
  opencode: openOpencodeReader,
  pi: openPiReader,
}

/** An OpenCode export is one document, whatever its line breaks. */
export const isDocument = (start: string): boolean => /^\uFEFF?\s*\{\s*"(?:info|messages)"\s*:/.test(start)

/** Recognises one line of a session; undefined when it could come from several harnesses. */
export const formatOf = (line: JsonObject): Format | undefined => {
  const type = wordAt(line, "type")
  if (type === "session" && textAt(line, "id") !== undefined) return "pi"
  const opened = openEnvelope(line)
  if (opened.type === "session_meta" && textAt(opened.payload, "id") !== undefined) return "codex"
  if (opened.type === "response_item" && objectAt(line, "payload") !== undefined) return "codex"
  if (textAt(line, "sessionId") !== undefined && type !== "") return "claude"
  if (type === "summary" && textAt(line, "leafUuid") !== undefined) return "claude"
  return undefined
}
