/** What `--launch FILE` of the direct harness holds: the parts of a launch that may be long, in snake_case. */
import {
  ANY_OBJECT,
  BOOLEAN,
  CAPS,
  decoder,
  encoder,
  listOf,
  mapOf,
  objectOf,
  STRING,
  type TypeOf,
} from "@meridian/protocol"

const LAUNCH = objectOf(
  {},
  {
    /** The first message of a conversation. */
    prompt: STRING,
    /** Standing text: skills and whatever else the launcher wants to be told beside the conversation. */
    instructions: STRING,
    agent: objectOf({ name: STRING, body: STRING }),
    /** Replaces what the permission tier would allow. */
    allowedTools: listOf(STRING),
    /** JSON Schema of the answer. */
    schema: ANY_OBJECT,
    mcpServers: listOf(
      objectOf({ name: STRING, command: STRING, args: listOf(STRING) }, { environment: mapOf(STRING) }),
    ),
    /** What it may use up from now on. */
    budget: CAPS,
    /** Questions wait for a person. */
    asks: BOOLEAN,
  },
)

export type LaunchFile = TypeOf<typeof LAUNCH>

export const encodeLaunchFile = encoder(LAUNCH, "snake")

export const decodeLaunchFile = decoder(LAUNCH, { names: "snake", unknown: "strip" })
