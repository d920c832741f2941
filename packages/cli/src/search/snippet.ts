/** The part of a text that shows why it was found. Pure. */
import { oneLine } from "@meridian/protocol"

import { SEARCH_LIMITS } from "./limits.ts"

export interface Found {
  readonly snippet: string
  /** How many of the words are close together here. */
  readonly score: number
}

/**
 * `words` in lower case and in order. The best place has them in a row; the next best has most of them close to each
 * other. Letters with and without diacritics are equal, as in the index.
 */
export const findSnippet = (text: string, words: readonly string[]): Found => {
  const plain = fold(text)
  const folded = words.map(fold)
  const row = placeInRow(plain, folded)
  const best =
    row === -1
      ? placesOf(plain, folded)
          .map((at) => ({ at, score: scoreAt(plain, folded, at) }))
          .reduce((top, next) => (next.score > top.score ? next : top), { at: 0, score: 0 })
      : { at: row, score: words.length + 1 }
  const { snippetCharacters } = SEARCH_LIMITS
  const from = Math.max(0, best.at - Math.floor(snippetCharacters / 4))
  const piece = oneLine(text.slice(from, from + snippetCharacters * 2), snippetCharacters)
  return { snippet: from > 0 ? `…${piece}` : piece, score: best.score }
}

const placeInRow = (text: string, words: readonly string[]): number =>
  text.search(new RegExp(`${EDGE.before}${words.join(String.raw`[^\p{L}\p{N}]{1,8}`)}${EDGE.behind}`, "u"))

/** Words are letters and digits, so they contain nothing special to a pattern. */
const EDGE = { before: String.raw`(?<![\p{L}\p{N}])`, behind: String.raw`(?![\p{L}\p{N}])` } as const

/** How many places are compared. */
const MOST_PLACES = 200

/** Places of the rarest word that occurs at all. The others are searched around it. */
const placesOf = (text: string, words: readonly string[]): readonly number[] => {
  const lists = words.map((word) => occurrences(text, word)).filter((list) => list.length > 0)
  return lists.toSorted((one, other) => one.length - other.length)[0] ?? []
}

const occurrences = (text: string, word: string): readonly number[] => {
  const found: number[] = []
  for (let at = text.indexOf(word); at !== -1 && found.length < MOST_PLACES; at = text.indexOf(word, at + 1))
    found.push(at)
  return found
}

const scoreAt = (text: string, words: readonly string[], at: number): number => {
  const half = SEARCH_LIMITS.snippetCharacters / 2
  const around = text.slice(Math.max(0, at - half), at + half)
  return words.reduce((count, word) => (around.indexOf(word) === -1 ? count : count + 1), 0)
}

/** As long as the text itself, so that positions stay the same. */
const fold = (text: string): string => {
  const lower = text.toLowerCase()
  const bare = lower.replaceAll(MARKED, (letter) => letter.normalize("NFD").charAt(0))
  return bare.length === text.length ? bare : lower
}

const MARKED = /[\u00c0-\u024f\u1e00-\u1eff]/g
