import { STRING, listOf, objectOf } from "@meridian/protocol"
import { defineMeta } from "@meridian/spaces"

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
      choices: ["space", "run", "chat", "model", "session", "schedule"],
      value: "KIND",
    },
  },
  output: objectOf({ names: listOf(objectOf({ name: STRING }, { about: STRING })) }),
})
