/** Session files of other harnesses, imported as the command imports them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { createLosses, type Loss } from "@meridian/continuity"
import type { Engine, ImportPiece, ImportResult } from "@meridian/engine"

import { readSessionFile, type SessionFile } from "../packages/cli/src/import/read-session-file.ts"
import { openSourceFile } from "../packages/cli/src/import/source-file.ts"

export const SESSION_FILES = {
  claude: "claude.jsonl",
  codex: "codex.jsonl",
  opencode: "opencode.json",
  pi: "pi.jsonl",
} as const

export const sessionFile = (format: keyof typeof SESSION_FILES): string =>
  join(import.meta.dirname, "fixture/sessions", SESSION_FILES[format])

/** Everything in a file, whatever its format. */
export const readPieces = async (
  path: string,
): Promise<{
  readonly file: Omit<SessionFile, "history">
  readonly pieces: readonly ImportPiece[]
  readonly losses: readonly Loss[]
}> => {
  using source = await openSourceFile(path, AbortSignal.timeout(60_000))
  const losses = createLosses()
  const { history, ...file } = await readSessionFile(source, path, losses)
  const pieces: ImportPiece[] = []
  for await (const piece of history()) pieces.push(piece)
  return { file, pieces, losses: losses.list() }
}

/** The same for invented lines. */
export const readLines = async (lines: readonly unknown[] | string | Uint8Array) => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-lines-"))
  try {
    const path = join(folder, "session.jsonl")
    const bytes =
      typeof lines === "string" || lines instanceof Uint8Array
        ? lines
        : lines.map((line) => `${JSON.stringify(line)}\n`).join("")
    writeFileSync(path, bytes)
    return await readPieces(path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const importFile = async (
  engine: Engine,
  path: string,
  directory: string,
  id?: string,
): Promise<ImportResult> => {
  const { file, pieces } = await readPieces(path)
  return engine.sessions.import({
    ...(id === undefined ? {} : { id }),
    location: { directory },
    source: { format: file.format, id: file.about.id, digest: file.digest },
    ...(file.about.began === undefined ? {} : { began: file.about.began }),
    history: pieces,
  })
}

/** What was said, one line per piece. */
export const told = (pieces: readonly ImportPiece[]): readonly string[] =>
  pieces.flatMap((piece) => {
    switch (piece.kind) {
      case "prompt":
        return [
          `user: ${piece.prompt.text}${piece.prompt.files === undefined ? "" : ` +${piece.prompt.files.length}`}`,
        ]
      case "text":
        return [`${piece.model}: ${piece.text}`]
      case "reasoning":
        return [`thinks: ${piece.text}`]
      case "call":
        return [`call ${piece.callID} ${piece.tool}`]
      case "result":
        return [`${piece.failed === true ? "failed" : "result"} ${piece.callID}`]
      case "failed":
        return [`error: ${piece.message}`]
      case "summary":
        return [`summary keeps ${piece.keep?.length ?? 0}`]
      case "todo":
        return [`todo: ${piece.items.map(({ content, status }) => `${content} ${status}`).join(", ")}`]
      case "usage":
        return []
    }
  })
