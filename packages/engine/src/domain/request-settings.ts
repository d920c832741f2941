/** How a model is asked, in layers: settings of the model, the agent, the variant and the prompt. A later layer wins. */
import { Failure, isJsonObject, type Json, type JsonObject, type RequestSettings } from "@meridian/protocol"

import { readForeignJson } from "./foreign-json.ts"
import { LIMITS } from "./limits.ts"

export const NO_SETTINGS: RequestSettings = {}

export const mergeSettings = (layers: readonly (RequestSettings | undefined)[]): RequestSettings => {
  let merged = NO_SETTINGS
  for (const layer of layers) if (layer !== undefined) merged = mergeTwo(merged, layer)
  return merged
}

const mergeTwo = (before: RequestSettings, after: RequestSettings): RequestSettings => {
  if (after === NO_SETTINGS) return before
  const options = mergeOptions(before.options, after.options)
  return { ...before, ...after, ...(options === undefined ? {} : { options }) }
}

const mergeOptions = (before: JsonObject | undefined, after: JsonObject | undefined) =>
  before === undefined || after === undefined ? (after ?? before) : mergeObjects(before, after)

/** Objects are merged key by key. Any other value is replaced. */
export const mergeObjects = (before: JsonObject, after: JsonObject): JsonObject => ({
  ...before,
  ...Object.fromEntries(
    Object.entries(after).map(([key, value]): readonly [string, Json] => {
      const old = Object.hasOwn(before, key) ? before[key] : undefined
      return [key, isJsonObject(value) && isJsonObject(old) ? mergeObjects(old, value) : value]
    }),
  ),
})

/** Only the engine writes these fields. A request with others would differ from what the log says. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  "contents",
  "input",
  "instructions",
  "messages",
  "model",
  "prompt",
  "stream",
  "stream_options",
  "system",
  "systemInstruction",
  "system_instruction",
  "tools",
])

/** Checks the provider options, which the shape of settings cannot. Throws INVALID_INPUT. `what` begins the message. */
export const checkSettings = <Settings extends RequestSettings>(
  settings: Settings,
  what: string,
): Settings => {
  const { options } = settings
  if (options === undefined) return settings
  const read = readForeignJson(options, { depth: LIMITS.optionLevels, characters: LIMITS.optionCharacters })
  if (read.kind === "problem")
    throw new Failure("INVALID_INPUT", { what: `${what}: \`options\` ${read.why}` })
  const own = Object.keys(options).find((name) => OWN_FIELDS.has(name))
  if (own !== undefined)
    throw new Failure("INVALID_INPUT", {
      what: `${what}: \`options\` cannot set \`${own}\`, which the engine writes itself`,
    })
  return isJsonObject(read.value) ? { ...settings, options: read.value } : settings
}

/** Picks the five settings fields of a larger value. */
export const settingsOf = ({
  temperature,
  topP,
  maxOutputTokens,
  effort,
  options,
}: RequestSettings): RequestSettings => ({
  ...(temperature === undefined ? {} : { temperature }),
  ...(topP === undefined ? {} : { topP }),
  ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
  ...(effort === undefined ? {} : { effort }),
  ...(options === undefined ? {} : { options }),
})
