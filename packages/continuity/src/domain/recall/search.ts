/**
 * Searches for words in what was said: how well an entry answers a query, and the part of it worth showing. Deliberately
 * simple: every word of the query counts once, the exact phrase counts more.
 */
export interface Query {
  readonly words: readonly string[]
  readonly phrase: string
}

export const QUERY_LIMITS = { length: 500, words: 16 } as const

export const readQuery = (text: string): Query => {
  const phrase = text.slice(0, QUERY_LIMITS.length).toLowerCase().replaceAll(/\s+/g, " ").trim()
  const words = [...new Set(phrase.match(/[\p{L}\p{N}_][\p{L}\p{N}_.-]*/gu) ?? [])]
    .filter((word) => word.length > 1)
    .slice(0, QUERY_LIMITS.words)
  return { words: words.length === 0 && phrase !== "" ? [phrase] : words, phrase }
}

/** 0 when it does not match; larger is better. At least half of the words must be present. */
export const scoreOf = (text: string, { words, phrase }: Query): number => {
  const lower = text.toLowerCase()
  const found = words.filter((word) => lower.includes(word)).length
  if (found === 0 || found * 2 < words.length) return 0
  const isPhrase = words.length > 1 && lower.replaceAll(/\s+/g, " ").includes(phrase)
  return found / words.length + (isPhrase ? 1 : 0)
}

/** A part of the text around the first match, with whole words where possible. */
export const excerptOf = (text: string, { words, phrase }: Query, length: number): string => {
  const flat = text.replaceAll(/\s+/g, " ").trim()
  if (flat.length <= length) return flat
  const lower = flat.toLowerCase()
  const place = [phrase, ...words].map((word) => lower.indexOf(word)).find((at) => at !== -1)
  const from = Math.max(0, Math.min(flat.length - length, (place ?? 0) - Math.floor(length / 4)))
  const start = from === 0 ? 0 : flat.indexOf(" ", from) + 1 || from
  const piece = flat.slice(start, start + length)
  return `${start > 0 ? "… " : ""}${piece.toWellFormed()}${start + length < flat.length ? " …" : ""}`
}
