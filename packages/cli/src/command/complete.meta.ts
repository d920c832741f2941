import { STRING, listOf, objectOf } from "@meridian/protocol"
import { defineMeta } from "@meridian/spaces"

/**
 * `session`: of the engine in this project. `any-session`: of every harness on this machine. `continuable`: what a conversation
 * can go on with here, chats and sessions.
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
