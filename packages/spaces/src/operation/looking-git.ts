/**
 * Variables that keep git, in a read-only run, from starting anything the repository names. We must first ask for the
 * drivers it names, which only reads its configuration.
 */
import { execFile } from "node:child_process"

import { DRIVER_QUERY, lookingEnvironment, readDrivers } from "@meridian/protocol"

import type { PermissionTier } from "../domain/tier.ts"

type Environment = Readonly<Record<string, string | undefined>>

const LONGEST_MS = 5_000
const ANSWER_BYTES = 1_048_576

/** Empty for a higher tier: there git is the person's own. */
export const lookingGit = async (
  tier: PermissionTier | undefined,
  { cwd, env }: { readonly cwd: string; readonly env: Environment },
): Promise<Environment> => {
  if (tier !== "read-only") return {}
  return lookingEnvironment(readDrivers(await askDrivers(cwd, env)), env)
}

/** Empty without git, or outside a repository. */
const askDrivers = (cwd: string, env: Environment): Promise<string> =>
  new Promise((done) => {
    execFile(
      "git",
      [...DRIVER_QUERY],
      { cwd, env: { ...env }, timeout: LONGEST_MS, maxBuffer: ANSWER_BYTES, encoding: "utf8" },
      (_error, stdout) => done(stdout),
    )
  })
