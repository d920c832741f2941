/** A command as a line that a shell reads as the same words. */
export const shellLine = (words: readonly string[]): string => words.map(quote).join(" ")

const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
