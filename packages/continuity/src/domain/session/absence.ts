/** Phrases that mean nothing: a field may be filled with "none currently" and still hold no fact. */

/** True for an empty value, a placeholder of a template, and every way of saying none. */
export const saysNothing = (value: string): boolean => {
  const text = value.replace(LEADING_SIGNS, "").trim()
  if (text === "" || /^<[^<>]*>\.?$/.test(value.trim())) return true
  if (/^(?:tbd|n\/a|na|nil|null|no|0|false|unknown|not applicable)[.!]?$/i.test(text)) return true
  return saysNone(text)
}

/** Check marks and dashes that people put before a value. Brackets, quotes and back-ticks begin a value. */
const LEADING_SIGNS = /^[^\p{L}\p{N}<([{`'"“«~/.@#$]+/u

const saysNone = (text: string): boolean => {
  const match =
    /^(?:there (?:are|is) )?(?:none|nothing|no (?:known |open |current )?(?:blockers?|risks?))\b/i.exec(text)
  if (match === null) return false
  const rest = text.slice(match[0].length)
  if (/\b(?:except|but|however|until|unless|besides|apart|other than)\b/i.test(rest)) return false
  return AFTER_NONE.test(rest)
}

/**
 * An end, a symbol, or a word that only limits when or for whom there is none. "none of the mirrors" means something else.
 */
const AFTER_NONE =
  /^\s*(?:$|[^\p{L}\p{N}\s]|(?:currently|known|at|for|right|now|so|as|yet|today|identified|recorded|reported|remaining|outstanding|open|left|pending|blocking|found|here|since|after|any ?more|that i|to (?:report|speak|note)|whatsoever|really)\b)/iu

/** A line about being blocked now. "unblocked", "no longer blocked" and "was blocked, resolved" do not count. */
export const speaksOfBlock = (line: string): boolean => {
  if (!/\bblocked\b/i.test(line)) return false
  if (
    /\b(?:not|never|no longer|nothing|isn't|aren't|wasn't|without being|un-?)\s*(?:\w+ )?blocked\b/i.test(
      line,
    )
  )
    return false
  return !/\b(?:unblocked|resolved|solved|cleared|lifted|fixed)\b/i.test(line)
}

/** Withdrawn by its author: struck through, or marked at its end. */
export const isTakenBack = (text: string): boolean =>
  (text.startsWith("~~") && text.indexOf("~~", 2) >= text.length - 3) || TAKEN_BACK.test(text.slice(-80))

const TAKEN_BACK =
  /[([](?:superseded|cancelled|canceled|withdrawn|reverted|obsolete|dropped)\b[^)\]]{0,60}[)\]]\.?$/i
