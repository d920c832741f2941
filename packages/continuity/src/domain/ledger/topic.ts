/**
 * What a sentence is about, and whether a newer one replaces an older one. The newest wins, but only where both are about
 * the same thing: "never call a without a test" and "never call b without a test" both hold, while "use port 9090" replaces
 * "use port 8080".
 */
export interface Topic {
  /** The sentence without letter case and punctuation. */
  readonly plain: string
  /** Stems of the meaningful words. */
  readonly words: ReadonlySet<string>
  /** Numbers, names with digits or dashes, quoted and back-ticked words: what cannot be guessed. */
  readonly values: ReadonlySet<string>
  /** The word before a value -> the value: `port` -> `8080`. */
  readonly attributes: ReadonlyMap<string, string>
}

/** Finds out what a sentence is about. */
export type ReadTopic = (sentence: string) => Topic

/** Remembers topics for a while, because the same sentences are compared again and again. */
export const keepingTopics = (): ReadTopic => {
  const known = new Map<string, Topic>()
  return (sentence) => {
    const kept = known.get(sentence)
    if (kept !== undefined) return kept
    if (known.size >= MOST_TOPICS) known.clear()
    const topic = topicOf(sentence)
    known.set(sentence, topic)
    return topic
  }
}

const MOST_TOPICS = 512

export const topicOf: ReadTopic = (sentence) => {
  const words = new Set<string>()
  const values = new Set<string>()
  const attributes = new Map<string, string>()
  let before: string | undefined
  let isNamed = false
  const tokens = [...sentence.slice(0, MAX_LENGTH).matchAll(TOKEN)]
  for (const [place, match] of tokens.entries()) {
    const token = match[0]
    // One or two words after a colon are a value in any form: `colour: green`. More words are a sentence.
    const isTold: boolean =
      isNamed && !LINKS.has(token.toLowerCase()) && tokens.length - place <= WORDS_OF_A_VALUE
    isNamed = token.endsWith(":") || (isNamed && !isTold)
    if (isTold || isValue(token)) {
      const value = plainValue(token)
      values.add(value)
      if (before !== undefined) attributes.set(before, value)
      continue
    }
    // The punctuation at the end of a sentence is not part of its last word.
    const word = token.toLowerCase().replace(/[.:'/-]+$/, "")
    if (LINKS.has(word)) continue
    const stem = stemOf(word)
    before = stem
    if (word.length >= 3 && !EMPTY.has(word)) words.add(stem)
  }
  return { plain: plainOf(sentence), words, values, attributes }
}

/** True when the newer sentence says something different about the same thing. */
export const supersedes = (newer: string, older: string, readTopic: ReadTopic): boolean => {
  const [now, then] = [readTopic(newer), readTopic(older)]
  if (isChange(newer) && isAbout(now, then)) return true
  if (isUniversal(newer) && isUniversal(older)) return false
  return changesAttribute(now, then) || changesWord(now.plain, then.plain)
}

/**
 * The same sentence except for one word in the place of a value: after "use" and the like, or at the end. "Use blue for the
 * header" changes "use green for the header"; "keep the footer small" does not change "keep the header small".
 */
const changesWord = (now: string, then: string): boolean => {
  const [words, others] = [now.split(" "), then.split(" ")]
  if (words.length !== others.length || words.length < 4) return false
  const different = words.flatMap((word, place) => (word === others[place] ? [] : [place]))
  const [place, ...more] = different
  if (place === undefined || more.length > 0) return false
  const before = words.slice(0, place).join(" ")
  if (/\b(?:for|of|on|when|during)(?: the| all| every)?$/.test(before)) return false
  return (
    place === words.length - 1 ||
    /^(?:please )?(?:use|choose|pick|take|prefer)(?: (?:the )?\w+)?$/.test(before)
  )
}

/** One attribute, two values: `port 8080` and `port 9090`. */
export const changesAttribute = (now: Topic, then: Topic): boolean =>
  [...now.attributes].some(([name, value]) => {
    const known = then.attributes.get(name)
    return known !== undefined && known !== value && !then.values.has(value)
  })

/** Each has one value, the values differ, and both name the same thing. */
export const changesValue = (now: Topic, then: Topic): boolean =>
  now.values.size === 1 &&
  then.values.size === 1 &&
  intersection(now.values, then.values) === 0 &&
  intersection(now.words, then.words) > 0

/** They share a value, or at least half of the shorter one's topic. */
export const isAbout = (now: Topic, then: Topic): boolean => {
  if (intersection(now.values, then.values) > 0) return true
  const least = Math.min(now.words.size, then.words.size)
  return least > 0 && intersection(now.words, then.words) >= Math.max(1, Math.ceil(least / 2))
}

/** Words with which people withdraw or replace what they said. */
export const isChange = (sentence: string): boolean => CHANGE.test(sentence)

const CHANGE =
  /\b(?:instead|rather than|no longer|any ?more|actually|chang(?:e|ed|ing)|switch(?:ed)?|replac(?:e|ed)|from now on|changed my mind|correction|in place of|scratch that|on second thoughts?|(?:may|can|is|are) now|now (?:use|keep|call|name|be|on)|(?:ok|okay|fine|allowed) (?:to|now)|make (?:it|that)|not .{1,60} but)\b/i

/** General rules: a new one adds to the others. */
const isUniversal = (sentence: string): boolean =>
  /\b(?:never|always|don't|do not|avoid|no)\b/i.test(sentence)

const MAX_LENGTH = 600
const WORDS_OF_A_VALUE = 2

const TOKEN = /`[^`]{1,80}`|"[^"]{1,80}"|“[^”]{1,80}”|[\p{L}\p{N}_][\p{L}\p{N}_./:@#'-]*/gu

const isValue = (token: string): boolean =>
  /^[`"“]/.test(token) || /\p{N}/u.test(token) || /[\p{L}\p{N}][-_./:@#][\p{L}\p{N}]/u.test(token)

const plainValue = (token: string): string =>
  token
    .replaceAll(/^[`"“]|[`"”]$/g, "")
    .replace(/[.:'-]+$/, "")
    .toLowerCase()

const plainOf = (sentence: string): string =>
  sentence
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim()

/** The start of a word, so that its ending does not matter. */
const stemOf = (word: string): string => word.replace(/'s$/, "").slice(0, 5)

/** Words between a name and its value. */
const LINKS: ReadonlySet<string> = new Set([
  "is",
  "are",
  "to",
  "of",
  "at",
  "on",
  "be",
  "now",
  "the",
  "a",
  "an",
])

/** Words without a topic. */
const EMPTY: ReadonlySet<string> = new Set(
  "and but for from with without into onto over under this that these those there here then than when while where which what who how why all any each every some none not never always only also just please must should shall will would could can may might need needs have has had was were been being does did done don't use used using keep make sure instead rather longer anymore more actually now our your their its you they them she his her him let let's lets want wants like get set put call name decision decided rule constraint goal objective forget scrap cancel cancelled drop ignore change changed switch replace avoid".split(
    " ",
  ),
)

const intersection = (left: ReadonlySet<string>, right: ReadonlySet<string>): number => {
  let count = 0
  for (const item of left) if (right.has(item)) count += 1
  return count
}
