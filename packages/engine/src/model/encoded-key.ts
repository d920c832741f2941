/**
 * A key in the forms that a command can give it without knowing it: base64 in either alphabet, hexadecimal, reversed, and
 * as part of a URL. Base64 packs three bytes into four characters, so a key inside a longer text has three forms. Of each,
 * only the characters that no neighbour can change are searched for.
 */
export const formsOf = (key: string): readonly string[] => {
  const bytes = Buffer.from(key)
  const hex = bytes.toString("hex")
  return [
    ...new Set([
      key,
      ...[0, 1, 2].flatMap((before) => {
        const standard = base64Within(bytes, before)
        return [standard, standard.replaceAll("+", "-").replaceAll("/", "_")]
      }),
      hex,
      hex.toUpperCase(),
      key.split("").toReversed().join(""),
      encodeURIComponent(key),
    ]),
  ]
}

const base64Within = (key: Buffer, before: number): string => {
  const text = Buffer.concat([Buffer.alloc(before), key]).toString("base64")
  const [first, last] = [Math.ceil((before * 8) / 6), Math.floor(((before + key.length) * 8) / 6)]
  return text.slice(first, last)
}

/** A line of base64 that continues on the next line. `base64` breaks after 76 characters. */
const BROKEN_LINE = /[\w+/-]{16}\r?\n[\w+/-]{4}/

/** Matches the forms of long keys, however their lines are broken. Undefined when none is in the text. */
export const brokenForms = (forms: readonly string[]): ((text: string) => RegExp | undefined) => {
  const patterns = forms
    .filter((form) => form.length > SHORTEST_BROKEN)
    .map(
      (form) =>
        new RegExp(
          form
            .split("")
            .map(escaped)
            .join(String.raw`(?:\r?\n)?`),
          "g",
        ),
    )
  return (text) =>
    BROKEN_LINE.test(text) ? patterns.find((pattern) => text.search(pattern) !== -1) : undefined
}

const SHORTEST_BROKEN = 16

const escaped = (character: string): string => character.replace(/[$()*+./?[\\\]^{|}-]/, String.raw`\$&`)
