/**
 * The agent and the skills that a conversation was launched with, as one block: bodies without front matter, each once.
 * Texts without room are named, with their path.
 */

import type { Attachment } from "../brief/attachment.ts"
import { cleanBody } from "../rule/clean-body.ts"
import { readFrontMatter } from "../rule/front-matter.ts"
import { estimateTokens } from "../text/estimate-tokens.ts"
import { sanitizeLine } from "../text/sanitize-line.ts"

export interface LaunchText {
  readonly kind: "agent" | "skill"
  readonly name: string
  /** The path it was read from. */
  readonly path: string
  readonly text: string
}

export const LAUNCH_TOKENS = 4_000

const TITLE = "# Launch Context"
const INTRODUCTION =
  "This session was started by Meridian with the following agent and skills. They stay in force after a compaction."

/** Empty when nothing could be read. A text that does not fit is cut at a line, with a note. */
export const renderLaunch = (texts: readonly LaunchText[], maxTokens: number = LAUNCH_TOKENS): string => {
  const seen = new Set<string>()
  const sections: string[] = []
  const missing: string[] = []
  let left = maxTokens - estimateTokens(`${TITLE}\n\n${INTRODUCTION}\n\n`) - NOTICE_TOKENS
  for (const { kind, name, path, text } of texts) {
    const body = bodyOf(text)
    if (body === "" || seen.has(body)) continue
    seen.add(body)
    const heading = `## ${headingOf(kind, name)}`
    const section = cutToTokens(`${heading}\n\n${body}`, left)
    if (section === undefined) missing.push(`${sanitizeLine(name, 40)} (${sanitizeLine(path, 120)})`)
    else {
      sections.push(section)
      left -= estimateTokens(section) + 1
    }
  }
  const notice = missing.length === 0 ? [] : [noticeOf(missing)]
  const text = [TITLE, INTRODUCTION, ...sections, ...notice].join("\n\n")
  if (sections.length + notice.length === 0 || estimateTokens(text) > maxTokens) return ""
  return text
}

/** Each text with its heading, for callers that place them differently. */
export const launchBodies = (texts: readonly LaunchText[]): readonly Attachment[] =>
  texts.flatMap(({ kind, name, path, text }) => {
    const body = bodyOf(text)
    return body === "" ? [] : [{ heading: headingOf(kind, name), body, place: path }]
  })

const headingOf = (kind: LaunchText["kind"], name: string): string =>
  `${kind === "agent" ? "Agent" : "Skill"}: ${sanitizeLine(name, 120)}`

/** Room for the line that names the omitted texts. */
const NOTICE_TOKENS = 60

const noticeOf = (missing: readonly string[]): string => {
  const more = missing.length > 1 ? ` and ${missing.length - 1} more` : ""
  return `Left out for lack of room, read before you go on: ${missing[0]}${more}`
}

/** Without a readable front matter the whole text is the body: an agent is worth more than its metadata. */
const bodyOf = (text: string): string => cleanBody(readFrontMatter(text).body)

const CUT = "\n[cut here for lack of room]"
const SMALLEST_TOKENS = 40

const cutToTokens = (section: string, tokens: number): string | undefined => {
  if (estimateTokens(section) <= tokens) return section
  if (tokens < SMALLEST_TOKENS) return undefined
  const lines = section.split("\n")
  let used = estimateTokens(CUT) + 1
  let kept = 0
  while (kept < lines.length) {
    used += estimateTokens(`${lines[kept] ?? ""}\n`)
    if (used > tokens) break
    kept += 1
  }
  return kept < 3 ? undefined : `${lines.slice(0, kept).join("\n")}${CUT}`
}
