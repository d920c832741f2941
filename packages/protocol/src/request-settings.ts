/** How a model is asked: the same five settings for an agent, a model variant and a prompt. */
import {
  ANY_OBJECT,
  described,
  integer,
  NUMBER,
  number,
  objectOf,
  oneOf,
  type Shape,
  type TypeOf,
} from "./shape/shape.ts"

export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const
/** How long a model thinks before it answers. */
export type ModelEffort = (typeof EFFORTS)[number]

/** To include among the other fields of an agent. */
export const REQUEST_SETTINGS_FIELDS = {
  temperature: number({ least: 0, most: 2 }),
  topP: number({ least: 0, most: 1 }),
  maxOutputTokens: integer(1, Number.MAX_SAFE_INTEGER),
  effort: oneOf(...EFFORTS),
  options: described(ANY_OBJECT, "Fields of the provider's own request, sent unchanged."),
} as const satisfies Record<string, Shape<unknown>>

export const REQUEST_SETTINGS = objectOf({}, REQUEST_SETTINGS_FIELDS)
export type RequestSettings = TypeOf<typeof REQUEST_SETTINGS>

/** The form in logs: sensible bounds may change, but what was written must stay readable. */
export const RECORDED_SETTINGS: Shape<RequestSettings> = objectOf(
  {},
  {
    temperature: NUMBER,
    topP: NUMBER,
    maxOutputTokens: NUMBER,
    effort: oneOf(...EFFORTS),
    options: ANY_OBJECT,
  },
)
