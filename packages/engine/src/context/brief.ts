/**
 * What must survive a compaction, as one source: files of the project and the session's own log, rendered by continuity.
 * Looked at only when a compaction has ended: between two of them the history itself is there.
 */
import { readBrief } from "@meridian/continuity"
import type { Fact } from "@meridian/continuity/fact"

import type { Observed } from "../domain/context.ts"
import type { ContextSource } from "../port/context-source.ts"
import { textOf } from "./value-text.ts"

const BRIEF_TOKENS = 1_000

export const briefSource = (options: { readonly root: string }): ContextSource => ({
  key: "continuity/brief",
  observe: ({ atCompaction, facts }) =>
    atCompaction ? lookAt(options.root, facts()) : { kind: "unobserved" },
  baseline: (value) => textOf(value),
  update: (_previous, value) => textOf(value),
  removal: () => "The continuation brief given before no longer applies.",
})

const lookAt = async (root: string, facts: readonly Fact[]): Promise<Observed> => {
  const brief = await readBrief({ root, maxTokens: BRIEF_TOKENS, facts })
  if (brief.facts.every((fact) => fact.source === "default")) return { kind: "absent" }
  return { kind: "value", value: brief.text }
}
