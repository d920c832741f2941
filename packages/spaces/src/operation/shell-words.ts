/** A command as one line that a shell splits into the same words. */
export const shellLine = (words: readonly string[]): string => words.map(quote).join(" ")

const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
