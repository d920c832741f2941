/** A foreign session file as pieces of a conversation: its format, what was said, what was lost. */
import {
  formatOf,
  isDocument,
  isSpoken,
  READERS,
  type About,
  type ConversationReader,
  type Format,
  type Losses,
  type SpokenPiece,
} from "@meridian/continuity"
import { Failure, type JsonObject } from "@meridian/protocol"

import { IMPORT_LIMITS, type SourceFile } from "./source-file.ts"

export interface SessionFile {
  readonly format: Format
  readonly about: About
  readonly digest: string
  /** Can be read once. */
  readonly history: () => AsyncIterable<SpokenPiece>
}

export const readSessionFile = async (
  source: SourceFile,
  file: string,
  losses: Losses,
): Promise<SessionFile> => {
  if (source.bytes === 0) throw new Failure("IMPORT_FORMAT_UNKNOWN", { file, why: "it is empty" })
  const isWhole = isDocument(await source.start())
  const entries = (): AsyncIterable<JsonObject> =>
    isWhole ? source.document((kind) => losses.add(kind)) : source.lines((kind) => losses.add(kind))
  const silent = (): AsyncIterable<JsonObject> =>
    isWhole ? source.document(() => undefined) : source.lines(() => undefined)
  const surveyed = await survey(entries(), isWhole, losses)
  const about = surveyed?.reader.about()
  if (surveyed === undefined || about === undefined)
    throw new Failure("IMPORT_FORMAT_UNKNOWN", {
      file,
      ...(isWhole ? { why: "its `info` does not say which session it is" } : {}),
    })
  const { reader, format } = surveyed
  return {
    format,
    about,
    digest: await source.digest(),
    history: async function* () {
      let said = 0
      for await (const entry of silent())
        for (const piece of reader.read(entry).filter(isSpoken)) {
          if (isSaid(piece)) said += 1
          yield piece
        }
      if (said === 0) throw new Failure("IMPORT_EMPTY", { file })
    },
  }
}

/** Whether this piece alone makes the file a conversation. */
const isSaid = (piece: SpokenPiece): boolean => {
  switch (piece.kind) {
    case "prompt":
      return piece.prompt.text !== "" || (piece.prompt.files ?? []).length > 0
    case "text":
    case "reasoning":
      return piece.text !== ""
    case "call":
    case "failed":
    case "summary":
      return true
    case "result":
    case "todo":
    case "usage":
      return false
  }
}

/** The first line that only one harness could have written decides. The lines before it are then read again. */
const survey = async (
  entries: AsyncIterable<JsonObject>,
  isWhole: boolean,
  losses: Losses,
): Promise<{ readonly format: Format; readonly reader: ConversationReader } | undefined> => {
  let format: Format | undefined = isWhole ? "opencode" : undefined
  let reader: ConversationReader | undefined
  let undecided: JsonObject[] = []
  for await (const entry of entries) {
    format ??= formatOf(entry)
    undecided.push(entry)
    if (format === undefined) {
      if (undecided.length >= IMPORT_LIMITS.linesToTell) return undefined
      continue
    }
    reader ??= READERS[format](losses)
    for (const line of undecided) reader.survey(line)
    undecided = []
  }
  return format === undefined || reader === undefined ? undefined : { format, reader }
}
