/** Reads a command line given to another command: which command it means and the values of its flags. */
import { Failure } from "@meridian/protocol"
import type { TypedCommand } from "@meridian/spaces"

import { COMMANDS } from "./commands.ts"
import { findCommand } from "./find-command.ts"
import { parseFlags } from "./parse-flags.ts"

/** Throws UNKNOWN_COMMAND and USAGE, as the command line itself would. */
export const readCommand = (words: readonly string[]): TypedCommand => {
  const found = findCommand(words, COMMANDS)
  if (found.tag !== "command")
    throw new Failure("UNKNOWN_COMMAND", {
      words: found.tag === "unknown" ? found.words : words.join(" "),
      ...(found.tag === "unknown" && found.suggestion !== undefined ? { suggestion: found.suggestion } : {}),
    })
  const { command, rest } = found
  return { name: command.meta.name, rest, values: parseFlags(command.meta, rest).values }
}
