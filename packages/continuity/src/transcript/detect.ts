/** Which harness wrote a file, told by what is in it: names of files say nothing. */
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

/** An export of OpenCode is one document, however its lines are broken. */
export const isDocument = (start: string): boolean => /^\uFEFF?\s*\{\s*"(?:info|messages)"\s*:/.test(start)

/** One line of a session, or undefined when it could be anybody's. */
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
