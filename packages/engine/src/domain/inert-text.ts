/**
 * Foreign text inside our own text. A checkpoint is one message in which labels at line starts and tags say who spoke. The
 * output of a tool, the words of a model or the name of a file must not forge either, not even with letters that only look
 * like ours.
 *
 * The words stay the same: a sign is added before a line, or one bracket is replaced. Everything is linear in the length of
 * the text.
 */

/** Puts a sign before every line, so that no foreign line can begin with one of our labels. */
export const quoted = (text: string): string =>
  withoutTags(text)
    .split(LINE_END)
    .map((line) => `${QUOTE}${line}`)
    .join("\n")

/** For text that stays as it is: only lines that look like one of our labels get the sign. */
export const unlabelled = (text: string): string =>
  withoutTags(text)
    .split("\n")
    .map((line) =>
      line.split(INNER_LINE_END).some(isLabel) ? `${QUOTE}${line.replaceAll(INNER_LINE_END, " ")}` : line,
    )
    .join("\n")

/** A name: one line, without the characters of our labels. */
export const plainName = (text: string): string =>
  withoutTags(text.slice(0, NAME_CHARACTERS))
    .replaceAll(LINE_END, " ")
    .replaceAll(/[[\]\uFF3B\uFF3D]/g, (sign) => (sign === "[" || sign === "\uFF3B" ? "(" : ")"))

/** Replaces the bracket of our tags, and of tags by which models recognise speakers. */
export const withoutTags = (text: string, tags: ReadonlySet<string> = TAGS): string =>
  text.replace(LESS_THAN, (sign, place: number) =>
    tags.has(tagName(text.slice(place + 1, place + TAG_WINDOW))) ? "‹" : sign,
  )

const QUOTE = "| "
const NAME_CHARACTERS = 400
const TAG_WINDOW = 64
const LABEL_WINDOW = 80

/** Everything that some program treats as a line end. */
const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g
const INNER_LINE_END = /[\r\v\f\u0085\u2028\u2029]+/g

const LESS_THAN = /[<\uFF1C\uFE64\u3008\u27E8\u276E\u2329\u02C2]/g
const TAG_END = /[\s/>\uFF1E\uFE65\u3009\u27E9\u276F\u232A\u02C3]/

const TAGS: ReadonlySet<string> = new Set([
  "assistant",
  "brief",
  "checkpoint",
  "conversation",
  "developer",
  "function",
  "human",
  "important",
  "instruction",
  "instructions",
  "previouscheckpoint",
  "recent",
  "summary",
  "system",
  "systemreminder",
  "systemupdate",
  "tool",
  "toolcall",
  "toolresult",
  "user",
])

/** The name after a bracket: `/checkpoint>`, ` / conversation >`, `user role="x">`. */
const tagName = (rest: string): string => {
  const [name = ""] = latin(rest)
    .replace(/^[\s/]+/, "")
    .split(TAG_END, 1)
  return name.replaceAll(/[^a-z]/g, "")
}

/** `[User]:`, `(system update)`; without brackets only speakers: `Human:`. */
const LABEL =
  /^[\s>*_#`~|.-]*(?:[[({【〔]\s*(?:user|human|assistant|system|program|developer|tool|attached|call|result|error|reasoning|checkpoint)\b[^:\n]{0,40}[:\])}】〕]|(?:user|human|assistant|system|developer)[\s*_]*:)/

const isLabel = (line: string): boolean => {
  const head = line.slice(0, LABEL_WINDOW)
  // A quick test: most lines have nothing that a label needs.
  return MAY_BE_LABEL.test(head) && LABEL.test(latin(head))
}

const MAY_BE_LABEL = /[:\])}\u0080-\uffff]/

/**
 * The text as it looks: compatibility forms are folded, zero-width characters removed, lookalike letters of other scripts
 * replaced by Latin ones.
 */
const latin = (text: string): string =>
  text
    .normalize("NFKD")
    .replaceAll(WITHOUT_WIDTH, "")
    .toLowerCase()
    .replaceAll(/[^\x00-\x7f]/gu, (sign) => LOOKS_LIKE[sign] ?? sign) // oxlint-disable-line no-control-regex -- everything but ASCII

const WITHOUT_WIDTH = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Mn}]/gu

/** Letters of Cyrillic, Greek and Armenian that look exactly like Latin ones. */
const LOOKS_LIKE: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ["a", "аɑα"],
    ["b", "ьƅ"],
    ["c", "сϲⅽ"],
    ["d", "ԁⅾ"],
    ["e", "еєҽ"],
    ["f", "ғ"],
    ["g", "ɡց"],
    ["h", "һհ"],
    ["i", "іıι"],
    ["j", "јϳ"],
    ["k", "кκ"],
    ["l", "ӏⅼ"],
    ["m", "мⅿ"],
    ["n", "пոη"],
    ["o", "оοօ"],
    ["p", "рρ"],
    ["q", "ԛ"],
    ["r", "гᴦ"],
    ["s", "ѕꜱ"],
    ["t", "тτ"],
    ["u", "υսц"],
    ["v", "ѵνⅴ"],
    ["w", "ԝա"],
    ["x", "хχⅹ"],
    ["y", "уүγ"],
    ["/", "\u2044\u2215\u29F8"],
    [":", "\u02D0\uA789\u2236"],
  ].flatMap(([plain = "", others = ""]) => Array.from(others, (other) => [other, plain])),
)
