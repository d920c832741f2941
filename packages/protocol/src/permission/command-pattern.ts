/**
 * Rules about shell commands. What allows must be sure of what runs; what asks or refuses may see too much. So the same
 * pattern is read in two ways, depending on what the rule does.
 */
import { readShellWords } from "./shell-words.ts"
import { matchesText, matchesWildcard, textOfPattern } from "./wildcard.ts"

/**
 * Whether a rule that allows, or a saved approval, covers a command. `*` alone covers everything. A text without wildcards
 * covers that very text: whoever wrote it saw it. A pattern covers commands that are plain words, word by word:
 *
 *   `npm test *`     npm test, and whatever words follow
 *   `npm run lint*`  the same for every word that begins so: a star at the end goes on to the end of the command
 *   `git * --stat`   a star between words is one word or more
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

/** Whether a rule that asks or refuses is about a command: by its text or by its words, wherever it is to run. */
export const concernsCommand = (pattern: string, resource: string): boolean =>
  [resource, withoutFolder(resource)].some(
    (command) => matchesWildcard(pattern, command) || allowsCommand(pattern, command),
  )

/**
 * What permissions call a command that is to run in another folder than the session's own. No pattern that allows covers
 * it: the same words mean something else there. What a person approves is this text, folder and all.
 */
export const commandResource = (command: string, folder: string): string =>
  folder === "." || folder === "" ? command : `(in ${folder.replaceAll(")", "%29")}) ${command}`

const withoutFolder = (resource: string): string => resource.replace(/^\(in [^)]*\) /, "")

const matchesWords = (wanted: readonly string[], words: readonly string[]): boolean => {
  const last = wanted.at(-1) ?? ""
  // A star at the very end takes every word that is left, and none if it stands alone.
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
      // One word at least.
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
