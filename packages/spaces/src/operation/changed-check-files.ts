/** Finds the files between two trees that checks depend on. It reads texts from the trees only as requested. */
import { findCheckFiles, type FileTexts } from "../domain/check-files.ts"
import { LIMIT } from "../domain/limit.ts"
import type { FileChange } from "../repository/changes.ts"
import { callGit, type GitPlace } from "../repository/git.ts"

export const changedCheckFiles = async (
  place: GitPlace,
  about: {
    readonly commands: readonly string[]
    readonly folder: string
    readonly from: string
    readonly to: string
    readonly changes: readonly FileChange[]
  },
): Promise<readonly string[]> => {
  const { commands, folder, from, to } = about
  const changes = about.changes.map(({ path, before }) => ({ path, isAdded: before === undefined }))
  const texts = new Map<string, FileTexts>()
  for (let round = 0; ; round += 1) {
    const { named, wants } = findCheckFiles({ commands, folder, changes, texts })
    if (wants.length === 0 || round === MOST_ROUNDS) return named
    for (const path of wants)
      texts.set(path, { before: await textIn(place, from, path), after: await textIn(place, to, path) })
  }
}

/** A script that starts a script that starts a script. */
const MOST_ROUNDS = 4

const textIn = async (place: GitPlace, tree: string, path: string): Promise<string | undefined> => {
  const { code, stdout, isCut } = await callGit(place, ["cat-file", "blob", `${tree}:${path}`], {
    maxBytes: LIMIT.scriptBytes,
  })
  return code === 0 && !isCut ? stdout.toString("utf8") : undefined
}
