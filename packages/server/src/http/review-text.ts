/** A comment on a line of a diff as text for the agent that wrote it: first the place, then the code, then the comment. */
import { oneLine, plainText } from "@meridian/protocol"

import type { CommentedLine } from "../contract/run-work.ts"

export const reviewText = (comment: string, at: CommentedLine | undefined): string => {
  if (at === undefined || comment.trim() === "") return comment
  const { path, line, removed = false, code } = at
  const place = `${oneLine(path, LONGEST_PATH)}:${line}`
  const head = removed ? `About ${place} before your change (you removed this line):` : `About ${place}:`
  return [
    head,
    ...(code === undefined ? [] : [`> ${plainText(code).replaceAll("\n", " ")}`]),
    "",
    comment,
  ].join("\n")
}

const LONGEST_PATH = 4_096
