/** A tool as a program that embeds the engine writes it: a JSON Schema and a function. */
import type { Json, JsonObject, QuestionChoice, ToolKind } from "@meridian/protocol"

import { ToolError, type Tool, type ToolOutput } from "../port/tool.ts"
import { openInputCheck } from "./input-check.ts"
import { isToolOutput } from "./tool-output.ts"

export interface EmbedderTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of an object. */
  readonly input: JsonObject
  /** How windows show its calls; the ledger takes the files of what reads and edits. */
  readonly kind?: ToolKind
  /** It may change files of the place: they are kept before it does, so that an undo gives them back. */
  readonly changesFiles?: boolean
  /** Text, content as the engine knows it, or anything that is JSON. */
  readonly execute: (input: never, scene: EmbedderScene) => unknown
}

export interface EmbedderScene {
  readonly sessionID: string
  readonly agent: string
  readonly messageID: string
  readonly callID: string
  readonly signal: AbortSignal
  /**
   * Asks a person, and waits for the answer however long it takes: the question is in the log and outlives this process. A
   * call that is started again afterwards runs from its beginning, and the same question has its answer at once.
   */
  readonly question: (question: EmbedderQuestion) => Promise<readonly string[]>
}

export interface EmbedderQuestion {
  readonly text: string
  /** The label of a choice is the answer. */
  readonly choices?: readonly QuestionChoice[]
  /** Words that are no choice are an answer, too. Where there are no choices they are. */
  readonly other?: boolean
  /** Several choices may be taken together. */
  readonly multiple?: boolean
}

/** Its permission is its own name. */
export const embedderTool = (definition: EmbedderTool): Tool => {
  const check = openInputCheck(definition.input)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what its own schema accepts is what it declared to take
  const run = definition.execute as (input: Json, scene: EmbedderScene) => unknown
  return {
    traits: {
      changes: definition.changesFiles === true ? "any" : "none",
      ...(definition.kind === undefined ? {} : { kind: definition.kind }),
    },
    advertisement: { name: definition.name, description: definition.description, input: definition.input },
    execute: async (input, scene) => {
      await check(input)
      await scene.ask({ action: definition.name, resources: ["*"], title: definition.name })
      const { sessionID, agent, messageID, callID, signal } = scene
      // What it does after it was told to stop is waited for, as long as any call is.
      const question = ({
        text,
        choices = [],
        other = choices.length === 0,
        multiple = false,
      }: EmbedderQuestion) => scene.question({ text, choices, other, multiple })
      return toOutput(await run(input, { sessionID, agent, messageID, callID, signal, question }))
    },
  }
}

const toOutput = (value: unknown): ToolOutput => {
  if (value === undefined || value === null) return { content: [{ type: "text", text: "(done)" }] }
  if (typeof value === "string") return { content: [{ type: "text", text: value }] }
  if (isToolOutput(value)) return value
  const written = write(value)
  if (written === undefined)
    throw new ToolError("invalid-output", `The tool answered with a ${typeof value} that is not JSON.`)
  return { content: [{ type: "text", text: written.text }], structured: written.value }
}

/** What the value is after a trip through JSON, or undefined when it does not survive one. */
const write = (value: unknown): { readonly text: string; readonly value: Json } | undefined => {
  try {
    const text = JSON.stringify(value)
    if (text === undefined) return undefined
    // oxlint-disable-next-line eslint/no-restricted-properties, typescript/no-unsafe-type-assertion -- our own text of a moment ago
    return { text, value: JSON.parse(text) as Json }
  } catch {
    return undefined
  }
}
