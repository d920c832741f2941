/**
 * The tale as a script for the provider: the agent's acts as calls of the host's own tools, and an answer that overflows.
 */
import type { ScriptStep, ScriptTool } from "@meridian/engine/script"

import type { Telling } from "./host.ts"
import { SUMMARIES, type Act } from "./tale.ts"

export interface Dialect {
  /** How to recognise the request for a summary. */
  readonly asksForSummary: NonNullable<ScriptStep["when"]>
  readonly tools: (act: Act, number: number) => readonly ScriptTool[]
  readonly summary?: (text: string) => string
  /** The tokens that an answer reports: a small number, and more than the window holds. */
  readonly small: number
  readonly overflow: number
  /** Answers to side requests (titles and the like). */
  readonly side?: readonly ScriptStep[]
}

export const scriptOf = ({ summary, rounds }: Telling, dialect: Dialect): readonly ScriptStep[] => {
  const write = dialect.summary ?? ((text: string) => text)
  const idle = (): readonly ScriptTool[] => dialect.tools({ kind: "shell", command: "true" }, 0)
  const usage = { input: dialect.small, output: 20 }
  let number = 0
  const steps = rounds.flatMap(({ acts }, index): readonly ScriptStep[] => [
    ...acts.flatMap((act) => {
      number += 1
      return stepsOf(act, dialect.tools(act, number), usage)
    }),
    {
      label: `overflow ${index + 1}`,
      text: "Going on.",
      tools: idle(),
      usage: { input: dialect.overflow, output: 20 },
    },
    { label: `after ${index + 1}`, text: "Still here.", tools: idle(), usage },
    { label: `later ${index + 1}`, text: "Waiting.", usage },
  ])
  return [
    ...(dialect.side ?? []),
    { label: "summary", when: dialect.asksForSummary, repeat: true, text: write(SUMMARIES[summary]), usage },
    ...steps,
  ]
}

/** One call per step, because hosts handle several at once differently. */
const stepsOf = (
  act: Act,
  tools: readonly ScriptTool[],
  usage: NonNullable<ScriptStep["usage"]>,
): readonly ScriptStep[] =>
  tools.map((tool, index) => ({
    label: act.kind,
    text: act.kind === "say" && index === 0 ? act.text : "Working.",
    tools: [tool],
    usage,
  }))
