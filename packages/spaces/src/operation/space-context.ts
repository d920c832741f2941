/** Which space a command means: `--space`, else MERIDIAN_SPACE_ID, else SPACE_REQUIRED (or undefined). */
import { Failure } from "@meridian/protocol"

import { openPlace } from "../store/place.ts"
import { listSpaces } from "../store/space-store.ts"
import type { World } from "./world.ts"

export const SPACE_FIELD = {
  type: "string",
  description: "Space to work in; default is MERIDIAN_SPACE_ID.",
  aliases: ["space-id"],
  value: "SPACE",
} as const

export const givenSpace = (space: string | undefined, world: Pick<World, "env">): string | undefined =>
  nonEmpty(space) ?? nonEmpty(world.env["MERIDIAN_SPACE_ID"])

export const requireSpace = (
  space: string | undefined,
  world: Pick<World, "env" | "cwd" | "face">,
): string => {
  const given = givenSpace(space, world)
  if (given !== undefined) return given
  const newest = newestSpace(world)
  throw new Failure("SPACE_REQUIRED", newest === undefined ? {} : { newest, face: world.face })
}

const newestSpace = ({ env, cwd }: Pick<World, "env" | "cwd">): string | undefined => {
  const ids = listSpaces(openPlace(env, cwd)).flatMap((found) =>
    found.tag === "space" ? [found.space.id] : [],
  )
  return ids.toSorted((left, right) => Number(right.slice(1)) - Number(left.slice(1)))[0]
}

const nonEmpty = (text: string | undefined): string | undefined => (text === "" ? undefined : text)
