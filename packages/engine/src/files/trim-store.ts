/** Outside repositories, trees are kept in a bounded folder of ours. When it is full, the older half of them is dropped. */
import { globSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"

import { callGit } from "./call-git.ts"
import { UNBORN, writeHead } from "./look.ts"
import type { FilePlace } from "./open-place.ts"

export const trimStore = async (
  { isRepository, folder, git }: Pick<FilePlace, "isRepository" | "folder" | "git">,
  mostBytes: number,
): Promise<void> => {
  if (isRepository) return
  const { text } = await callGit(git, ["count-objects", "-v"])
  const kibibytes = [...text.matchAll(/^(?:size|size-pack): (\d+)$/gm)].reduce(
    (sum, [, size = "0"]) => sum + Number(size),
    0,
  )
  if (kibibytes * 1024 <= mostBytes) return
  const refs = globSync("refs/meridian/files/*/*", { cwd: folder })
    .map((name) => ({ name, time: statSync(join(folder, name)).mtimeMs }))
    .toSorted((left, right) => left.time - right.time || (left.name < right.name ? -1 : 1))
  for (const { name } of refs.slice(0, Math.ceil(refs.length / 2)))
    rmSync(join(folder, name), { force: true })
  // HEAD holds a whole tree to save time, so reset it first.
  writeHead(folder, UNBORN)
  await callGit(git, ["-c", "gc.packRefs=false", "gc", "--quiet", "--prune=now"])
}
