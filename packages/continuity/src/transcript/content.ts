/**
 * The content of foreign messages: their text, and pictures and files whose bytes are available and that a model can use.
 */
import type { PromptFile, RecordedContent } from "@meridian/protocol"

import type { Losses } from "./losses.ts"

const TAKEN = /^(?:image\/(?:png|jpeg|gif|webp)|application\/pdf)$/
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** The bytes as they are in the file; or undefined, and one more loss. */
export const fileOf = (
  mediaType: string | undefined,
  base64: string | undefined,
  losses: Losses,
): PromptFile | undefined => {
  const kind = mediaType?.toLowerCase() ?? ""
  if (base64 !== undefined && TAKEN.test(kind) && BASE64.test(base64)) return { mediaType: kind, base64 }
  losses.add(kind.startsWith("image/") || kind === "" ? "images" : "files")
  return undefined
}

const DATA_URL = /^data:([^;,]{1,100});base64,/

/** `data:image/png;base64,...`. Any other URL is a loss. */
export const fileOfUrl = (
  url: string | undefined,
  mediaType: string,
  losses: Losses,
): PromptFile | undefined => {
  const match = url === undefined ? null : DATA_URL.exec(url.slice(0, 200))
  return match === null || url === undefined
    ? fileOf(mediaType, undefined, losses)
    : fileOf(match[1], url.slice(match[0].length), losses)
}

export const mediaOf = (file: PromptFile | undefined): readonly RecordedContent[] =>
  file === undefined ? [] : [{ type: "media", mediaType: file.mediaType, base64: file.base64 }]

export const textContent = (text: string): readonly RecordedContent[] =>
  text === "" ? [] : [{ type: "text", text }]

/** Cuts the text to `most` characters, never inside one. */
export const cutText = (text: string, most: number): string => {
  const cut = text.slice(0, most)
  return cut.length < text.length && /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut
}
