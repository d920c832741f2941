/** Who works on the files of one place at the same time, in this process. */
import type { FileStay, FileTrees } from "../port/file-trees.ts"

interface Stay {
  readonly session: string
  /** Any file may be changed. */
  any: boolean
  readonly paths: Set<string>
  shared: boolean
  readonly others: Set<string>
}

export const openStays = (): FileTrees["enter"] => {
  const stays = new Set<Stay>()

  const meet = (one: Stay, other: Stay): void => {
    if (other.any) one.shared = true
    for (const path of other.paths) one.others.add(path)
  }

  return (session): FileStay => {
    const own: Stay = { session, any: false, paths: new Set(), shared: false, others: new Set() }
    stays.add(own)
    return {
      changes: (paths) => {
        if (paths === undefined) own.any = true
        for (const path of paths ?? []) own.paths.add(path)
        for (const other of stays) {
          if (other.session === session) continue
          meet(own, other)
          meet(other, own)
        }
      },
      leave: () => {
        stays.delete(own)
        return {
          shared: own.shared,
          others: [...own.others].filter((path) => !own.paths.has(path)).toSorted(),
        }
      },
    }
  }
}
