/** Which sessions of this process work on the files of one place at the same time. */
import type { FileStay, FileTrees } from "../port/file-trees.ts"

interface Stay {
  readonly session: string
  readonly parent: string | undefined
  /** The session may change any file. */
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

  return (session, parent): FileStay => {
    const own: Stay = { session, parent, any: false, paths: new Set(), shared: false, others: new Set() }
    stays.add(own)
    return {
      changes: (paths) => {
        if (paths === undefined) own.any = true
        for (const path of paths ?? []) own.paths.add(path)
        for (const other of stays) {
          if (isFamily(own, other)) continue
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

const isFamily = (left: Stay, right: Stay): boolean =>
  left.session === right.session || left.parent === right.session || right.parent === left.session
