/** A tool as an embedding program writes it: a JSON Schema and a function. */
import type { Json, JsonObject, QuestionChoice, ToolKind } from "@meridian/protocol"

import { ToolError, type Tool, type ToolOutput } from "../port/tool.ts"
import { openInputCheck } from "./input-check.ts"
import { isToolOutput } from "./tool-output.ts"

export interface EmbedderTool {
  readonly name: string
  readonly description: string
  /** An object schema. */
  readonly input: JsonObject
  /** How user interfaces show its calls. For tools that read or edit, the ledger also records the files. */
  readonly kind?: ToolKind
  /** The tool may change files of the place. They are kept first, so that an undo can restore them. */
  readonly changesFiles?: boolean
  /** Returns text, content in the engine's form, or anything that is JSON. */
  readonly execute: (input: never, scene: EmbedderScene) => unknown
}

export interface EmbedderScene {
  readonly sessionID: string
  readonly agent: string
  readonly messageID: string
  readonly callID: string
  readonly signal: AbortSignal
  /**
   * Asks a person, and waits for the answer however long it takes. The question is in the log and outlives this process. A
   * call that is restarted later runs from its beginning and gets the answer to the same question at once.
   */
  readonly question: (question: EmbedderQuestion) => Promise<readonly string[]>
}

export interface EmbedderQuestion {
  readonly text: string
  /** The label of the chosen choice is the answer. */
  readonly choices?: readonly QuestionChoice[]
  /** Free text is accepted too. Default: true when there are no choices. */
  readonly other?: boolean
  /** More than one choice may be taken. */
  readonly multiple?: boolean
}

/** Its permission action is its name. */
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
      // After the tool was told to stop, its work is awaited as long as that of any call.
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

/** The value after conversion to JSON; undefined when it does not survive that. */
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
