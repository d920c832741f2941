/**
 * Splits a command line into words as a shell would, if that is all the shell would do with it.
 *
 * An allowed pattern such as `npm test *` promises that only `npm test` runs. A shell does much more with a line: it
 * substitutes, expands, redirects and chains. So a line is accepted only when it is plain words: blanks between words, and
 * quotes around blanks. With any other special character, even inside quotes, we do not judge the line.
 *
 * Why not a library: libraries that split words (shell-quote, shlex, string-argv) return the arguments, and guess where a
 * shell would do more. The question here is whether it would do more, and a guess is a hole. Bash and POSIX sh (dash) read
 * plain words alike; `shell-words.test.ts` asks a real bash.
 */
export type ShellReading =
  | { readonly kind: "words"; readonly words: readonly [string, ...(readonly string[])] }
  /** Nothing, or more than words. The caller must decide. */
  | { readonly kind: "more"; readonly why: string }

/** Linear in the length of the line; never throws. */
export const readShellWords = (command: string): ShellReading => {
  const special = SPECIAL.exec(command)?.[0]
  if (special !== undefined) return more(`it holds ${nameOf(special)}`)
  const words: string[] = []
  let word: string | undefined
  let quote: string | undefined
  let quoted = false
  for (const sign of command) {
    if (quote !== undefined) {
      if (sign === quote) quote = undefined
      else word += sign
    } else if (sign === "'" || sign === '"') {
      quote = sign
      quoted ||= words.length === 0
      word ??= ""
    } else if (sign === " " || sign === "\t") {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (sign === "#" && word === undefined) return more("it holds a comment")
    else word = `${word ?? ""}${sign}`
  }
  if (quote !== undefined) return more("a quote is not closed")
  if (word !== undefined) words.push(word)
  const [first, ...rest] = words
  if (first === undefined) return more("it is empty")
  if (quoted || !PROGRAM.test(first)) return more("its first word is not a plain program name")
  return KEYWORDS.has(first)
    ? more(`${first} is a word of the shell`)
    : { kind: "words", words: [first, ...rest] }
}

/**
 * Expansion, substitution, redirection, lists, globs, braces, tilde and escapes; line ends and other control characters;
 * blanks in some locales. Anywhere in the line, because otherwise quotes around them would have to be understood too.
 */
const SPECIAL = /[$`\\;&|<>()*?[\]{}~]|(?!\t)\p{Cc}|[^\P{Z} ]|\p{Cs}/u

/** A name or path as programs have them; not an assignment (`A=b program`), a job (`%1`) or a flag. */
const PROGRAM = /^[\p{L}\p{N}_./@+:,-]*$/u

/** Reserved words of bash, and builtins that run the words after them. */
const KEYWORDS: ReadonlySet<string> = new Set(
  `! . [[ ]] builtin case command coproc do done elif else esac eval exec fi for function if in select source then time trap
   until while { }`.split(/\s+/),
)

const more = (why: string): ShellReading => ({ kind: "more", why })

const nameOf = (sign: string): string =>
  /^[\x21-\x7E]$/.test(sign)
    ? sign
    : `U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`
