import { STRING, listOf, objectOf } from "@meridian/protocol"
import { defineMeta } from "@meridian/spaces"

/**
 * `session`: sessions of this project's engine. `any-session`: those of every harness on this machine. `continuable`:
 * chats and sessions that can be continued here.
 */
export const NAME_KINDS = [
  "space",
  "run",
  "chat",
  "model",
  "session",
  "any-session",
  "continuable",
  "schedule",
] as const

/** Called by completion scripts while a user types. Users never type this. */
export const COMPLETE = defineMeta({
  name: "complete",
  audience: "human",
  summary: "Print the names a shell completes with.",
  hidden: true,
  format: "text",
  fields: {
    kind: {
      type: "string",
      description: "Of what.",
      positional: true,
      required: true,
      choices: NAME_KINDS,
      value: "KIND",
    },
  },
  output: objectOf({ names: listOf(objectOf({ name: STRING }, { about: STRING })) }),
})
