/** The content of `--launch FILE` of the direct harness: the parts of a launch that may be long, in snake_case. */
import {
  ANY_OBJECT,
  BOOLEAN,
  CAPS,
  decoder,
  encoder,
  listOf,
  mapOf,
  objectOf,
  RUN_WORDS,
  STRING,
  type TypeOf,
} from "@meridian/protocol"

const LAUNCH = objectOf(
  {},
  {
    /** The first message of a conversation. */
    prompt: STRING,
    /** Standing text: skills and anything else the launcher wants to say beside the conversation. */
    instructions: STRING,
    agent: objectOf({ name: STRING, body: STRING }),
    /** Replaces the tools the permission tier would allow. */
    allowedTools: listOf(STRING),
    /** JSON Schema of the answer. */
    schema: ANY_OBJECT,
    mcpServers: listOf(
      objectOf({ name: STRING, command: STRING, args: listOf(STRING) }, { environment: mapOf(STRING) }),
    ),
    /** What the session may still use up. */
    budget: CAPS,
    /** Words sent to the run, to be told once. */
    words: listOf(RUN_WORDS),
    /** Questions wait for a person. */
    asks: BOOLEAN,
  },
)

export type LaunchFile = TypeOf<typeof LAUNCH>

export const encodeLaunchFile = encoder(LAUNCH, "snake")

export const decodeLaunchFile = decoder(LAUNCH, { names: "snake", unknown: "strip" })
