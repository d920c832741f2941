/**
 * How a compacted session is told the pinned part: once after the summary, then only changes, at the end of the
 * conversation at that time. Text stays where it was told, so that a prompt cache keeps everything before a change. When
 * the updates no longer fit, the whole part is told again after the summary.
 *
 * Pure: a value of what was told, and a decision what to tell now.
 */
import { estimateTokens } from "@meridian/continuity"

export interface Told {
  /** The summary that it follows. */
  readonly summary: string
  readonly baseline: string
  readonly updates: readonly Update[]
}

export interface Update {
  /** The message that it follows. */
  readonly after: string
  readonly text: string
}

export interface Telling {
  readonly summary: string
  readonly pinned: string
  /** The message that a new update would follow. */
  readonly last: string
  readonly maxTokens: number
}

export const tell = (
  told: Told | undefined,
  { summary, pinned, last, maxTokens }: Telling,
): Told | undefined => {
  const anew = pinned === "" ? undefined : { summary, baseline: pinned, updates: [] }
  if (told === undefined || told.summary !== summary || pinned === "") return anew
  const now = blocksOf(pinned)
  const known = knownBlocks(told)
  const changed = [...now].filter(([heading, body]) => known.get(heading) !== body)
  const gone = [...known.keys()].filter((heading) => !now.has(heading) && known.get(heading) !== "")
  if (changed.length + gone.length === 0) return told
  const update = { after: last, text: render(changed, gone) }
  const next = { ...told, updates: [...told.updates, update] }
  return tokensOf(next) > maxTokens ? anew : next
}

export const tokensOf = ({ baseline, updates }: Told): number =>
  [baseline, ...updates.map(({ text }) => text)].reduce((sum, text) => sum + estimateTokens(text), 0)

const UPDATE_TITLE = "## Pinned Session State, Updated"
const UPDATE_PREAMBLE = "These sections replace those of the same heading above."

const render = (changed: readonly (readonly [string, string])[], gone: readonly string[]): string =>
  [
    `${UPDATE_TITLE}\n${UPDATE_PREAMBLE}`,
    ...changed.map(([heading, body]) => `${heading}\n${body}`),
    ...gone.map((heading) => `${heading}\n- no longer recorded`),
  ].join("\n\n")

/** Sections by heading. The title with its preamble counts as one. */
const blocksOf = (text: string): ReadonlyMap<string, string> => {
  const blocks = new Map<string, string>()
  let heading = ""
  for (const line of text.split("\n")) {
    if (line.startsWith("## ")) {
      heading = line
      blocks.set(heading, "")
    } else blocks.set(heading, `${blocks.get(heading) ?? ""}${blocks.get(heading) === "" ? "" : "\n"}${line}`)
  }
  return new Map([...blocks].map(([name, body]) => [name, body.trim()]))
}

const knownBlocks = ({ baseline, updates }: Told): ReadonlyMap<string, string> => {
  const known = new Map(blocksOf(baseline))
  for (const { text } of updates)
    for (const [heading, body] of blocksOf(text))
      if (heading !== UPDATE_TITLE) known.set(heading, body === "- no longer recorded" ? "" : body)
  return known
}
