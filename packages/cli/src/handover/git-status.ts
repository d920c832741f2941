/** `git status` of a folder, without starting anything its repository names. "" if there is none to show. */
import { execFile } from "node:child_process"

import { DRIVER_QUERY, lookOnlyGit, readDrivers } from "@meridian/protocol"
import type { World } from "@meridian/spaces"

const LONGEST_MS = 5_000
const ANSWER_BYTES = 1_048_576

export const gitStatus = async (cwd: string, env: World["env"]): Promise<string> => {
  const drivers = readDrivers(await answerOf("git", DRIVER_QUERY, { cwd, env }))
  const command = lookOnlyGit(["git", "status"], drivers)
  if (command === undefined) return ""
  const hardened = Object.fromEntries(
    Object.entries({ ...env, ...command.environment }).filter(([, value]) => value !== undefined),
  )
  return await answerOf(command.command, command.args, { cwd, env: hardened })
}

const answerOf = (
  command: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: World["env"] },
): Promise<string> =>
  new Promise((done) => {
    execFile(
      command,
      [...args],
      { cwd, env: { ...env }, timeout: LONGEST_MS, maxBuffer: ANSWER_BYTES, encoding: "utf8" },
      (_error, stdout) => done(stdout),
    )
  })
