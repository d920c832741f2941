import { stripVTControlCharacters } from "node:util"

import type { Json } from "@meridian/protocol"

import { LIMITS } from "./limits.ts"

/** At most `limit` characters, with a note of how many are missing. */
export const cut = (text: string, limit: number): string =>
  text.length <= limit ? text : `${text.slice(0, limit)}… [${text.length - limit} more characters]`

/** The value itself if it is small, else the beginning of its text. */
export const cutJson = (value: Json): Json => {
  const text = JSON.stringify(value)
  return text.length <= LIMITS.eventText ? value : cut(text, LIMITS.rawText)
}

const SECRET =
  /\b(sk-[A-Za-z0-9_-]{8,}|ghp_[A-Za-z0-9]{16,}|xox[a-z]-[A-Za-z0-9-]{10,}|AKIA[A-Z0-9]{12,}|Bearer\s+[A-Za-z0-9._~+/-]{8,}=*)/g

/** One line for people: no colours, control characters or keys, and bounded. */
export const sentence = (text: string): string => {
  const plain = stripVTControlCharacters(text.slice(0, LIMITS.messageText * 8))
    .replace(SECRET, "[secret]")
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim()
  return cut(plain, LIMITS.messageText)
}
