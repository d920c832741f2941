/**
 * Rules about shell commands. A rule that allows must be sure of what runs; a rule that asks or refuses may match too much.
 * So the same pattern is read in two ways, depending on the rule's effect.
 */
import { readShellWords } from "./shell-words.ts"
import { matchesText, matchesWildcard, textOfPattern } from "./wildcard.ts"

/**
 * Whether a rule that allows, or a saved approval, covers a command. `*` alone covers everything. A text without wildcards
 * covers exactly that text, because its author saw it. A pattern covers commands of plain words, word by word:
 *
 *   `npm test *`     npm test, and any words after it
 *   `npm run lint*`  every word that begins like this: a star at the end reaches to the end of the command
 *   `git * --stat`   a star between words is one or more words
 *   `ls src/?`       elsewhere stars and question marks stay within a word
 */
export const allowsCommand = (pattern: string, command: string): boolean => {
  if (pattern === "*") return true
  const text = textOfPattern(pattern)
  if (text === command) return true
  const read = readShellWords(command)
  if (read.kind === "more") return false
  const wanted = pattern.trim().split(/[ \t]+/)
  return matchesWords(wanted, read.words)
}

/** Whether a rule that asks or refuses concerns a command, by its text or its words, in whatever folder it runs. */
export const concernsCommand = (pattern: string, resource: string): boolean =>
  [resource, withoutFolder(resource)].some(
    (command) => matchesWildcard(pattern, command) || allowsCommand(pattern, command),
  )

/**
 * The name of a command that will run outside the session's folder. No allowing pattern covers it, because the same words
 * mean something else there. A person approves exactly this text, including the folder.
 */
export const commandResource = (command: string, folder: string): string =>
  folder === "." || folder === "" ? command : `(in ${folder.replaceAll(")", "%29")}) ${command}`

const withoutFolder = (resource: string): string => resource.replace(/^\(in [^)]*\) /, "")

const matchesWords = (wanted: readonly string[], words: readonly string[]): boolean => {
  const last = wanted.at(-1) ?? ""
  // A star at the very end takes all remaining words; alone it may also take none.
  const isOpen = last.endsWith("*") && !last.endsWith("\\*")
  let at = 0
  let word = 0
  let star = -1
  let resumeAt = 0
  while (word < words.length) {
    const pattern = wanted[at]
    if (pattern === "*" && at === wanted.length - 1) return true
    if (pattern === "*") {
      star = at
      resumeAt = word
      at += 1
      // At least one word.
      word += 1
    } else if (pattern !== undefined && matchesText(pattern, words[word] ?? "")) {
      at += 1
      word += 1
      if (at === wanted.length && isOpen) return true
    } else if (star >= 0) {
      resumeAt += 1
      word = resumeAt + 1
      at = star + 1
    } else return false
  }
  if (wanted[at] === "*" && at === wanted.length - 1) at += 1
  return at === wanted.length
}
