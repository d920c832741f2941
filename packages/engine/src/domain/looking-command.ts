/**
 * Recognises command lines that change no file, judged by their words. Anything else may change one: shell syntax beyond
 * words, an unknown program, an option that names a file to write.
 */
import { readShellWords } from "@meridian/protocol"

export const onlyLooks = (command: string): boolean => {
  const read = readShellWords(command)
  if (read.kind === "more") return false
  const [program, ...rest] = read.words
  if (rest.some((word) => WRITING.test(word))) return false
  if (program === "git") return rest[0] !== undefined && LOOKING_GIT.has(rest[0])
  return LOOKING.has(program)
}

/** Options that write an output file or run another program. */
const WRITING = /^--(?:output|pre|ext-diff|exec|open-files-in-pager)/

const LOOKING: ReadonlySet<string> = new Set(
  `basename cat cmp date df diff dirname du echo egrep false fgrep grep head id ls md5sum printf pwd readlink realpath rg
   sha1sum sha256sum stat tail true uname wc which whoami`.split(/\s+/),
)

const LOOKING_GIT: ReadonlySet<string> = new Set(
  "blame describe diff log ls-files ls-tree rev-list rev-parse shortlog show status".split(" "),
)
