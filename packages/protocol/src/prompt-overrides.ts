/** What a prompt changes about the requests of the activity it opens. */
import { RECORDED_SETTINGS, REQUEST_SETTINGS } from "./request-settings.ts"
import { ANY_OBJECT, BOOLEAN, described, mapOf, objectOf, oneOf, STRING, type TypeOf } from "./shape/shape.ts"

export const ANSWER_FORMAT = objectOf({
  type: oneOf("json"),
  schema: described(ANY_OBJECT, "JSON Schema of the answer."),
})
export type AnswerFormat = TypeOf<typeof ANSWER_FORMAT>

/** To include among the other fields of a prompt. */
export const OVERRIDES_FIELDS = {
  system: described(STRING, "Instructions for the model while the work of this prompt lasts."),
  tools: described(
    mapOf(BOOLEAN),
    "Tools by name or pattern: false removes them; true adds those that the agent leaves out, where the rules allow.",
  ),
  settings: REQUEST_SETTINGS,
  format: described(ANSWER_FORMAT, "The work ends with a value of this form."),
} as const

/** The same in the event and in the receipt. */
export const RECORDED_OVERRIDES_FIELDS = { ...OVERRIDES_FIELDS, settings: RECORDED_SETTINGS } as const

const OVERRIDES = objectOf({}, OVERRIDES_FIELDS)
export type Overrides = TypeOf<typeof OVERRIDES>
