/**
 * Instructions as a list of files, told one after the other. When one changes or disappears, the whole list is replaced.
 */
import { sanitizeLine } from "@meridian/continuity"
import { asObject, type Json } from "@meridian/protocol"

import type { SourceTexts } from "../domain/context.ts"

export interface Instruction {
  readonly from: string
  readonly text: string
}

export const instructionTexts = (key: string, what: string): SourceTexts => ({
  key,
  baseline: (value) => tell(listOf(value)),
  update: (previous, value) => {
    const fewer = listOf(value).length < listOf(previous).length
    const lead = fewer
      ? `Some ${what} were removed. The following is complete and supersedes all ${what} given before; anything else stays in force:`
      : `The ${what} changed. The following is complete and supersedes all ${what} given before; anything else stays in force:`
    return `${lead}\n\n${tell(listOf(value))}`
  },
  removal: () => `The ${what} given before were removed and no longer apply.`,
})

export const instructionValue = (instructions: readonly Instruction[]): Json =>
  instructions.map(({ from, text }) => ({ from, text }))

const tell = (instructions: readonly Instruction[]): string =>
  instructions
    .map(({ from, text }) => `Instructions from ${sanitizeLine(from)}:\n${text.trim()}`)
    .join("\n\n")

const listOf = (value: Json): readonly Instruction[] =>
  Array.isArray(value)
    ? value.flatMap((entry: Json) => {
        const { from, text } = asObject(entry) ?? {}
        return typeof from === "string" && typeof text === "string" ? [{ from, text }] : []
      })
    : []
