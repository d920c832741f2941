/**
 * `git status`, `git log` and `git diff`, which tiers that only look allow without asking. A repository can name programs
 * that git would start, so exactly these commands run as hardened command lines instead (`look-only-git.ts` of the
 * protocol).
 */
import { execFile } from "node:child_process"

import { DRIVER_QUERY, lookOnlyGit, readDrivers, readShellWords } from "@meridian/protocol"

type Environment = Readonly<Record<string, string | undefined>>

export interface ShellLine {
  readonly command: string
  readonly environment: Environment
}

/** Returns every other command line unchanged. */
export const hardenGit = async (line: ShellLine, directory: string): Promise<ShellLine> => {
  const read = readShellWords(line.command)
  if (read.kind === "more" || lookOnlyGit(read.words, []) === undefined) return line
  const drivers = readDrivers(await askDrivers(directory, line.environment))
  const hardened = lookOnlyGit(read.words, drivers)
  if (hardened === undefined) return line
  return {
    command: [hardened.command, ...hardened.args].map(quoted).join(" "),
    environment: { ...line.environment, ...hardened.environment },
  }
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

const LONGEST_MS = 5_000
const ANSWER_BYTES = 1_048_576

/** Empty without git or outside a repository. */
const askDrivers = (directory: string, environment: Environment): Promise<string> =>
  new Promise((done) => {
    execFile(
      "git",
      [...DRIVER_QUERY],
      { cwd: directory, env: { ...environment }, timeout: LONGEST_MS, maxBuffer: ANSWER_BYTES },
      (_error, stdout) => done(stdout),
    )
  })
