/** What a summariser is asked, what is accepted from it, and what replaces it when it cannot answer. */
import { asObject, oneLine, textAt } from "@meridian/protocol"

import { withoutTags } from "./inert-text.ts"
import { estimateText } from "./tokens.ts"
import type { Item } from "./transcript/items.ts"

export const SUMMARY_HEADINGS = [
  "## Objective",
  "## Important Details",
  "## Decisions",
  "## Work State",
  "## Next Steps",
  "## Relevant Files",
] as const

/** The instructions. An embedder may supply others. */
export const SUMMARY_PROMPT = `You write the checkpoint of a coding session, so that the work can go on without the conversation. Use exactly these headings, terse bullets under each, "(none)" where there is nothing:
${SUMMARY_HEADINGS.join("\n")}
Keep exact paths, symbols, commands, values and error messages. Under Work State say what is done, what is in progress and what is blocked. If a previous checkpoint is given, carry everything in it forward, move what is finished, and let the newer conversation win where they differ. Never invent a request: write what the user asked only in the user's own words. Do not mention this task or the summarising.`

export const summaryRequest = (piece: string, previous: string): string =>
  [
    ...(previous === "" ? [] : [`<previous-checkpoint>\n${withoutTags(previous)}\n</previous-checkpoint>`]),
    `<conversation>\n${withoutTags(piece)}\n</conversation>`,
    "Write the checkpoint now.",
  ].join("\n\n")

export type SummaryVerdict =
  | { readonly kind: "accepted"; readonly summary: string }
  | { readonly kind: "refused"; readonly why: string }

/** Tolerates one and a half times the requested length. More would eat the room that the compaction should make. */
export const judgeSummary = (text: string, mostTokens: number): SummaryVerdict => {
  const summary = text.trim()
  if (summary === "") return { kind: "refused", why: "the summary was empty" }
  if (estimateText(summary) > mostTokens * 1.5) return { kind: "refused", why: "the summary was too long" }
  return { kind: "accepted", summary }
}

/**
 * A summary without a model: the first and last requests in the user's own words, files and commands, failures, and where
 * the assistant was. Always fits, because every section has its share of the room.
 */
export const extractSummary = (options: {
  readonly previous: string
  readonly items: readonly Item[]
  readonly mostTokens: number
}): string => {
  const { previous, items, mostTokens } = options
  const requests = items.flatMap((item) => (item.kind === "user" ? [lineOf(item.prompt.text)] : []))
  const words = items.flatMap((item) =>
    item.kind === "assistant"
      ? item.parts.flatMap((part) => (part.type === "text" && part.text !== "" ? [lineOf(part.text)] : []))
      : [],
  )
  const { files, calls, errors } = readTools(items)
  const sections: readonly (readonly [heading: string, share: number, lines: readonly string[]])[] = [
    ["## Objective", 0.2, [...requests.slice(0, 1), ...requests.slice(1).slice(-4)]],
    [
      "## Important Details",
      0.3,
      previous === "" ? [] : previous.split("\n").filter((line) => line.trim() !== ""),
    ],
    ["## Work State", 0.25, [...words.slice(-6), ...errors.slice(-4).map((error) => `failed: ${error}`)]],
    ["## Relevant Files", 0.15, [...new Set(files.toReversed())].slice(0, 30)],
    ["## Commands", 0.1, [...new Set(calls.toReversed())].slice(0, 12)],
  ]
  return sections
    .map(([heading, share, lines]) => `${heading}\n${fit(lines, Math.floor(mostTokens * share))}`)
    .join("\n")
}

const fit = (lines: readonly string[], mostTokens: number): string => {
  const kept: string[] = []
  let tokens = 0
  for (const line of lines) {
    const bullet = line.startsWith("- ") || line.startsWith("#") ? line.replace(/^#+ */, "- ") : `- ${line}`
    tokens += estimateText(bullet) + 1
    if (tokens > mostTokens) break
    kept.push(bullet)
  }
  return kept.length === 0 ? "- (none)" : kept.join("\n")
}

const readTools = (items: readonly Item[]) => {
  const files: string[] = []
  const calls: string[] = []
  const errors: string[] = []
  for (const item of items) {
    if (item.kind !== "assistant") continue
    for (const part of item.parts) {
      if (part.type !== "tool") continue
      const input = asObject(part.input)
      const path = textAt(input, "path") ?? textAt(input, "filePath")
      if (path !== undefined) files.push(lineOf(path))
      const command = textAt(input, "command")
      if (command !== undefined) calls.push(lineOf(command))
      if (part.outcome?.kind === "failed") errors.push(`${part.tool}: ${lineOf(part.outcome.error.message)}`)
    }
  }
  return { files, calls, errors }
}

const LINE = 400

const lineOf = (text: string): string => oneLine(text, LINE)
