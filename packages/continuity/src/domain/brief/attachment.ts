/**
 * Full texts that accompany the pinned facts while there is room: the body of a rule or a skill. A text that does not fit
 * is cut at a line, with a note where the rest is. A text without any room is only named.
 */
import { utf8Length } from "../text/estimate-tokens.ts"
import { sanitizeLine } from "../text/sanitize-line.ts"

export interface Attachment {
  /** `Rule: style.md`, `Skill: orchestrate`. */
  readonly heading: string
  readonly body: string
  /** Where to read the rest of a text that was cut. */
  readonly place?: string
}

/** Never longer than the given room. */
export const renderAttachments = (attachments: readonly Attachment[], maxBytes: number): string => {
  const blocks: string[] = []
  const missing: string[] = []
  let room = maxBytes
  for (const attachment of attachments) {
    const block = fitBlock(attachment, room - NOTICE_BYTES)
    if (block === undefined) missing.push(nameOf(attachment))
    else {
      blocks.push(block)
      room -= utf8Length(block) + 2
    }
  }
  if (missing.length === 0) return blocks.join("\n\n")
  const notice = noticeOf(missing)
  return [...blocks, ...(utf8Length(notice) <= room ? [notice] : [])].join("\n\n")
}

const NOTICE_BYTES = 240

const fitBlock = (attachment: Attachment, room: number): string | undefined => {
  const heading = `## ${sanitizeLine(attachment.heading, 120)}`
  const whole = `${heading}\n\n${attachment.body}`
  if (utf8Length(whole) + 2 <= room) return whole
  const cut = `[cut here for lack of room${attachment.place === undefined ? "" : `; the rest is in ${sanitizeLine(attachment.place, 120)}`}]`
  const kept: string[] = []
  let left = room - utf8Length(`${heading}\n\n\n${cut}`) - 2
  for (const line of attachment.body.split("\n")) {
    left -= utf8Length(line) + 1
    if (left < 0) break
    kept.push(line)
  }
  return kept.join("").trim() === "" ? undefined : `${heading}\n\n${kept.join("\n")}\n${cut}`
}

const nameOf = ({ heading, place }: Attachment): string =>
  sanitizeLine(place === undefined ? heading : `${heading} (${place})`, 80)

const noticeOf = (missing: readonly string[]): string => {
  const named = missing.slice(0, 2).join(", ")
  const more = missing.length > 2 ? ` and ${missing.length - 2} more` : ""
  return `Left out for lack of room, read before you need it: ${named}${more}`
}

/** The bytes that the attachments would like to have. */
export const sizeOfAttachments = (attachments: readonly Attachment[]): number =>
  attachments.reduce((sum, { heading, body }) => sum + utf8Length(heading) + utf8Length(body) + 8, 0)
