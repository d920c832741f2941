/** The file that `--launch` names, written by the harness adapter of spaces. */
import { resolve } from "node:path"

import { readWhole } from "@meridian/continuity/files"
import { Failure, parseObject } from "@meridian/protocol"
import { decodeLaunchFile, type LaunchFile } from "@meridian/spaces"

export const readLaunchFile = (path: string | undefined): LaunchFile => {
  if (path === undefined) return {}
  const found = readWhole("/", resolve(path), LARGEST_BYTES)
  const launch = decodeLaunchFile(found.kind === "text" ? parseObject(found.text) : undefined)
  if (launch.tag === "value") return launch.value
  throw new Failure("USAGE", {
    problem: `${path} is not a launch of the direct harness.`,
    next: "start a conversation with 'meridian start --harness direct'.",
  })
}

/** A prompt and the standing text of a launch, each with its own bound. */
const LARGEST_BYTES = 33_554_432
