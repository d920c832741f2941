/** What `meridian` alone shows a person: where they are, what exists, what to do next. */
import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"

import { asObject, listAt, textAt, type Json } from "@meridian/protocol"
import { decodeInput, HARNESSES, type Registration, type World } from "@meridian/spaces"

import { VERSION } from "./version.ts"

export const renderScreen = async (commands: readonly Registration[], world: World): Promise<string> => {
  const installed = HARNESSES.filter(({ binary }) => onPath(binary, world.env["PATH"] ?? "")).map(
    ({ name }) => name,
  )
  const spaces = await activeSpaces(commands, world)
  const width = Math.max(...STEPS.map(([line]) => line.length))
  return [
    `meridian ${VERSION}: keeps coding agents on their task`,
    [
      `Harnesses  ${[...installed, OWN].join(", ")}${installed.length === 0 ? NONE_ELSE : ""}`,
      `Spaces     ${spaces.length === 0 ? "none active" : spaces.join(", ")}`,
    ].join("\n"),
    ["Next", ...STEPS.map(([line, text]) => `  meridian ${line.padEnd(width)}  ${text}`)].join("\n"),
    "Run 'meridian --help' for every command.",
  ].join("\n\n")
}

const OWN = "Direct (built in)"
const NONE_ELSE = "; claude, codex and opencode are not on PATH"

const STEPS: readonly (readonly [line: string, text: string])[] = [
  ["start", "start a conversation, or take up the last space"],
  ["start --harness direct", "the same with Meridian's own engine"],
  ["start --continue", "go on with the last conversation"],
  ['run spawn -p "..."', "let an agent do one task and print its report"],
  ["space list", "see what is going on"],
  ["init", "write a configuration file to change"],
  ["doctor", "check and repair the state of this project"],
]

/** `s2 ("feature")`, with the space used last first. */
const activeSpaces = async (commands: readonly Registration[], world: World): Promise<readonly string[]> => {
  const listing = commands.find((command) => command.meta.name === "space.list")
  if (listing === undefined) return []
  const operation = await listing.load()
  const input = decodeInput(listing.meta, { values: {}, face: "command" })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- decoded against the meta of this very operation
  const output: Json = await operation.run(input as never, world)
  return listAt(asObject(output), "spaces").flatMap((listed) => {
    const space = asObject(listed)
    const [id, name] = [textAt(space, "space_id"), textAt(space, "name")]
    if (id === undefined || textAt(space, "status") !== "active") return []
    return [name === undefined ? id : `${id} ("${name}")`]
  })
}

const onPath = (binary: string, path: string): boolean =>
  path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, binary), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
