/**
 * Where a user's own files are, outside every project (XDG base directories):
 *
 *   $XDG_CONFIG_HOME/meridian/config.toml   what holds everywhere: programs, providers, tiers (~/.config)
 *   $XDG_STATE_HOME/meridian/trust          the folders this user trusts (~/.local/state); MERIDIAN_TRUST moves it
 *   $XDG_DATA_HOME/meridian/models.txt      the catalogue of limits (~/.local/share)
 *
 * Undefined if the environment names no home: then there is no such file.
 */
import { isAbsolute, join } from "node:path"

import { Failure } from "@meridian/protocol"

import { SANDBOX_VARIABLE } from "../domain/sandbox.ts"

type Environment = Readonly<Record<string, string | undefined>>

export const userConfigFile = (env: Environment): string | undefined =>
  inFolder(env, { variable: "XDG_CONFIG_HOME", fallback: ".config" }, "config.toml")

export const userStateFile = (env: Environment, name: string): string | undefined =>
  inFolder(env, { variable: "XDG_STATE_HOME", fallback: ".local/state" }, name)

export const userDataFile = (env: Environment, name: string): string | undefined =>
  inFolder(env, { variable: "XDG_DATA_HOME", fallback: ".local/share" }, name)

/** Throws TRUST_UNUSABLE for a relative MERIDIAN_TRUST, which would depend on the current folder. */
export const trustFile = (env: Environment): string | undefined => {
  // A sandbox hides the book: nothing is trusted there, and nothing sealed.
  if ((env[SANDBOX_VARIABLE] ?? "") !== "") return undefined
  const told = env["MERIDIAN_TRUST"] ?? ""
  if (told === "") return userStateFile(env, "trust")
  if (!isAbsolute(told))
    throw new Failure("TRUST_UNUSABLE", { file: told, why: "MERIDIAN_TRUST is not an absolute path" })
  return told
}

const inFolder = (
  env: Environment,
  { variable, fallback }: { readonly variable: string; readonly fallback: string },
  name: string,
): string | undefined => {
  const [told = "", home = ""] = [env[variable], env["HOME"]]
  // The specification says to ignore relative paths.
  if (isAbsolute(told)) return join(told, "meridian", name)
  return home === "" ? undefined : join(home, fallback, "meridian", name)
}
