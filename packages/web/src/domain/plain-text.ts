/**
 * Hostile text made harmless to read: colours of terminals are taken out, and controls and marks that turn the direction
 * of writing are shown instead of obeyed, so that nothing looks like something else than it is.
 */
export const plainText = (text: string): string =>
  UNUSUAL.test(text)
    ? text
        .replaceAll(TERMINAL, "")
        .replaceAll(/\r\n?/g, "\n")
        .replaceAll(UNSEEN, (mark) => nameOf(mark))
    : text

/** Almost no text has any of them: looked for once, before anything is replaced. */
const UNUSUAL = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

/** Colours and other commands to a terminal, its title too (ECMA-48). */
const TERMINAL =
  // oxlint-disable-next-line eslint/no-control-regex -- these are what is looked for
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[PX^_][^\u001b]*\u001b\\|[@-Z\\-_])/g

/** Controls but tab and newline, and the marks of Unicode's bidirectional algorithm. */
// oxlint-disable-next-line eslint/no-control-regex -- these are what is looked for
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

const PICTURES = 0x2400

/** U+2400 and on are pictures of the first controls. */
const nameOf = (mark: string): string => {
  const code = mark.codePointAt(0) ?? 0
  return code < 0x20
    ? String.fromCodePoint(PICTURES + code)
    : `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`
}
