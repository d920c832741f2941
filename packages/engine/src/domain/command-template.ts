/**
 * Fills a command template with the text after the command's name: `$ARGUMENTS` is all of it, `$1` to `$9` are its words.
 * Shell lines (`` !`git diff $1` ``) are taken out first, so that no argument can become part of a command: inside them
 * each word is quoted.
 */
export interface CommandCall {
  readonly name: string
  readonly arguments: string
}

/** Undefined when the text is not a command call. A space before the slash makes it plain text. */
export const readCommandCall = (text: string): CommandCall | undefined => {
  const [, name, rest = ""] =
    /^\/([\p{L}\p{N}][\p{L}\p{N}_.:-]{0,99})(?:\s+([\s\S]*))?$/u.exec(text.trimEnd()) ?? []
  return name === undefined ? undefined : { name, arguments: rest.trim() }
}

export type TemplatePiece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "shell"; readonly command: string }

export const fillTemplate = (body: string, given: string): readonly TemplatePiece[] => {
  const words = splitWords(given)
  const pieces: TemplatePiece[] = []
  let at = 0
  for (const { 0: whole, 1: command = "", index } of body.matchAll(SHELL)) {
    pieces.push({ kind: "text", text: fill(body.slice(at, index), given, words) })
    const quoted = words.map(shellQuoted)
    pieces.push({ kind: "shell", command: fill(command, quoted.join(" "), quoted) })
    at = index + whole.length
  }
  pieces.push({ kind: "text", text: fill(body.slice(at), given, words) })
  const isUsed = new RegExp(PLACE.source, "u").test(body)
  if (!isUsed && given !== "") pieces.push({ kind: "text", text: `\n\nArguments: ${given}` })
  return pieces.filter((piece) => piece.kind === "shell" || piece.text !== "")
}

const SHELL = /!`([^`\n]{1,4000})`/gu
const PLACE = /\$(?:ARGUMENTS\b|([1-9])(?!\d))/gu

const fill = (text: string, all: string, words: readonly string[]): string =>
  text.replaceAll(PLACE, (_whole, place: string | undefined) =>
    place === undefined ? all : (words[Number(place) - 1] ?? ""),
  )

/** Splits words as a shell does, without any other shell syntax. An unclosed quote is an ordinary character. */
const splitWords = (text: string): readonly string[] =>
  Array.from(text.matchAll(/(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s\\])+/gsu), ([word]) =>
    word.replaceAll(
      /"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/gsu,
      (_whole, double?: string, single?: string, plain?: string) =>
        double === undefined ? (single ?? plain ?? "") : double.replaceAll(/\\(["\\$`])/gu, "$1"),
    ),
  )

const shellQuoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`
