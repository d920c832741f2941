/** The content of an export, entry by entry, already without secrets. Renderers only lay it out. */
import type { SpokenPiece } from "@meridian/continuity"
import type { Json, RecordedContent, TodoItem } from "@meridian/protocol"

import type { Hiding } from "./hide-secrets.ts"

interface Dated {
  /** ISO 8601. */
  readonly time?: string
}

export interface ExportedFile {
  readonly media_type: string
  readonly name?: string
  /** Pictures only: other attachments are not included. */
  readonly base64?: string
}

export type ExportEntry =
  | (Dated & { readonly kind: "user"; readonly text: string; readonly files?: readonly ExportedFile[] })
  | (Dated & { readonly kind: "assistant" | "reasoning"; readonly text: string; readonly model?: string })
  | (Dated & { readonly kind: "call"; readonly call: string; readonly tool: string; readonly input: Json })
  | (Dated & {
      readonly kind: "result"
      readonly call: string
      readonly text: string
      readonly failed?: true
      readonly files?: readonly ExportedFile[]
    })
  | (Dated & { readonly kind: "todo"; readonly items: readonly TodoItem[] })
  | (Dated & { readonly kind: "summary" | "error"; readonly text: string })

export interface ExportHead {
  readonly session: string
  readonly harness: string
  readonly title?: string
  readonly directory?: string
  readonly began?: string
}

/** Undefined for pieces without words. */
export const entryOf = (piece: SpokenPiece, hiding: Hiding): ExportEntry | undefined => {
  const time = "time" in piece && piece.time !== undefined ? { time: new Date(piece.time).toISOString() } : {}
  switch (piece.kind) {
    case "prompt": {
      const files = (piece.prompt.files ?? []).map(({ mediaType, base64, name }) =>
        fileOf(mediaType, base64, name === undefined ? undefined : hiding.text(name)),
      )
      return {
        kind: "user",
        text: hiding.text(piece.prompt.text),
        ...time,
        ...(files.length === 0 ? {} : { files }),
      }
    }
    case "text":
    case "reasoning":
      if (piece.text === "") return undefined
      return {
        kind: piece.kind === "text" ? "assistant" : "reasoning",
        text: hiding.text(piece.text),
        ...time,
        ...(piece.model === undefined ? {} : { model: piece.model }),
      }
    case "call":
      return {
        kind: "call",
        call: piece.callID,
        tool: piece.tool,
        input: hiding.value(piece.input ?? piece.raw ?? {}),
        ...time,
      }
    case "result": {
      const files = piece.content.flatMap(mediaOf)
      return {
        kind: "result",
        call: piece.callID,
        text: hiding.text(textOf(piece.content)),
        ...time,
        ...(piece.failed === true ? { failed: true } : {}),
        ...(files.length === 0 ? {} : { files }),
      }
    }
    case "todo":
      return {
        kind: "todo",
        items: piece.items.map(({ content, status }) => ({ content: hiding.text(content), status })),
        ...time,
      }
    case "summary":
      return { kind: "summary", text: hiding.text(piece.text), ...time }
    case "failed":
      return { kind: "error", text: hiding.text(piece.message), ...time }
    case "usage":
      return undefined
  }
}

const textOf = (content: readonly RecordedContent[]): string =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")

const mediaOf = (part: RecordedContent): readonly ExportedFile[] =>
  part.type === "media" ? [fileOf(part.mediaType, part.base64, undefined)] : []

const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/

const fileOf = (mediaType: string, base64: string, name: string | undefined): ExportedFile => ({
  media_type: mediaType,
  ...(name === undefined ? {} : { name }),
  ...(PICTURE.test(mediaType) && /^[A-Za-z0-9+/]*={0,2}$/.test(base64) ? { base64 } : {}),
})
