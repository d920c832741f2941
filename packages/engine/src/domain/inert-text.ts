/**
 * Text of others inside a text of ours. A checkpoint is one message in which we say who spoke, by labels at the start of
 * lines and by tags. What a tool printed, a model wrote or a file is called must be able to do neither, also not in letters
 * that only look like ours.
 *
 * Words are kept: a sign is put before a line, or one bracket is exchanged. All of it is linear in the length of the text.
 */

/** Nobody but us begins a line with a label: here every line has a sign before it. */
export const quoted = (text: string): string =>
  withoutTags(text)
    .split(LINE_END)
    .map((line) => `${QUOTE}${line}`)
    .join("\n")

/** For text that stands as it is: only lines that look like one of our labels get the sign. */
export const unlabelled = (text: string): string =>
  withoutTags(text)
    .split("\n")
    .map((line) =>
      line.split(INNER_LINE_END).some(isLabel) ? `${QUOTE}${line.replaceAll(INNER_LINE_END, " ")}` : line,
    )
    .join("\n")

/** A name: one line, and none of the signs our labels are made of. */
export const plainName = (text: string): string =>
  withoutTags(text.slice(0, NAME_CHARACTERS))
    .replaceAll(LINE_END, " ")
    .replaceAll(/[[\]\uFF3B\uFF3D]/g, (sign) => (sign === "[" || sign === "\uFF3B" ? "(" : ")"))

/** Tags of ours, and those by which models know who speaks, lose their bracket. */
export const withoutTags = (text: string, tags: ReadonlySet<string> = TAGS): string =>
  text.replace(LESS_THAN, (sign, place: number) =>
    tags.has(tagName(text.slice(place + 1, place + TAG_WINDOW))) ? "‹" : sign,
  )

const QUOTE = "| "
const NAME_CHARACTERS = 400
const TAG_WINDOW = 64
const LABEL_WINDOW = 80

/** Whatever ends a line somewhere. */
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

/** What follows a bracket: `/checkpoint>`, ` / conversation >`, `user role="x">`. */
const tagName = (rest: string): string => {
  const [name = ""] = latin(rest)
    .replace(/^[\s/]+/, "")
    .split(TAG_END, 1)
  return name.replaceAll(/[^a-z]/g, "")
}

/** `[User]:`, `(system update)`, and without brackets only those who speak: `Human:`. */
const LABEL =
  /^[\s>*_#`~|.-]*(?:[[({【〔]\s*(?:user|human|assistant|system|program|developer|tool|attached|call|result|error|reasoning|checkpoint)\b[^:\n]{0,40}[:\])}】〕]|(?:user|human|assistant|system|developer)[\s*_]*:)/

const isLabel = (line: string): boolean => {
  const head = line.slice(0, LABEL_WINDOW)
  // Most lines have nothing a label needs.
  return MAY_BE_LABEL.test(head) && LABEL.test(latin(head))
}

const MAY_BE_LABEL = /[:\])}\u0080-\uffff]/

/** As it looks: compatibility forms are folded, signs without a width are gone, letters of other scripts become ours. */
const latin = (text: string): string =>
  text
    .normalize("NFKD")
    .replaceAll(WITHOUT_WIDTH, "")
    .toLowerCase()
    .replaceAll(/[^\x00-\x7f]/gu, (sign) => LOOKS_LIKE[sign] ?? sign) // oxlint-disable-line no-control-regex -- everything but ASCII

const WITHOUT_WIDTH = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Mn}]/gu

/** Letters of Cyrillic, Greek and Armenian that nobody can tell from ours. */
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
