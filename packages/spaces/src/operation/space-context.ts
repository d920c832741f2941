/** Which space a command means: `--space`, else MERIDIAN_SPACE_ID, else SPACE_REQUIRED (or undefined). */
import { Failure } from "@meridian/protocol"

import type { World } from "./world.ts"

export const SPACE_FIELD = {
  type: "string",
  description: "Space to work in; default is MERIDIAN_SPACE_ID.",
  aliases: ["space-id"],
  value: "SPACE",
} as const

export const givenSpace = (space: string | undefined, world: Pick<World, "env">): string | undefined =>
  nonEmpty(space) ?? nonEmpty(world.env["MERIDIAN_SPACE_ID"])

export const requireSpace = (space: string | undefined, world: Pick<World, "env">): string => {
  const given = givenSpace(space, world)
  if (given === undefined) throw new Failure("SPACE_REQUIRED")
  return given
}

const nonEmpty = (text: string | undefined): string | undefined => (text === "" ? undefined : text)
