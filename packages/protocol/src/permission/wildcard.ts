/**
 * Permission patterns for a text: `*` is any run of characters, `?` is one character, and a backslash makes a star, a
 * question mark or a backslash literal. A trailing ` *` also matches nothing (`git status *` covers `git status`). On a
 * mismatch only the last star moves, so no pattern takes exponential time.
 */
export const matchesWildcard = (pattern: string, text: string): boolean =>
  (pattern.endsWith(" *") && matchesText(pattern.slice(0, -2), text)) || matchesText(pattern, text)

/** A pattern that matches exactly this text. Approvals are saved as the text that the person saw. */
export const literalPattern = (text: string): string => text.replaceAll(/[*?\\]/g, "\\$&")

/** The only text that a pattern without wildcards matches; undefined when it has any. */
export const textOfPattern = (pattern: string): string | undefined => {
  let text = ""
  for (let at = 0; at < pattern.length; at += 1) {
    const escaped = isEscape(pattern, at)
    const sign = pattern[escaped ? at + 1 : at] ?? ""
    if (!escaped && (sign === "*" || sign === "?")) return undefined
    text += sign
    if (escaped) at += 1
  }
  return text
}

/** The same, without the rule for a trailing ` *`. */
export const matchesText = (pattern: string, text: string): boolean => {
  let atPattern = 0
  let atText = 0
  let star = -1
  let resumeAt = 0
  while (atText < text.length) {
    const escaped = isEscape(pattern, atPattern)
    const wanted = pattern[escaped ? atPattern + 1 : atPattern]
    if (wanted === "*" && !escaped) {
      star = atPattern
      resumeAt = atText
      atPattern += 1
    } else if ((wanted === "?" && !escaped) || wanted === text[atText]) {
      atPattern += escaped ? 2 : 1
      atText += 1
    } else if (star >= 0) {
      atPattern = star + 1
      resumeAt += 1
      atText = resumeAt
    } else return false
  }
  while (pattern[atPattern] === "*") atPattern += 1
  return atPattern === pattern.length
}

const isEscape = (pattern: string, at: number): boolean => {
  const next = pattern[at + 1]
  return pattern[at] === "\\" && (next === "*" || next === "?" || next === "\\")
}
