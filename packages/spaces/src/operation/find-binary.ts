/** Finds a command before anything is written: a missing harness must leave no trace. */
import { accessSync, constants, statSync } from "node:fs"
import { delimiter, isAbsolute, join, resolve } from "node:path"

import { Failure } from "@meridian/protocol"

type Environment = Readonly<Record<string, string | undefined>>

export const findBinary = (
  command: string,
  options: { readonly env: Environment; readonly cwd: string },
): string | undefined => {
  if (command.includes("/")) return isProgram(resolve(options.cwd, command)) ? command : undefined
  return (options.env["PATH"] ?? "")
    .split(delimiter)
    .map((directory) => join(directory === "" ? "." : directory, command))
    .find((path) => isProgram(isAbsolute(path) ? path : resolve(options.cwd, path)))
}

export const missingBinary = (command: string): string =>
  `binary '${command}' ${command.includes("/") ? "is not there" : "not found on PATH"}`

/** Throws HARNESS_NOT_INSTALLED or DIRECTORY_NOT_FOUND. */
export const requireLaunchable = (launch: {
  readonly harness: string
  readonly command: string
  readonly cwd: string
  readonly env: Environment
}): void => {
  if (statSync(launch.cwd, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new Failure("DIRECTORY_NOT_FOUND", { directory: launch.cwd })
  if (findBinary(launch.command, launch) === undefined)
    throw new Failure("HARNESS_NOT_INSTALLED", { harness: launch.harness, command: launch.command })
}

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
