/** Turns what a person typed into a query of the index. Pure. */
import { SEARCH_LIMITS } from "./limits.ts"

export interface Query {
  /** All words in a row, if there is more than one. */
  readonly phrase?: string
  /** Every word, anywhere in the same part of a session. */
  readonly all: string
  /** The words themselves, in lower case and in order, for a snippet. */
  readonly words: readonly string[]
}

/** Words in quotation marks belong together; a star at the end matches any rest. Undefined if there is no word. */
export const readQuery = (typed: string): Query | undefined => {
  const terms = [...typed.slice(0, SEARCH_LIMITS.queryCharacters).matchAll(/"([^"]*)"|(\S+)/g)]
    .map(([, quoted, word]) => (quoted ?? word ?? "").trim())
    .filter((term) => WORD.test(term))
    .slice(0, SEARCH_LIMITS.words)
  if (terms.length === 0) return undefined
  const words = terms.flatMap((term) => [...term.toLowerCase().matchAll(WORDS)].map(([word]) => word))
  return {
    ...(words.length > 1 ? { phrase: quote(terms.join(" ")) } : {}),
    all: terms.map(quote).join(" AND "),
    words,
  }
}

const WORD = /[\p{L}\p{N}]/u
const WORDS = /[\p{L}\p{N}]+/gu

/** A text of FTS5 in which nothing is an operator. */
const quote = (term: string): string => {
  const isOpen = term.endsWith("*")
  const text = isOpen ? term.replace(/\*+$/, "") : term
  return `"${text.replaceAll('"', '""')}"${isOpen ? "*" : ""}`
}
