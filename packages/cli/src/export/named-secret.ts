/**
 * Values that are secret because of their names: `DB_PASSWORD=...`, `"apiKey": "..."`. Pure. Names alone would hide
 * half of every program, so a value must also look secret: not a variable, a type, a placeholder or an ordinary word.
 */
const WORD =
  "api[_-]?key|admin[_-]?key|master[_-]?key|service[_-]?key|auth[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|license[_-]?key|client-key-data|client[_-]?secret|app[_-]?secret|secret|access[_-]?token|refresh[_-]?token|auth[_-]?token|token|password|passwd|passphrase|pwd|credentials?"

/** What may follow the word: `_prod`, `.v2`. */
const REST = String.raw`(?:[_.-][A-Za-z0-9]{1,20}){0,2}`

/** In double quotes, in single ones, or bare. Quotes may be escaped, in a text that is itself JSON. */
const VALUE = String.raw`\\{0,3}"(?<double>[^"\\\r\n]{1,400})|\\{0,3}'(?<single>[^'\\\r\n]{1,400})|(?<bare>[^\s"'\\${"`"},;()[\]{}<>]{1,400})`

/** `const name: string = value`, and the same in Python, Kotlin, Rust. */
const TYPED = String.raw`:\s{0,4}(?:string|str|String|&(?:'static )?str)\s{0,4}=|`

/** `name = value`, `name: value`, `"name": "value"`. The name may begin before the match: `nameBefore` has that part. */
export const ASSIGNED = new RegExp(
  String.raw`(?<name>(?:${WORD})${REST})\\{0,3}["']?\s{0,4}(?:${TYPED}=>|:=|[:=])\s{0,4}(?:${VALUE})`,
  "gi",
)

/** Almost every text contains none of these. */
export const MAY_BE_ASSIGNED = /key|token|secret|passw|passphrase|pwd|credential/i

/** The part of a name before this place. */
export const nameBefore = (text: string, at: number): string =>
  /[A-Za-z0-9_.-]*$/.exec(text.slice(Math.max(0, at - LONGEST_NAME), at))?.[0] ?? ""

const LONGEST_NAME = 80

/** `PGPASSWORD` is one word. */
const IS_NAME = new RegExp(String.raw`(?:^|[_.-])(?:${WORD}|[a-z0-9]{1,12}password)${REST}$`, "i")

/** `apiKey`, `DB_PASSWORD`, `auth.token`; not `tokenizer` or `monkey`. */
export const isSecretName = (name: string): boolean =>
  IS_NAME.test(name.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2"))

export interface Named {
  readonly name: string
  readonly value: string
  /** The author wrote it as a text. */
  readonly isQuoted: boolean
}

export const looksSecret = ({ name, value, isQuoted }: Named): boolean => {
  const plain = value.trim()
  if (plain.length < SHORTEST) return false
  // Several words are a sentence, unless one of them cannot be an ordinary word.
  if (/\s/.test(plain))
    return isQuoted && /pass|pwd/i.test(name) && plain.split(/\s+/).some((word) => kindsIn(word) >= 3)
  if (PLACEHOLDER.test(plain) || REFERENCE.test(plain) || TYPE.test(plain)) return false
  // A password may be any word. A quoted text or a shell variable is surely not the name of something else.
  if (/pass|pwd/i.test(name) && (isQuoted || /^[A-Z0-9_]+$/.test(name))) return true
  if (ORDINARY.test(plain)) return false
  const kinds = kindsIn(plain)
  if (isQuoted) return kinds >= 2 || plain.length >= LONG
  return kinds >= 2 && /\d/.test(plain)
}

const kindsIn = (text: string): number =>
  [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((kind) => kind.test(text)).length

const SHORTEST = 6
const LONG = 16

/** Placeholders that people write for a real value. */
const PLACEHOLDER =
  /^(?:[x*.#•-]{3,}|<.*>|\[.*\]|\{.*\}|(?:your|my|the|some|an?|insert|enter|replace|add)[-_ ].*|.*(?:example|placeholder|changeme|change[-_]me|redacted|hidden|dummy|sample|here|todo|undefined|null|none|empty).*)$/i

/** It is looked up elsewhere, or computed. */
const REFERENCE =
  /^(?:\$|%|@|&|\*|process\.env|os\.environ|env[.[(]|ENV\[|secrets\.|vault:|op:\/\/|file:|https?:\/\/|\/|\.\/|~\/)|\$\{|\{\{|\(|=>/

/** Describes the value instead of giving it. */
const TYPE =
  /^(?:true|false|string|number|boolean|object|unknown|required|optional|password|passwd|passphrase|secret|token|bytes)[,;?]?$/i

/** Words of programs: names of variables and members, versions. */
const ORDINARY =
  /^(?:v?\d+(?:\.\d+)*|[A-Za-z]+(?:[A-Z][a-z]+)+|[a-z]+(?:[._-][a-z]+)*|[A-Z]+(?:_[A-Z]+)*|[A-Za-z_]\w*\.[A-Za-z_]\w*(?:\.\w+)*)[,;]?$/
