/**
 * The text of a rule, an agent or a skill. These are the user's own instructions and stay as written, except for invisible
 * characters and lines that imitate the headings of Meridian's own blocks. Such lines are escaped, so that no text can pass
 * as the brief. Linear.
 */
export const cleanBody = (body: string): string =>
  body
    .replaceAll("\r\n", "\n")
    .replaceAll("\r", "\n")
    .replace(INVISIBLE, "")
    .replace(OUR_HEADINGS, "\\")
    .toWellFormed()
    .trim()

const OUR_HEADINGS =
  /^(?=[ \t]{0,3}#{1,2}[ \t]+(?:OpenCode Rules|Stage-Aware Continuation|Workflow-Aware Augmentation|Pinned Session State|Launch Context)\b)/gim

const INVISIBLE =
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]/gu
