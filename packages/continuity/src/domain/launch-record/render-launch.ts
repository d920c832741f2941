import { cleanBody } from "../rule/clean-body.ts"
/** The agent and the skills a conversation was launched with, as one block: bodies without their front matter, said once. */
import { readFrontMatter } from "../rule/front-matter.ts"
import { estimateTokens } from "../text/estimate-tokens.ts"
import { sanitizeLine } from "../text/sanitize-line.ts"

export interface LaunchText {
  readonly kind: "agent" | "skill"
  readonly name: string
  readonly text: string
}

export const LAUNCH_TOKENS = 4_000

const TITLE = "# Launch Context"
const INTRODUCTION =
  "This session was started by Meridian with the following agent and skills. They stay in force after a compaction."

/** Empty when nothing could be read. A text that does not fit is cut at a line and says so. */
export const renderLaunch = (texts: readonly LaunchText[], maxTokens: number = LAUNCH_TOKENS): string => {
  const seen = new Set<string>()
  const sections: string[] = []
  let left = maxTokens - estimateTokens(`${TITLE}\n\n${INTRODUCTION}\n\n`)
  for (const { kind, name, text } of texts) {
    const body = bodyOf(text)
    if (body === "" || seen.has(body)) continue
    seen.add(body)
    const heading = `## ${kind === "agent" ? "Agent" : "Skill"}: ${sanitizeLine(name, 120)}`
    const section = cutToTokens(`${heading}\n\n${body}`, left)
    if (section === undefined) continue
    sections.push(section)
    left -= estimateTokens(section) + 1
  }
  return sections.length === 0 ? "" : [TITLE, INTRODUCTION, ...sections].join("\n\n")
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
