/** Where the session works and what day it is: small facts that every model is told. */
import { fieldAt, type Json } from "@meridian/protocol"

import type { ContextSource } from "../port/context-source.ts"
import { textOf } from "./value-text.ts"

export interface EnvironmentFacts {
  readonly directory: string
  readonly root: string
  readonly git: boolean
  readonly platform: string
}

export const environmentSource = (facts: EnvironmentFacts): ContextSource => ({
  key: "core/environment",
  observe: ({ model }) => ({ kind: "value", value: { ...facts, model } }),
  baseline: (value) => `Environment:\n${describe(value)}`,
  update: (_previous, value) => `The environment changed. It is now:\n${describe(value)}`,
  removal: () => "The environment described before no longer applies.",
})

const describe = (value: Json): string =>
  [
    `- working directory: ${textOf(fieldAt(value, "directory"))}`,
    `- project root: ${textOf(fieldAt(value, "root"))}${fieldAt(value, "git") === true ? " (a git repository)" : ""}`,
    `- platform: ${textOf(fieldAt(value, "platform"))}`,
    `- you are the model ${textOf(fieldAt(value, "model"))}`,
  ].join("\n")

/** The host's local date. It changes once, at the host's midnight. */
export const dateSource = (today: () => Date): ContextSource => ({
  key: "core/date",
  observe: () => ({ kind: "value", value: localDate(today()) }),
  baseline: (value) => `Today is ${textOf(value)}.`,
  update: (_previous, value) => `The date changed. Today is ${textOf(value)}.`,
  removal: () => "The date given before no longer applies.",
})

const localDate = (date: Date): string =>
  `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, "0")}-${String(date.getDate()).padStart(2, "0")}`
